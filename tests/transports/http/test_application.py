"""Paths, mounting, CORS, sizes, logs, and what is not HTTP."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import pytest
from fastapi import FastAPI
from starlette.applications import Starlette
from starlette.routing import Mount

from mcpconnect import Limits
from mcpconnect.transports.http import body as body_module
from mcpconnect.transports.http.endpoint import Endpoint
from tests.transports.http.caller import Caller, calling, settled
from tests.transports.http.tools import basic, gated
from tests.wire import NEWEST

pytestmark = pytest.mark.anyio

LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


# -- paths ------------------------------------------------------------------------------------------------------------


@pytest.mark.fault(208)
@pytest.mark.parametrize("setting", ["/mcp", "/mcp/", "/", "/deep/er"])
async def test_both_spellings_of_the_path_are_served_and_never_redirected(setting: str) -> None:
    async with calling(basic(), path=setting) as caller:
        bare = setting.rstrip("/")
        for path in {bare or "/", bare + "/"}:
            assert (await caller.modern("tools/list", path=path).done()).status == 200
        for path in (bare + "//", bare + "x", bare + "/x"):
            assert (await caller.modern("tools/list", path=path).done()).status == 404


async def test_an_unknown_path_is_not_found_and_not_repeated() -> None:
    async with calling(basic()) as caller:
        for path in (
            "/",
            "/.well-known/oauth-protected-resource",
            "/mcp2",
            "/<script>alert(1)</script>",
            "/health",
            "/sse",
        ):
            answer = await caller.ask("GET", b"", path=path)
            assert answer.status == 404
            assert "script" not in answer.body.decode()


def starlette(app: Any) -> Any:
    return Starlette(routes=[Mount("/api", app)])


def fastapi(app: Any) -> Any:
    outer = FastAPI()
    outer.mount("/api", app)
    return outer


def nested(app: Any) -> Any:
    return Starlette(routes=[Mount("/outer", Starlette(routes=[Mount("/api", app)]))])


@pytest.mark.fault(209)
@pytest.mark.parametrize(("host", "prefix"), [(starlette, "/api"), (fastapi, "/api"), (nested, "/outer/api")])
async def test_it_is_mounted_under_a_prefix_and_needs_no_lifespan(host: Callable[[Any], Any], prefix: str) -> None:
    app = basic().asgi_app()
    caller = Caller(host(app))
    for path in (f"{prefix}/mcp", f"{prefix}/mcp/"):
        assert (await caller.modern("tools/call", {"name": "add"}, path=path).done()).status == 200
    assert (await caller.modern("tools/list", path=f"{prefix}/other").done()).status == 404
    await app.stop()  # type: ignore[attr-defined]


@pytest.mark.fault(209)
async def test_mounted_at_its_own_path_it_is_there_once_and_twice() -> None:
    app = basic().asgi_app()
    caller = Caller(Starlette(routes=[Mount("/mcp", app)]))
    for path in ("/mcp/", "/mcp/mcp", "/mcp/mcp/"):
        assert (await caller.modern("tools/list", path=path).done()).status == 200
    await app.stop()  # type: ignore[attr-defined]


async def test_mounted_at_the_root_it_serves_its_paths_and_the_host_its_own() -> None:
    app = basic().asgi_app(health="/health")
    outer = FastAPI()

    @outer.get("/mine")
    async def mine() -> str:
        return "mine"

    outer.mount("", app)
    caller = Caller(outer)
    for path in ("/mcp", "/mcp/"):
        assert (await caller.modern("tools/list", path=path).done()).status == 200
    assert (await caller.ask("GET", b"", path="/mine")).json == "mine"
    assert (await caller.ask("GET", b"", path="/health")).body == b"ok"
    await app.stop()  # type: ignore[attr-defined]


@pytest.mark.parametrize(("root", "path"), [("/api", "/api/mcp"), ("", "/mcp"), ("/api", "/mcp"), ("/mc", "/mcp")])
async def test_a_prefix_that_the_server_knows_of_is_left_out(root: str, path: str) -> None:
    async with calling(basic()) as caller:
        assert (await caller.modern("tools/list", path=path, root_path=root).done()).status == 200


def test_an_application_goes_on_in_another_loop() -> None:
    app = basic(secret="a secret of more than sixteen bytes").asgi_app()
    caller = Caller(app)

    async def first() -> Any:
        return await caller.session()

    async def then() -> int:
        return (await session.call("add").done()).status

    session = asyncio.run(first())
    assert asyncio.run(then()) == 200
    assert asyncio.run(then()) == 200


async def test_an_application_starts_anew_after_its_end() -> None:
    async with calling(basic(secret="a secret of more than sixteen bytes")) as caller:
        session = await caller.session()
        await caller.app.stop()
        assert (await session.call("add").done()).status == 200


# -- health, methods, what is not HTTP --------------------------------------------------------------------------------


async def test_health_says_ok_where_it_is_wanted() -> None:
    async with calling(basic(), health="/health") as caller:
        answer = await caller.ask("GET", b"", {"accept": None}, path="/health")
        assert (answer.status, answer.body) == (200, b"ok")
        assert (await caller.ask("HEAD", b"", path="/health")).status == 200
        assert (await caller.ask("POST", b"", path="/health")).status == 405
        assert (await caller.ask("GET", b"", path="/healthy")).status == 404


@pytest.mark.fault(229)
@pytest.mark.parametrize("method", ["PUT", "PATCH", "HEAD", "OPTIONS", "TRACE", "QUERY"])
async def test_other_methods_are_refused_and_told_which_there_are(method: str) -> None:
    async with calling(basic()) as caller:
        answer = await caller.ask(method, b"")
        assert answer.status == 405
        assert answer.headers["allow"] == "GET, POST, DELETE"


async def test_a_websocket_is_closed() -> None:
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        sent.append(message)

    app: Any = basic().asgi_app()
    await app({"type": "websocket", "path": "/mcp", "headers": []}, receive, send)
    assert [message["type"] for message in sent] == ["websocket.close"]
    with pytest.raises(RuntimeError, match="only HTTP"):
        await app({"type": "other"}, receive, send)


# -- bodies -----------------------------------------------------------------------------------------------------------


@pytest.mark.fault(216)
@pytest.mark.parametrize(
    "content_type", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "", None]
)
async def test_a_body_of_another_type_is_refused(content_type: str | None) -> None:
    async with calling(basic()) as caller:
        answer = await caller.modern("tools/list", headers={"content-type": content_type}).done()
        assert answer.status == 415
        assert "id" not in answer.json


async def test_a_compressed_body_is_refused() -> None:
    async with calling(basic()) as caller:
        assert (await caller.modern("tools/list", headers={"content-encoding": "gzip"}).done()).status == 415
        assert (await caller.modern("tools/list", headers={"content-encoding": "identity"}).done()).status == 200


@pytest.mark.fault(148)
async def test_an_answer_that_nobody_could_read_is_not_made() -> None:
    async with calling(basic()) as caller:
        answer = await caller.modern("tools/list", headers={"accept": "text/html"}).done()
        assert answer.status == 406
        assert "id" not in answer.json
        assert answer.json["error"]["code"] == -32600


@pytest.mark.fault(148)
@pytest.mark.fault(143)
@pytest.mark.parametrize("body", [b"", b"NOT JSON", b"{", b"\xff\xfe", b'{"jsonrpc": "2.0", "id": 1,'])
@pytest.mark.parametrize(
    ("version", "null"), [(None, True), ("2025-06-18", True), ("2025-11-25", False), (NEWEST, False)]
)
async def test_what_is_no_json_is_a_parse_error_without_an_invented_id(
    body: bytes, version: str | None, null: bool
) -> None:
    async with calling(basic(), check=False) as caller:
        answer = await caller.ask("POST", b"", {"mcp-protocol-version": version}, pieces=[body])
        assert answer.status == 400
        assert answer.json["error"]["code"] == -32700
        assert ("id" in answer.json) is null
        assert answer.json.get("id") is None


@pytest.mark.fault(144)
@pytest.mark.parametrize(
    "body",
    [
        '"x"',
        "5",
        "null",
        "[]",
        "{}",
        '{"id": 1}',
        '{"jsonrpc": "1.0", "id": 1, "method": "ping"}',
        '{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": [1]}',
    ],
)
async def test_json_of_another_shape_is_an_invalid_request(body: str) -> None:
    async with calling(basic(), check=False) as caller:
        answer = await caller.ask("POST", b"", pieces=[body.encode()])
        assert (answer.status, answer.json["error"]["code"]) == (400, -32600)


@pytest.mark.fault(145)
@pytest.mark.parametrize("opening", ["[", '{"a":'])
async def test_a_body_that_is_nested_too_deep_is_refused(opening: str) -> None:
    async with calling(basic(), check=False) as caller:
        closing = {"[": "]", '{"a":': "}"}[opening]
        body = (
            f'{{"jsonrpc":"2.0","id":5,"method":"tools/list","params":{{"x":{opening * 100_000}1{closing * 100_000}}}}}'
        )
        answer = await caller.ask("POST", b"", pieces=[body.encode()])
        assert (answer.status, answer.json["error"]["code"], answer.json["id"]) == (400, -32600, 5)
        assert (await caller.modern("tools/list").done()).status == 200


@pytest.mark.fault(215)
@pytest.mark.parametrize("declared", [True, False])
async def test_a_body_that_is_too_long_is_refused_before_it_is_read(declared: bool) -> None:
    async with calling(basic(limits=Limits(body_bytes=1000)), check=False) as caller:
        headers = {"content-length": "50000000"} if declared else {}
        exchange = caller.send("POST", b"", headers, pieces=[b"x" * 600] * 50)
        await exchange.done()
        assert exchange.status == 413
        assert exchange.headers["connection"] == "close"
        assert "body_bytes" in exchange.json["error"]["message"]
        assert len(caller.app.endpoint.sessions) == 0
        fits = await caller.ask("POST", b"", pieces=[b"x" * 500, b"y" * 500])
        assert fits.status == 400, "it was read, and is no JSON"
        over = await caller.ask("POST", b"", pieces=[b"x" * 500, b"y" * 501])
        assert over.status == 413


async def test_a_refused_body_is_dropped_for_a_while_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(body_module, "_LINGER_SECONDS", 0.05)
    async with calling(basic(limits=Limits(body_bytes=10)), check=False) as caller:
        exchange = caller.send("POST", b"", pieces=[b"x" * 100], hold=True)
        assert (await exchange.done()).status == 413


@pytest.mark.parametrize(
    ("length", "status"),
    [("-1", 200), ("x", 200), ("1e9", 200), ("\u00b2", 200), ("", 200), ("9" * 30, 413), ("9" * 5000, 413)],
)
async def test_a_length_that_is_no_number_is_not_believed(length: str, status: int) -> None:
    async with calling(basic()) as caller:
        answer = await caller.modern("tools/list", headers={"content-length": length}).done()
        assert answer.status == status


async def test_a_body_that_does_not_come_is_given_up() -> None:
    async with calling(basic(limits=Limits(body_seconds=0.05)), check=False) as caller:
        exchange = caller.send("POST", b"", pieces=[b'{"jsonrpc"'], hold=True)
        assert (await exchange.done()).status == 408
        assert exchange.headers["connection"] == "close"
        assert "body_seconds" in exchange.json["error"]["message"]


@pytest.mark.fault(223)
async def test_a_client_that_leaves_while_it_sends_disturbs_nobody(caplog: pytest.LogCaptureFixture) -> None:
    async with calling(basic(), check=False) as caller:
        exchange = caller.send("POST", b"", pieces=[b'{"jsonrpc"'], hold=True)
        await asyncio.sleep(0)
        exchange.leave()
        await exchange.done()
        assert exchange.status == 0
        assert (await caller.modern("tools/list").done()).status == 200
    assert [record for record in caplog.records if record.levelno > logging.INFO] == []


async def test_headers_are_bounded() -> None:
    async with calling(basic(limits=Limits(header_bytes=2000))) as caller:
        answer = await caller.modern("tools/list", headers={"x-much": "x" * 3000}).done()
        assert answer.status == 431
        assert answer.headers["connection"] == "close"
        assert (await caller.modern("tools/list", headers={"x-some": "x" * 1000}).done()).status == 200


# -- CORS -------------------------------------------------------------------------------------------------------------

PAGE = "https://app.example.com"
ASKED = "mcp-protocol-version, mcp-session-id, last-event-id, authorization, content-type, mcp-method, mcp-name, mcp-param-region"


@pytest.mark.fault(210)
@pytest.mark.parametrize("origin", [PAGE, "http://localhost:6274", "http://127.0.0.1:3000", "http://[::1]:80"])
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
async def test_a_preflight_allows_what_the_protocol_needs(origin: str, method: str) -> None:
    async with calling(basic(), allowed_origins=[PAGE]) as caller:
        headers = {
            "origin": origin,
            "access-control-request-method": method,
            "access-control-request-headers": ASKED,
            "content-type": None,
        }
        answer = await caller.ask("OPTIONS", b"", headers)
        assert answer.status == 200
        assert answer.headers["access-control-allow-origin"] == origin
        assert set(answer.headers["access-control-allow-methods"].split(", ")) == {"GET", "POST", "DELETE"}
        assert set(ASKED.split(", ")) <= set(answer.headers["access-control-allow-headers"].lower().split(", "))
        assert "access-control-allow-credentials" not in answer.headers
        assert len(caller.app.endpoint.sessions) == 0


async def test_a_preflight_of_another_page_is_refused() -> None:
    async with calling(basic(), allowed_origins=[PAGE]) as caller:
        headers = {"origin": "https://evil.example", "access-control-request-method": "POST"}
        answer = await caller.ask("OPTIONS", b"", headers)
        assert answer.status == 403
        assert "access-control-allow-origin" not in answer.headers


@pytest.mark.fault(211)
async def test_pages_read_answers_and_errors() -> None:
    async with calling(basic(), allowed_origins=[PAGE]) as caller:
        page = {"origin": PAGE}
        hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "page", "version": "1"}}
        begun = await caller.ask("POST", {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}, page)
        session = {**page, "mcp-session-id": begun.headers["mcp-session-id"]}
        stream = caller.send("GET", b"", session)
        await stream.event()
        answers = {
            200: await caller.ask("POST", LIST, session),
            404: await caller.ask("POST", LIST, {**page, "mcp-session-id": "x"}),
            405: await caller.ask("PUT", b"", page),
            406: await caller.ask("POST", LIST, {**page, "accept": "text/html"}),
            409: await caller.ask("GET", b"", session),
            400: await caller.ask("POST", LIST, page),
            415: await caller.ask("POST", LIST, {**page, "content-type": "text/plain"}),
        }
        for status, answer in {**answers, 200: begun, 202: stream}.items():
            assert answer is stream or answer.status == status
            assert answer.headers["access-control-allow-origin"] == PAGE
            assert "mcp-session-id" in answer.headers["access-control-expose-headers"].lower()
            assert "origin" in answer.headers["vary"].lower()


async def test_all_pages_may_be_allowed() -> None:
    async with calling(basic(), allowed_origins=["*"]) as caller:
        answer = await caller.modern("tools/list", headers={"origin": "https://any.example"}).done()
        assert answer.headers["access-control-allow-origin"] == "*"
        plain = await caller.modern("tools/list").done()
        assert not any(name.startswith("access-control") for name in plain.headers), "nobody asked"


# -- failures and logs ------------------------------------------------------------------------------------------------


class Broken:
    """Stands for a fault of ours."""

    def __init__(self, *failures: BaseException) -> None:
        self.failures = list(failures)

    async def __call__(self, *_: Any) -> None:
        raise self.failures.pop(0)


async def test_a_failure_of_ours_is_answered_and_logged_under_one_id(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with calling(basic()) as caller:
        monkeypatch.setattr(Endpoint, "serve", Broken(ValueError("secret detail")))
        answer = await caller.modern("tools/list").done()
        assert (answer.status, answer.json["error"]["code"]) == (500, -32603)
        (record,) = [record for record in caplog.records if record.levelno >= logging.WARNING]
        assert record.event == "http-failed"  # type: ignore[attr-defined]
        assert record.request_id in answer.body.decode()  # type: ignore[attr-defined]
        assert "secret" not in answer.body.decode()


@pytest.mark.fault(223)
async def test_a_server_that_says_by_an_error_that_the_client_left_is_understood(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)
        if message["type"] == "http.response.body":
            raise OSError("gone")

    app: Any = basic().asgi_app(health="/health")
    scope = {"type": "http", "method": "GET", "path": "/health", "headers": [(b"host", b"localhost")]}
    await app(scope, receive, send)
    assert len(sent) == 2
    assert [record for record in caplog.records if record.levelno > logging.INFO] == []


async def test_a_refusal_names_the_request_under_which_the_log_knows_it(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "mcpconnect.http")
    async with calling(basic()) as caller:
        answer = await caller.ask("POST", PING)
        assert answer.status == 400
        (record,) = [record for record in caplog.records if getattr(record, "event", None) == "http-refused"]
        assert answer.headers["x-request-id"] == record.request_id  # type: ignore[attr-defined]
        assert answer.headers["x-request-id"] in answer.json["error"]["message"]
        again = await caller.ask("POST", PING)
        assert again.headers["x-request-id"] != answer.headers["x-request-id"]


async def test_the_access_log_has_a_line_for_each_request(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "mcpconnect.access")
    async with calling(basic(), allowed_origins=[PAGE]) as caller:
        await caller.modern("tools/list").done()
        await caller.ask("GET", b"", {"host": "evil.example"}, path="/x\nFORGED GET /y 200", raw_path=b"/x%0AFORGED")
        await caller.ask("GET", b"", {"host": "evil.example"}, path="/x\nFORGED GET /y 200")
        await caller.ask("OPTIONS", b"", {"origin": PAGE, "access-control-request-method": "POST"})
        leaving = caller.send("POST", b"", pieces=[b"{"], hold=True)
        await asyncio.sleep(0)
        leaving.leave()
        await leaving.done()
    lines = [record.getMessage() for record in caplog.records if record.name == "mcpconnect.access"]
    assert [line.partition(" ms")[0].rsplit(" ", 1)[0] for line in lines] == [
        "POST /mcp 200",
        "GET /x%0AFORGED 421",
        "GET /x\\nFORGED GET /y 200 421",
        "OPTIONS /mcp 200",
        "POST /mcp 0",
    ]
    assert all("\n" not in line for line in lines)
    assert len({record.request_id for record in caplog.records}) == 5  # type: ignore[attr-defined]


async def test_nothing_is_logged_of_what_works() -> None:
    records: list[logging.LogRecord] = []
    handler = logging.Handler(logging.DEBUG)
    handler.emit = records.append  # type: ignore[method-assign]
    logger = logging.getLogger("mcpconnect")
    logger.addHandler(handler)
    try:
        async with calling(basic()) as caller:
            session = await caller.session()
            await session.call("add").done()
            await caller.modern("tools/call", {"name": "add"}).done()
            await session.delete()
    finally:
        logger.removeHandler(handler)
    assert [record.getMessage() for record in records] == []


async def test_a_lifespan_starts_and_stops_it() -> None:
    app: Any = basic().asgi_app()
    messages: asyncio.Queue[Any] = asyncio.Queue()
    sent: asyncio.Queue[Any] = asyncio.Queue()
    life = asyncio.ensure_future(app({"type": "lifespan"}, messages.get, sent.put))
    async with asyncio.timeout(20):
        await messages.put({"type": "lifespan.startup"})
        assert (await sent.get())["type"] == "lifespan.startup.complete"
        caller = Caller(app)
        assert (await caller.modern("tools/call", {"name": "add"}).done()).status == 200
        endpoint = app.endpoint
        await messages.put({"type": "lifespan.shutdown"})
        assert (await sent.get())["type"] == "lifespan.shutdown.complete"
        await life
        assert not endpoint.alive


async def test_stopping_ends_streams_at_once_and_lets_calls_finish() -> None:
    server, tools = gated()
    async with calling(server) as caller:
        session = await caller.session()
        stream = session.get()
        listening = caller.modern("subscriptions/listen", {"notifications": {"toolsListChanged": True}}, id="l")
        old, new = session.call("wait"), caller.modern("tools/call", {"name": "wait"})
        await stream.event()
        await listening.event()
        await settled(lambda: tools.calls == 2)
        stopping = asyncio.ensure_future(caller.app.stop())
        assert [event.data for event in (await stream.done()).events] == [""]
        assert [message.get("method") for message in (await listening.done()).messages] == [
            "notifications/subscriptions/acknowledged",
            "notifications/cancelled",
            None,
        ]
        assert (await session.get().done()).status == 503
        late = await caller.modern("subscriptions/listen", {"notifications": {}}).done()
        assert [message.get("method") for message in late.messages] == [
            "notifications/subscriptions/acknowledged",
            "notifications/cancelled",
            None,
        ]
        assert not stopping.done()
        tools.gate.set()
        for exchange in (old, new):
            assert (await exchange.done()).messages[-1]["result"]["content"][0]["text"] == "waited"
        async with asyncio.timeout(20):
            await stopping


async def test_a_host_may_end_streams_before_it_waits_for_responses() -> None:
    server, tools = gated()
    server.asgi_app().wind_down()  # type: ignore[attr-defined] # nothing has begun
    async with calling(server, sse_path="/sse") as caller:
        session = await caller.session()
        stream, waiting = session.get(), session.call("wait")
        sse = caller.send("GET", path="/sse")
        listening = caller.modern("subscriptions/listen", {"notifications": {}})
        for exchange in (stream, sse, listening):
            await exchange.event()
        await tools.began.wait()
        caller.app.wind_down()
        for exchange in (stream, sse, listening):
            await exchange.done()
        tools.gate.set()
        assert "result" in (await waiting.done()).messages[-1]


async def test_calls_that_do_not_finish_in_time_are_stopped(caplog: pytest.LogCaptureFixture) -> None:
    server, tools = gated(limits=Limits(drain_seconds=0.05))
    async with calling(server) as caller:
        session = await caller.session()
        streamed, plain, modern = (
            session.call("wait"),
            session.call("wait", headers={"accept": "application/json"}),
            caller.modern("tools/call", {"name": "wait"}),
        )
        await settled(lambda: tools.calls == 3)
        await caller.app.stop()
        assert tools.ended == ["cancelled"] * 3
        assert [event.data for event in (await streamed.done()).events] == [""]
        assert (await plain.done()).status == 202
        assert (await modern.done()).status == 503
    assert [record.event for record in caplog.records if record.levelno >= logging.WARNING] == ["drain-timeout"]  # type: ignore[attr-defined]
