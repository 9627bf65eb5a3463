"""What a call knows of the HTTP request that it came by: headers, trace context, and who sent it."""

from typing import Any

import pytest

from mcpconnect import Context, tool
from tests.transports.http.caller import CLIENT, calling
from tests.wire import serving

pytestmark = pytest.mark.anyio
CAPABLE = {"io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}}


class User:
    """What authentication middleware of ASGI leaves in the scope."""

    def __init__(self, name: str, is_authenticated: bool = True) -> None:
        self.display_name = name
        self.is_authenticated = is_authenticated

    @property
    def identity(self) -> str:
        raise NotImplementedError


@tool
async def facts(ctx: Context) -> str:
    return f"{ctx.headers.get('x-request-from')} {ctx.principal} {ctx.trace.get('traceparent')}"


@tool
def asks(ctx: Context) -> str:
    return ctx.sync.elicit("All right?", {"type": "object", "properties": {}}).action


def message(method: str, params: Any, id: Any = 1) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}


def texts(answer: Any) -> list[str]:
    return [block["text"] for block in answer.json["result"]["content"]]


async def test_headers_trace_and_user_reach_the_call() -> None:
    headers = {"X-Request-From": "tests", "traceparent": "00-abc-def-01"}
    async with calling(serving(facts)) as caller:
        called = await caller.modern("tools/call", {"name": "facts"}, headers=headers, user=User("ada")).done()
        assert texts(called) == ["tests ada 00-abc-def-01"]
        meta = {"traceparent": "00-meta-01"}
        called = await caller.modern("tools/call", {"name": "facts"}, headers=headers, meta=meta).done()
        assert texts(called) == ["tests None 00-meta-01"]
        called = await caller.modern("tools/call", {"name": "facts"}, user=User("eve", is_authenticated=False)).done()
        assert texts(called) == ["None None None"]


async def test_a_trace_comes_from_one_place() -> None:
    @tool
    async def trace(ctx: Context) -> str:
        return str(dict(ctx.trace))

    headers = {"traceparent": "00-header-01", "tracestate": "h=1", "baggage": "b=1"}
    async with calling(serving(trace)) as caller:
        called = await caller.modern("tools/call", {"name": "trace"}, headers=headers).done()
        assert texts(called) == [str({"traceparent": "00-header-01", "tracestate": "h=1", "baggage": "b=1"})]
        meta = {"traceparent": "00-meta-01"}
        called = await caller.modern("tools/call", {"name": "trace"}, headers=headers, meta=meta).done()
        assert texts(called) == [str(meta)]


async def test_a_session_belongs_to_the_user_who_began_it() -> None:
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": CLIENT}
    async with calling(serving(facts), json_response=True) as caller:
        greeted = await caller.ask("POST", message("initialize", hello), user=User("ada"))
        session = {"mcp-protocol-version": "2025-11-25", "mcp-session-id": greeted.headers["mcp-session-id"]}
        call = message("tools/call", {"name": "facts"})
        assert texts(await caller.ask("POST", call, session, user=User("ada"))) == ["None ada None"]
        for other in ({"user": User("eve")}, {}):
            assert (await caller.ask("POST", call, session, **other)).status == 404
            assert (await caller.ask("DELETE", b"", session, **other)).status == 404
        assert (await caller.ask("POST", call, session, user=User("ada"))).status == 200
        assert (await caller.ask("DELETE", b"", session, user=User("ada"))).status == 200


async def test_a_state_belongs_to_the_user_whose_call_it_was() -> None:
    async with calling(serving(asks)) as caller:
        first = await caller.modern("tools/call", {"name": "asks"}, meta=CAPABLE, user=User("ada")).done()
        result = first.json["result"]
        again = {
            "name": "asks",
            "requestState": result["requestState"],
            "inputResponses": {key: {"action": "accept", "content": {}} for key in result["inputRequests"]},
        }
        stolen = await caller.modern("tools/call", again, meta=CAPABLE, user=User("eve")).done()
        assert stolen.json["error"]["code"] == -32602
        assert texts(await caller.modern("tools/call", again, meta=CAPABLE, user=User("ada")).done()) == ["accept"]


async def test_every_error_carries_the_id_of_its_request() -> None:
    async with calling(serving(facts)) as caller:
        ids = set()
        for body in (b"{", b"[]", b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}'):
            ids.add((await caller.ask("POST", body, traffic=[])).headers["x-request-id"])
        ids.add((await caller.modern("tools/call", {"name": "nothing"}).done()).headers["x-request-id"])
        assert len(ids) == 4
