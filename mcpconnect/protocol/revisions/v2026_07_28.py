"""2026-07-28: the newest shapes. No handshake: each request says in `_meta` who asks and in which revision."""

from __future__ import annotations

from .. import names
from ..revision import Revision

V2026_07_28 = Revision.newest(
    "2026-07-28",
    handshake=False,
    features={
        names.DISCOVER,
        names.TOOLS_LIST,
        names.TOOLS_CALL,
        names.PROMPTS_LIST,
        names.PROMPTS_GET,
        names.RESOURCES_LIST,
        names.TEMPLATES_LIST,
        names.RESOURCES_READ,
        names.COMPLETE,
        names.LISTEN,
        names.CANCELLED,
        names.PROGRESS,
        names.MESSAGE,
        names.TOOLS_CHANGED,
        names.PROMPTS_CHANGED,
        names.RESOURCES_CHANGED,
        names.RESOURCE_UPDATED,
        names.ELICIT,
        names.ELICIT_URL,
        names.SAMPLE,
        names.SAMPLE_AUDIO,
        names.SAMPLE_TOOLS,
        names.ROOTS,
        names.ANONYMOUS_ERRORS,
        names.STRUCTURED,
        names.ANY_STRUCTURED,
    },
    codes={
        "parse-error": -32700,
        "invalid-request": -32600,
        "method-not-found": -32601,
        "invalid-params": -32602,
        "internal-error": -32603,
        "resource-not-found": -32602,
        "header-mismatch": -32020,
        "url-elicitation-required": -32600,  # no longer an error: the call asks instead
        "missing-capability": -32021,
        "unsupported-version": -32022,
    },
)
