"""Who may call."""

import socket

import pytest

from mcpconnect import DefinitionError, McpServer, tool
from mcpconnect.transports.http import HttpSettings
from tests.transports.http.caller import calling
from tests.transports.http.tools import basic

pytestmark = pytest.mark.anyio

LOCAL_HOSTS = [
    "localhost",
    "localhost:8000",
    "LOCALHOST:1",
    "localhost.",
    "127.0.0.1",
    "127.0.0.1:8000",
    "127.8.9.10:80",
    "[::1]",
    "[::1]:8000",
    "[0:0:0:0:0:0:0:1]:8000",
]
FOREIGN_HOSTS = [
    "evil.example.com",
    "evil.example.com:8000",
    "localhost.evil.com",
    "localhost:80@evil.com",
    "evil.com/localhost",
    "localhost evil.com",
    "localhost, localhost",
    "localhost:http",
    "localhost:",
    "127.0.0.1.evil.com",
    "128.0.0.1",
    "0.0.0.0",
    "192.168.1.2",
    "[::2]",
    "[::1",
    "::1",
    "[::1]evil.com",
    "[::1]:8000:1",
    "",
    "@localhost",
    "loc\u00e4lhost",
]


@pytest.mark.fault(212)
@pytest.mark.parametrize("host", LOCAL_HOSTS)
async def test_every_spelling_of_this_machine_is_a_host_by_default(host: str) -> None:
    async with calling(basic()) as caller:
        answer = await caller.modern("tools/list", headers={"host": host}).done()
        assert answer.status == 200


@pytest.mark.fault(212)
@pytest.mark.parametrize("host", [*FOREIGN_HOSTS, None])
@pytest.mark.parametrize("method", ["POST", "GET", "DELETE", "OPTIONS", "HEAD"])
async def test_any_other_host_is_refused_with_the_setting_to_change(method: str, host: str | None) -> None:
    async with calling(basic()) as caller:
        answer = await caller.ask(method, b"", {"host": host})
        assert answer.status == 421
        assert "allowed_hosts" in answer.json["error"]["message"]
        assert not host or host not in answer.body.decode()


@pytest.mark.parametrize("path", ["/mcp", "/mcp/", "/health", "/sse", "/sse/messages", "/elsewhere"])
async def test_host_and_origin_are_checked_on_every_route(path: str) -> None:
    async with calling(basic(), health="/health", sse_path="/sse") as caller:
        for headers, status in (({"host": "evil.example"}, 421), ({"origin": "http://evil.example"}, 403)):
            for method in ("GET", "POST", "OPTIONS"):
                preflight = {"access-control-request-method": "POST"} if method == "OPTIONS" else {}
                answer = await caller.ask(method, b"", {**headers, **preflight}, path=path)
                assert answer.status == status
                assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize(
    ("allowed", "host", "passes"),
    [
        (["mcp.example.com"], "mcp.example.com", True),
        (["mcp.example.com"], "MCP.example.com:443", True),
        (["MCP.Example.com"], "mcp.example.com", True),
        (["mcp.example.com"], "x.mcp.example.com", False),
        (["mcp.example.com"], "mcp.example.com.evil.com", False),
        (["mcp.example.com"], "localhost", True),
        (["*.example.com"], "a.example.com", True),
        (["*.example.com"], "a.b.example.com:8", True),
        (["*.example.com"], "example.com", False),
        (["*.example.com"], "evilexample.com", False),
        (["*"], "anything.at.all", True),
        (["*"], "not a host", False),
        (["192.168.1.2"], "192.168.1.2:8000", True),
        (["[2001:db8::1]"], "[2001:db8::1]:8000", True),
        ([], "mcp.example.com", False),
    ],
)
async def test_other_hosts_are_named_in_a_setting(allowed: list[str], host: str, passes: bool) -> None:
    async with calling(basic(), allowed_hosts=allowed) as caller:
        answer = await caller.modern("tools/list", headers={"host": host}).done()
        assert answer.status == (200 if passes else 421)


@pytest.mark.fault(272)
@pytest.mark.parametrize(
    "origin",
    [
        "http://localhost.evil.com",
        "http://localhost:80@evil.com",
        "http://evil.com#localhost",
        "http://evil.com",
        "https://127.0.0.1.evil.com",
        "null",
        "",
        "localhost",
        "file://localhost",
        "http://localhost/",
        "http://localhost/path",
        "http://localhost?x",
        "http://localhost, http://localhost",
        "http://[::1",
        "http://xlocalhost",
        "http://",
    ],
)
async def test_an_origin_is_compared_whole(origin: str) -> None:
    async with calling(basic()) as caller:
        answer = await caller.modern("tools/list", headers={"origin": origin}).done()
        assert answer.status == 403
        assert "allowed_origins" in answer.json["error"]["message"]
        assert "id" not in answer.json


@pytest.mark.parametrize(
    ("options", "host", "origin", "status"),
    [
        ({}, "localhost", "http://localhost", 200),
        ({}, "localhost", "http://localhost:6274", 200),
        ({}, "localhost", "https://127.0.0.1:1", 200),
        ({}, "127.0.0.1:8000", "http://[::1]:3000", 200),
        ({"allowed_hosts": ["mcp.example.com"]}, "mcp.example.com", "https://mcp.example.com", 200),
        ({"allowed_hosts": ["mcp.example.com"]}, "mcp.example.com:8443", "https://mcp.example.com:8443", 200),
        ({"allowed_hosts": ["mcp.example.com"]}, "mcp.example.com", "https://mcp.example.com:8443", 403),
        ({"allowed_hosts": ["mcp.example.com"]}, "localhost", "https://mcp.example.com", 403),
        ({"allowed_hosts": ["*"]}, "a.example", "https://b.example", 403),
        ({"allowed_origins": ["https://app.example.com"]}, "localhost", "https://app.example.com", 200),
        ({"allowed_origins": ["https://App.example.com/"]}, "localhost", "https://app.example.com", 200),
        ({"allowed_origins": ["https://app.example.com"]}, "localhost", "http://app.example.com", 403),
        ({"allowed_origins": ["https://app.example.com"]}, "localhost", "https://app.example.com:444", 403),
        ({"allowed_origins": ["https://app.example.com"]}, "localhost", "https://app.example.com.evil.com", 403),
        ({"allowed_origins": ["*"]}, "localhost", "https://anything.example", 200),
        ({"allowed_origins": ["vscode-webview://abc"]}, "localhost", "vscode-webview://abc", 200),
    ],
)
async def test_pages_of_the_same_origin_of_this_machine_and_of_the_list_may_call(
    options: dict[str, list[str]], host: str, origin: str, status: int
) -> None:
    async with calling(basic(), **options) as caller:
        answer = await caller.modern("tools/list", headers={"host": host, "origin": origin}).done()
        assert answer.status == status


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"path": "mcp"}, "slash"),
        ({"health": "health"}, "slash"),
        ({"path": "/mcp", "health": "/mcp/"}, "path already"),
        ({"allowed_hosts": "mcp.example.com"}, "collection"),
        ({"allowed_origins": "https://a.example"}, "collection"),
        ({"allowed_hosts": ["mcp.example.com:8000"]}, "without scheme and port"),
        ({"allowed_hosts": ["https://mcp.example.com"]}, "without scheme and port"),
        ({"allowed_hosts": ["mcp.*.com"]}, "no host name"),
        ({"allowed_hosts": [""]}, "no host name"),
        ({"allowed_origins": ["app.example.com"]}, "no origin"),
        ({"allowed_origins": ["https://*.example.com"]}, "no origin"),
        ({"allowed_origins": ["https://a.example/path"]}, "no origin"),
        ({"allowed_origins": ["null"]}, "no origin"),
    ],
)
def test_a_setting_that_could_not_work_is_refused(options: dict[str, object], named: str) -> None:
    with pytest.raises(DefinitionError, match=named):
        HttpSettings(**options)  # type: ignore[arg-type]


@pytest.mark.fault(274)
@pytest.mark.parametrize("where", ["input_schema", "output_schema"])
def test_a_reference_out_of_a_schema_is_refused_and_nothing_is_fetched(where: str) -> None:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        listening.settimeout(0.2)
        port = listening.getsockname()[1]
        schema = {"type": "object", "properties": {"x": {"$ref": f"http://127.0.0.1:{port}/x"}}}

        def method(x: int = 1) -> dict[str, int]:
            return {"x": x}

        server = McpServer("test")
        with pytest.raises(DefinitionError, match=r"127\.0\.0\.1"):
            server.register(tool(**{where: schema})(method))
        with pytest.raises(TimeoutError):
            listening.accept()
