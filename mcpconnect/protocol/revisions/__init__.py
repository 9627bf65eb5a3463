"""One file for each revision of the protocol: how it differs from the next newer one."""

from .known import LATEST, LATEST_HANDSHAKE, PER_REQUEST, SUPPORTED, find, negotiate

__all__ = ["LATEST", "LATEST_HANDSHAKE", "PER_REQUEST", "SUPPORTED", "find", "negotiate"]
