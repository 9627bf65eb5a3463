"""Taking descriptors 0 and 1 away from everybody else.

Rule: after `take_over()` the protocol has private duplicates that no child process inherits, and whatever reads
descriptor 0 finds the end of a file while whatever writes to descriptor 1 (`print`, a library's banner, a child
process) reaches stderr. It must happen before the user's module is imported, because importing may print.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Final

_PIPE_BYTES: Final = 1024 * 1024  # the size that pays for large answers (small ones do not notice)


@dataclass(frozen=True, slots=True)
class Descriptors:
    """Where the client's messages come from, and where the answers go. Both are file descriptors."""

    input: int
    output: int


_taken: Descriptors | None = None


def take_over() -> Descriptors:
    """Make the process's stdin and stdout private to the protocol; a second call returns the same descriptors.

    What Python's own `sys.stdout` has buffered by then ends up on stderr, too. A descriptor that is closed is taken for
    the null device.
    """
    global _taken
    if _taken is None:
        _open_missing()
        taken = Descriptors(os.dup(0), os.dup(1))
        _be_binary(taken)
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 0)
        os.dup2(2, 1)
        os.close(null)
        _taken = taken
    return _taken


def release(descriptors: Descriptors) -> None:
    """Close the private descriptors; 0 and 1 stay harmless, because a late `print` must not reach the client."""
    global _taken
    for descriptor in {descriptors.input, descriptors.output}:
        with suppress(OSError):
            os.close(descriptor)
    if _taken == descriptors:
        _taken = None


def can_be_polled(descriptor: int) -> bool:
    """Say whether the event loop can wait for this descriptor: pipes and sockets, but no files, consoles or Windows."""
    if sys.platform == "win32":
        return False
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


@contextmanager
def non_blocking(descriptor: int) -> Iterator[None]:
    """Make reads and writes return at once; the flag is shared with other processes, so it is put back."""
    before = os.get_blocking(descriptor)
    os.set_blocking(descriptor, False)
    try:
        yield
    finally:
        os.set_blocking(descriptor, before)


def enlarge(descriptor: int) -> None:
    """Give a pipe room for large messages, where the platform can and the user's quota allows."""
    if sys.platform == "linux":
        import fcntl

        with suppress(OSError):
            fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)


def _open_missing() -> None:
    for standard in range(3):
        try:
            os.fstat(standard)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number, which is this one


def _be_binary(descriptors: Descriptors) -> None:
    if sys.platform == "win32":
        import msvcrt

        msvcrt.setmode(descriptors.input, os.O_BINARY)
        msvcrt.setmode(descriptors.output, os.O_BINARY)
