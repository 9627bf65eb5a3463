"""The one table of methods.

Rule: an operation takes an exchange and gives a result in the newest shape, a result that is finished, or a call to
run. Whether the peer's revision knows the method is asked before, and lowering the shape happens after.
"""

from __future__ import annotations

from typing import Final

from ..protocol import names
from .calling import call_tool, complete, get_prompt, read_resource
from .exchange import Operations
from .listing import list_prompts, list_resources, list_templates, list_tools
from .opening import discover, initialize, ping, set_level
from .subscribing import listen, subscribe, unsubscribe

OPERATIONS: Final[Operations] = {
    names.INITIALIZE: initialize,
    names.DISCOVER: discover,
    names.PING: ping,
    names.SET_LEVEL: set_level,
    names.TOOLS_LIST: list_tools,
    names.TOOLS_CALL: call_tool,
    names.PROMPTS_LIST: list_prompts,
    names.PROMPTS_GET: get_prompt,
    names.RESOURCES_LIST: list_resources,
    names.TEMPLATES_LIST: list_templates,
    names.RESOURCES_READ: read_resource,
    names.SUBSCRIBE: subscribe,
    names.UNSUBSCRIBE: unsubscribe,
    names.COMPLETE: complete,
    names.LISTEN: listen,
}
