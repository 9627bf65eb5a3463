"""The protocol without any input or output: messages, revisions, shapes."""

from .jsonrpc import Batch, ErrorObject, Notification, Request, Response, decode
from .peer import Peer
from .refusal import NO_ID, Id, NoId, Refused
from .revision import Revision

__all__ = [
    "NO_ID",
    "Batch",
    "ErrorObject",
    "Id",
    "NoId",
    "Notification",
    "Peer",
    "Refused",
    "Request",
    "Response",
    "Revision",
    "decode",
]
