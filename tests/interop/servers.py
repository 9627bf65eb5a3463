"""Where the samples are, and how a client launches one."""

import sys
from pathlib import Path

SAMPLES = Path(__file__).resolve().parents[2] / "samples"


def command(sample: str) -> tuple[str, list[str]]:
    """Return the program and its arguments that serve a sample, as its README says."""
    return sys.executable, [str(SAMPLES / sample)]
