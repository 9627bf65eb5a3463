"""`Sealer`: what travels through a client's hands and comes back: nobody else can read, change or make it.

Rule: authenticated encryption with keys that only the server has. The first key seals, all of them open, so that keys
can be changed while old seals are still about. The text is URL-safe base64 and is compared strictly: appending or
changing anything makes it invalid.

Source: RFC 5297 (AES-SIV), which stays safe even if a nonce repeats.
"""

from __future__ import annotations

import binascii
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections import OrderedDict
from collections.abc import Iterable
from hashlib import sha256, sha512
from threading import Lock

from ..errors import DefinitionError

Secret = str | bytes


class Sealer:
    """Seals and opens bytes for one purpose; what was sealed for another does not open.

    Raises:
        DefinitionError: a secret is too short to be one.
    """

    def __init__(self, secret: Secret | Iterable[Secret] | None, purpose: str) -> None:
        from cryptography.hazmat.primitives.ciphers.aead import AESSIV  # slow to import, and most calls never seal

        given = given_secrets(secret)
        self._purpose = purpose.encode()
        self._used: OrderedDict[bytes, None] = OrderedDict()
        self._lock = Lock()
        self._ciphers = [AESSIV(sha512(self._purpose + b"\0" + _key(each)).digest()) for each in given]

    def seal(self, data: bytes) -> str:
        """Return the sealed text. Put something random into `data` where equal data must not give equal texts."""
        sealed = self._ciphers[0].encrypt(data, [self._purpose])
        return urlsafe_b64encode(sealed).decode().rstrip("=")

    def first_use(self, text: str, remembered: int) -> bool:
        """Say whether a sealed text is used for the first time in this process, which remembers the last ones."""
        mark = sha256(text.encode()).digest()[:16]
        with self._lock:
            if mark in self._used:
                return False
            self._used[mark] = None
            while len(self._used) > remembered:
                self._used.popitem(last=False)
        return True

    def open(self, text: str) -> bytes | None:
        """Return what was sealed, or None if it was not by us, not for this purpose, or was changed since."""
        try:
            sealed = urlsafe_b64decode(text.encode("ascii") + b"=" * (-len(text) % 4))
        except (ValueError, binascii.Error):
            return None
        if urlsafe_b64encode(sealed).decode().rstrip("=") != text:  # the decoder skips what it does not know
            return None
        from cryptography.exceptions import InvalidTag

        for cipher in self._ciphers:
            try:
                return cipher.decrypt(sealed, [self._purpose])
            except (InvalidTag, ValueError):
                continue
        return None


def given_secrets(given: Secret | Iterable[Secret] | None) -> tuple[Secret, ...]:
    """Return the secrets that were given, or a random one."""
    if given is None:
        return (secrets.token_bytes(32),)
    return (given,) if isinstance(given, (str, bytes)) else tuple(given)


def _key(secret: Secret) -> bytes:
    key = secret.encode() if isinstance(secret, str) else bytes(secret)
    if len(key) < 16:
        raise DefinitionError("a secret has at least 16 bytes: secrets.token_urlsafe(32) makes one")
    return key
