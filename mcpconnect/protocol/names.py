"""Every word of the protocol that more than one file speaks: methods, `_meta` keys, features of a revision.

Rule: a word is spelled once, here. Words that a single file uses stay in that file; a revision's date stands only under
`protocol/revisions/`.
"""

from __future__ import annotations

from typing import Final

INITIALIZE: Final = "initialize"
PING: Final = "ping"
DISCOVER: Final = "server/discover"
TOOLS_LIST: Final = "tools/list"
TOOLS_CALL: Final = "tools/call"

PROMPTS_LIST: Final = "prompts/list"
PROMPTS_GET: Final = "prompts/get"
RESOURCES_LIST: Final = "resources/list"
TEMPLATES_LIST: Final = "resources/templates/list"
RESOURCES_READ: Final = "resources/read"
SUBSCRIBE: Final = "resources/subscribe"
UNSUBSCRIBE: Final = "resources/unsubscribe"
COMPLETE: Final = "completion/complete"
ELICIT: Final = "elicitation/create"
SAMPLE: Final = "sampling/createMessage"
ROOTS: Final = "roots/list"
SET_LEVEL: Final = "logging/setLevel"
LISTEN: Final = "subscriptions/listen"

INITIALIZED: Final = "notifications/initialized"
ROOTS_CHANGED: Final = "notifications/roots/list_changed"
CANCELLED: Final = "notifications/cancelled"
PROGRESS: Final = "notifications/progress"
MESSAGE: Final = "notifications/message"
TOOLS_CHANGED: Final = "notifications/tools/list_changed"
PROMPTS_CHANGED: Final = "notifications/prompts/list_changed"
RESOURCES_CHANGED: Final = "notifications/resources/list_changed"
RESOURCE_UPDATED: Final = "notifications/resources/updated"
ELICITATION_COMPLETE: Final = "notifications/elicitation/complete"
ACKNOWLEDGED: Final = "notifications/subscriptions/acknowledged"

META: Final = "_meta"
PROTOCOL_VERSION: Final = "io.modelcontextprotocol/protocolVersion"
"""Names the revision of a request; its presence makes the request one of the per-request era."""
CLIENT_CAPABILITIES: Final = "io.modelcontextprotocol/clientCapabilities"
CLIENT_INFO: Final = "io.modelcontextprotocol/clientInfo"
SERVER_INFO: Final = "io.modelcontextprotocol/serverInfo"
SUBSCRIPTION_ID: Final = "io.modelcontextprotocol/subscriptionId"
"""On every message of a subscription: the id of the request that opened it."""
LOG_LEVEL: Final = "io.modelcontextprotocol/logLevel"
"""Asks for log messages about a request, from this level on."""
PROGRESS_TOKEN: Final = "progressToken"

BATCHING: Final = "batching"
"""A message may be an array of messages."""
ANONYMOUS_ERRORS: Final = "anonymous-errors"
"""An error response whose request's id is unknown has no `id` member (elsewhere the member is null)."""
STRUCTURED: Final = "structured-content"
"""A tool's result may have structured content beside its blocks."""
ELICIT_URL: Final = "elicitation-url"
"""A user may be asked to open a page."""
ELICITATION_IDS: Final = "elicitation-ids"
"""A page that a user is asked to open has an id."""
RESUMING: Final = "resuming"
"""A stream that broke, or that the server ended early, may be resumed; it begins with an event that has only an id."""
ANY_STRUCTURED: Final = "any-structured-content"
"""Structured content and output schemas may be of any JSON type (elsewhere only objects)."""
