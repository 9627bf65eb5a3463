"""Testing a server: a client in the same process, and a record of what was said."""

from .client import TestClient
from .recorder import Recorder, Sent

__all__ = ["Recorder", "Sent", "TestClient"]
