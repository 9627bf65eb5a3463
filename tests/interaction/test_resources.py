"""Resources as a client lists and reads them."""

import base64
import datetime as dt
import functools
import io
import logging
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any

import anyio
import pytest
from PIL import Image

from mcpconnect import (
    YAML_TEXT,
    Annotations,
    AudioContent,
    BlobResource,
    ContentFormatter,
    ContentList,
    ContentType,
    Context,
    CustomSerializer,
    DefinitionError,
    EmbeddedResource,
    Icon,
    InternalError,
    McpServer,
    Mime,
    PromptMessage,
    PromptResult,
    ResourceLink,
    ResourceNotFound,
    ResourceResult,
    SerializerConfig,
    TextContent,
    TextResource,
    Tool,
    prompt,
    resource,
    tool,
)
from tests.wire import NEWEST, REVISIONS, Wire, connected, serving

pytestmark = pytest.mark.anyio
each_revision = pytest.mark.parametrize("revision", REVISIONS)
both_eras = pytest.mark.parametrize("revision", ["2025-11-25", NEWEST])


@dataclass
class Person:
    first_name: str


async def contents(wire: Wire, uri: str) -> list[dict[str, Any]]:
    answer = await wire.ask("resources/read", {"uri": uri})
    assert "result" in answer, answer
    found: list[dict[str, Any]] = answer["result"]["contents"]
    return found


async def read(
    value: Any, annotation: Any = None, mime_type: str | None = None, **settings: Any
) -> list[tuple[str, Any, Any]]:
    """Return URI, type and text (or bytes) of what is read where a resource returns a value."""

    def asked():
        return value

    if annotation is not None:
        asked.__annotations__["return"] = annotation
    async with connected(serving(resource("x://y", mime_type=mime_type)(asked), **settings)) as wire:
        found = await contents(wire, "x://y")
    for part in found:
        assert ("text" in part) is not ("blob" in part)
    return [
        (part["uri"], part.get("mimeType"), part["text"] if "text" in part else base64.b64decode(part["blob"]))
        for part in found
    ]


def one(mime: str, data: Any) -> list[tuple[str, str, Any]]:
    return [("x://y", mime, data)]


async def test_every_row_of_the_table() -> None:
    plain = functools.partial(one, "text/plain")
    assert await read("x\n") == plain("x\n")
    assert await read(True) == plain("true")
    assert await read(12) == plain("12")
    assert await read(Decimal("1.10")) == plain("1.10")
    assert await read(dt.date(2026, 7, 28)) == plain("2026-07-28")
    assert await read(dt.datetime(2026, 1, 1, 12, tzinfo=dt.UTC)) == plain("2026-01-01T12:00:00Z")
    assert await read(io.StringIO("words")) == plain("words")
    json = functools.partial(one, "application/json")
    assert await read([1, 2]) == json("[1,2]")
    assert await read(["a", "b"]) == json('["a","b"]')
    assert await read({"b", "a"}) == json('["a","b"]')
    assert await read([]) == json("[]")
    assert await read([], list[int]) == json("[]")
    assert await read(["a", "b"], list[str]) == [*plain("a"), *plain("b")]
    for binary in (b"\0\1", bytearray(b"\0\1"), memoryview(b"\0\1"), io.BytesIO(b"\0\1")):
        assert await read(binary) == one("application/octet-stream", b"\0\1")
    assert await read(b"%PDF", Annotated[bytes, Mime("application/pdf")]) == one("application/pdf", b"%PDF")
    assert await read(b"%PDF", Annotated[bytes, Mime("application/pdf")], "text/x") == one("application/pdf", b"%PDF")
    assert await read(b"%PDF", bytes, "application/pdf") == one("application/pdf", b"%PDF")
    assert await read(ContentList(["a", Person("Ada")])) == [*plain("a"), *json('{"firstName":"Ada"}')]
    assert await read(TextContent("t")) == plain("t")
    assert await read(AudioContent(b"x", "audio/wav")) == one("audio/wav", b"x")
    embedded = EmbeddedResource(TextResource("r", "z://r", "text/markdown"))
    assert await read(embedded) == [("z://r", "text/markdown", "r")]
    assert await read(["a", TextResource("b"), b"\1"], mime_type="text/csv") == [
        *one("text/csv", "a"),
        *one("text/csv", "b"),
        *one("text/csv", b"\1"),
    ]


async def test_pictures_are_blobs_of_their_true_type() -> None:
    picture = Image.new("CMYK", (3, 2))
    for mime in (None, "image/webp", "image/jpeg"):
        [(_, told, data)] = await read(picture, Image.Image, mime)
        assert told == (mime or "image/png")
        assert Image.open(io.BytesIO(data)).format == told.partition("/")[2].upper()
    [(_, told, _)] = await read(picture, Annotated[Image.Image, Mime("image/webp")], "image/png")
    assert told == "image/webp"
    found = await read([picture, "words"])
    assert [told for _, told, _ in found] == ["image/png", "text/plain"]


@pytest.mark.fault(181)
async def test_records_are_json_of_the_servers_serializer() -> None:
    for value, annotation in ((Person("Ada"), Person), (Person("Ada"), None)):
        assert await read(value, annotation) == one("application/json", '{"firstName":"Ada"}')
    assert await read([{"a": 1}], list[dict[str, int]]) == one("application/json", '[{"a":1}]')
    assert await read([Person("Ada")], list[Person]) == one("application/json", '[{"firstName":"Ada"}]')
    assert await read({"a": 1}, content_type=YAML_TEXT) == one("application/yaml", "a: 1")
    money = SerializerConfig(serializers=[(Person, CustomSerializer(lambda person: person.first_name))])
    assert await read(Person("Ada"), Person, serializer=money) == one("text/plain", "Ada")


async def test_a_content_type_of_ones_own_presents_data() -> None:
    class Shouting(ContentFormatter):
        def format(self, value: Any) -> None:
            self.text = f"{value}!"

        def finish(self) -> TextContent:
            return TextContent(self.text)

    class Loud(ContentType):
        def formatter(self, _: Any) -> Shouting:
            return Shouting()

    assert await read({"a": 1}, content_type=Loud()) == one("text/plain", "{'a': 1}!")
    assert await read({"a": 1}, mime_type="text/x-loud", content_type=Loud()) == one("text/x-loud", "{'a': 1}!")
    assert await read("quiet", content_type=Loud()) == one("text/plain", "quiet")


async def test_ready_made_contents_stay_as_they_are() -> None:
    assert await read(TextResource("a"), mime_type="text/csv") == one("text/csv", "a")
    assert await read(TextResource("a", "z://a", "text/html"), mime_type="text/csv") == [("z://a", "text/html", "a")]
    assert await read(BlobResource(b"a", mime_type="x/y")) == one("x/y", b"a")
    two = [TextResource("a", mime_type="a/a"), BlobResource(b"b", "z://b", "b/b")]
    expected = [("x://y", "a/a", "a"), ("z://b", "b/b", b"b")]
    assert await read(two) == await read(tuple(two)) == await read(ResourceResult(two)) == expected
    assert await read(two, list[TextResource | BlobResource]) == expected
    assert await read([], list[TextResource]) == []
    assert await read(ResourceResult([])) == []


@pytest.mark.fault(187)
async def test_empty_contents_are_contents() -> None:
    assert await read("") == one("text/plain", "")
    assert await read(b"") == one("application/octet-stream", b"")
    assert await read(io.BytesIO()) == one("application/octet-stream", b"")


@pytest.mark.fault(179)
async def test_text_or_binary_is_decided_by_what_is_returned() -> None:
    assert await read('{"a":1}', str, "application/json") == one("application/json", '{"a":1}')
    assert await read(b"x", bytes, "image/png") == one("image/png", b"x")
    assert await read("<svg/>", str, "image/svg+xml") == one("image/svg+xml", "<svg/>")
    assert await read("aGVsbG8=", str, "image/png") == one("image/png", "aGVsbG8=")
    assert await read(b"x", bytes, "text/plain") == one("text/plain", b"x")


@pytest.mark.fault(164)
@each_revision
async def test_what_does_not_exist_is_not_found_with_its_uri(revision: str) -> None:
    @resource("x://none")
    def none() -> str | None:
        return None

    @resource("x://raises")
    async def raises() -> str:
        raise ResourceNotFound("nothing here", data={"uri": "x://raises"})

    code = -32602 if revision == NEWEST else -32002
    async with connected(serving(none, raises), revision) as wire:
        for uri in ("res://nope", "x://none", "x://raises", "", "not a uri", "x://none?a=1"):
            error = (await wire.ask("resources/read", {"uri": uri}))["error"]
            assert error["code"] == code
            assert error["data"] == {"uri": uri}
        error = (await wire.ask("resources/read", {"uri": "x://" + "a" * 10_000}))["error"]
        assert error["code"] == code
        assert len(error["message"]) < 1000
        for params in ({}, {"uri": 3}, {"uri": None}):
            assert (await wire.ask("resources/read", params))["error"]["code"] == -32602


@pytest.mark.fault(176)
async def test_uris_are_listed_returned_and_matched_as_they_were_registered() -> None:
    uris = ["KBInfo://summary", "res://x", "HTTPS://Example.org/A", "urn:a:b", "x://y/", "x://a?c=(d)#e"]
    server = McpServer("uris")

    def asked(ctx: Context) -> str | None:
        return ctx.uri

    for uri in uris:
        server.register(resource(uri, name="r")(functools.partial(asked)))
    async with connected(server) as wire:
        assert [each["uri"] for each in (await wire.ask("resources/list"))["result"]["resources"]] == uris
        for uri in uris:
            [found] = await contents(wire, uri)
            assert found["uri"] == found["text"] == uri
        for uri in ("res://x/", "kbinfo://summary", "x://y"):
            assert "error" in await wire.ask("resources/read", {"uri": uri})

    @resource("users/me")
    def users_me() -> str:
        return "me"

    async with connected(serving(users_me)) as wire:
        [listed] = (await wire.ask("resources/list"))["result"]["resources"]
        assert listed["uri"] == (await contents(wire, "users/me"))[0]["uri"] == "users/me"
        wire.traffic.clear()  # a relative reference is no URI for the official schema


@pytest.mark.fault(172)
@pytest.mark.parametrize("registered", ["res://my docs", "res://my%20docs", "res://café", "res://caf%c3%a9"])
async def test_blanks_and_letters_beyond_ascii_are_read_in_every_spelling(registered: str) -> None:
    @resource(registered)
    def asked() -> str:
        return "found"

    spellings = ["res://my docs", "res://my%20docs"] if "my" in registered else ["res://café", "res://caf%C3%A9"]
    async with connected(serving(asked)) as wire:
        [listed] = (await wire.ask("resources/list"))["result"]["resources"]
        assert listed["uri"].isascii()
        assert " " not in listed["uri"]
        for uri in (*spellings, listed["uri"]):
            assert (await contents(wire, uri))[0]["text"] == "found"


async def test_a_percent_sign_that_escapes_nothing_stands_for_itself() -> None:
    async with connected(serving(resource("x://50%", name="half")(lambda: "found"))) as wire:
        [listed] = (await wire.ask("resources/list"))["result"]["resources"]
        assert listed["uri"] == "x://50%25"
        for uri in ("x://50%", "x://50%25"):
            assert await contents(wire, uri) == [{"uri": "x://50%25", "mimeType": "text/plain", "text": "found"}]


@pytest.mark.fault(177)
@pytest.mark.fault(178)
@pytest.mark.parametrize("mime", ["text/csv", "text/html;profile=mcp-app", "application/json; charset=utf-8"])
@each_revision
async def test_the_declared_type_is_the_same_everywhere(mime: str, revision: str) -> None:
    class Resources(Tool):
        @resource("x://fixed", mime_type=mime)
        def fixed(self) -> str:
            return "a,b"

        @resource("x://of/{name}", mime_type=mime)
        def of(self, name: str) -> Person:
            return Person(name)

    async with connected(serving(Resources), revision) as wire:
        [fixed] = (await wire.ask("resources/list"))["result"]["resources"]
        [of] = (await wire.ask("resources/templates/list"))["result"]["resourceTemplates"]
        read_types = [(await contents(wire, uri))[0]["mimeType"] for uri in ("x://fixed", "x://of/Ada")]
        assert [fixed["mimeType"], of["mimeType"], *read_types] == [mime] * 4


@each_revision
async def test_the_lists_describe_resources_as_far_as_the_revision_can(revision: str) -> None:
    options: dict[str, Any] = {
        "name": "n",
        "title": "T",
        "description": "D",
        "mime_type": "text/plain",
        "annotations": Annotations(audience=["user"], priority=0.5, last_modified="2026-07-28T00:00:00Z"),
        "icons": [Icon("https://example.org/a.png")],
        "meta": {"example.org/a": 1},
    }

    @resource("x://full", size=15, **options)
    def full() -> str:
        return ""

    @resource("x://bare")
    def bare() -> str:
        """Bare."""
        return ""

    @resource("x://of/{a}", **options)
    def template(a: str) -> str:
        return a

    async with connected(serving(full, bare, template), revision) as wire:
        first, second = (await wire.ask("resources/list"))["result"]["resources"]
        [third] = (await wire.ask("resources/templates/list"))["result"]["resourceTemplates"]
        assert second == {"uri": "x://bare", "name": "bare", "description": "Bare."}
        assert (first.pop("uri"), first.pop("size")) == ("x://full", 15)
        assert third.pop("uriTemplate") == "x://of/{a}"
        assert first == third
        assert first["name"] == "n"
        assert first["annotations"]["audience"] == ["user"]
        assert first["annotations"]["priority"] == 0.5
        assert ("lastModified" in first["annotations"]) is (revision >= "2025-06-18")
        assert ("title" in first) is ("_meta" in first) is (revision >= "2025-06-18")
        assert ("icons" in first) is (revision >= "2025-11-25")


@pytest.mark.fault(182)
async def test_asynchronous_methods_are_awaited_behind_anything() -> None:
    async def greet(name: str = "x") -> str:
        return f"hello {name}"

    class Resources(Tool):
        @resource("x://async")
        async def later(self) -> str:
            return "later"

        @resource("x://steps")
        def steps(self) -> Iterator[str]:
            yield "a"
            yield "b"

        @resource("x://async-steps")
        async def async_steps(self) -> AsyncIterator[bytes]:
            yield b"a"

        @resource("x://stream")
        async def stream(self) -> Any:
            return greet("stream")

    partial = resource("x://partial", name="p")(functools.partial(greet, name="partial"))
    async with connected(serving(Resources, partial)) as wire:
        assert [part["text"] for part in await contents(wire, "x://async")] == ["later"]
        assert [part["text"] for part in await contents(wire, "x://steps")] == ["a", "b"]
        assert [part["blob"] for part in await contents(wire, "x://async-steps")] == ["YQ=="]
        assert [part["text"] for part in await contents(wire, "x://stream")] == ["hello stream"]
        assert [part["text"] for part in await contents(wire, "x://partial")] == ["hello partial"]


@pytest.mark.fault(289)
@both_eras
async def test_a_fixed_resource_may_take_the_context_alone(revision: str) -> None:
    @resource("res://x")
    def asked(ctx: Context) -> str:
        return f"{ctx.feature} {ctx.uri}"

    async with connected(serving(asked), revision) as wire:
        assert (await contents(wire, "res://x"))[0]["text"] == "asked res://x"


async def test_a_parameter_without_a_variable_needs_a_default() -> None:
    @resource("x://a")
    def asked(day: str = "today") -> str:
        return day

    async with connected(serving(asked)) as wire:
        assert (await contents(wire, "x://a"))[0]["text"] == "today"

    @resource("x://b")
    def wrong(day: str) -> str:
        return day

    with pytest.raises(DefinitionError, match=r"wrong.*x://b.*'day'"):
        serving(wrong)


@both_eras
async def test_an_unexpected_exception_is_an_internal_error_whose_cause_stands_in_the_log(
    revision: str, caplog: pytest.LogCaptureFixture
) -> None:
    @resource("x://a")
    def asked() -> str:
        try:
            raise KeyError("the deepest cause")
        except KeyError as error:
            raise RuntimeError("secret detail") from error

    @resource("x://link")
    def link() -> ResourceLink:
        return ResourceLink("x://y", "y")

    @resource("x://message")
    def message():
        return PromptMessage.user("x")

    @resource("x://lists")
    def lists():
        return [TextResource("x"), None]

    @resource("x://inner")
    def inner():
        raise InternalError("told on purpose")

    async with connected(serving(asked, link, message, lists, inner), revision) as wire:
        for uri in ("x://a", "x://link", "x://message", "x://lists"):
            error = (await wire.ask("resources/read", {"uri": uri}))["error"]
            assert error["code"] == -32603
            assert "error id" in error["message"]
        assert "the deepest cause" in "".join(logging.Formatter().format(each) for each in caplog.records)
        error = (await wire.ask("resources/read", {"uri": "x://inner"}))["error"]
        assert error == {"code": -32603, "message": "told on purpose"}


@pytest.mark.parametrize("annotation", [PromptMessage, PromptResult, list[PromptMessage], PromptResult | None])
def test_what_only_a_prompt_can_return_is_refused_when_registered(annotation: Any) -> None:
    def asked():
        return None

    asked.__annotations__["return"] = annotation
    with pytest.raises(DefinitionError, match=r"asked: a resource cannot return a Prompt"):
        serving(resource("x://y")(asked))


@pytest.mark.parametrize("annotation", [TextResource, list[BlobResource], ResourceResult])
def test_a_tool_that_returns_contents_is_refused_when_registered(annotation: Any) -> None:
    def asked():
        return None

    asked.__annotations__["return"] = annotation
    with pytest.raises(DefinitionError, match="asked"):
        serving(tool(asked))


async def test_streams_are_closed_unless_they_are_kept() -> None:
    read_one, kept, behind = io.BytesIO(b"a"), io.BytesIO(b"b"), io.BytesIO(b"c")

    class Resources(Tool):
        @resource("x://read")
        def read(self) -> io.BytesIO:
            return read_one

        @resource("x://kept")
        def kept(self) -> io.BytesIO:
            self.ctx.keep(kept)
            return kept

        @resource("x://fails")
        def fails(self):
            return [object(), behind]

    async with connected(serving(Resources)) as wire:
        await contents(wire, "x://read")
        await contents(wire, "x://kept")
        assert "error" in await wire.ask("resources/read", {"uri": "x://fails"})
    assert read_one.closed
    assert not kept.closed
    assert behind.closed


@pytest.mark.fault(183)
@both_eras
async def test_lists_stay_right_while_resources_come_and_go(revision: str) -> None:
    server = McpServer("pages", page_size=50)
    for number in range(150):
        server.register(resource(f"x://{number}", name="r")(lambda: "x"))
    async with connected(server, revision) as wire:
        uris, pages, cursor = [], 0, None
        while pages < 10:
            result = (await wire.ask("resources/list", {"cursor": cursor} if cursor else {}))["result"]
            uris += [each["uri"] for each in result["resources"]]
            pages += 1
            if pages < 3:
                server.unregister(f"x://{pages * 60}")
            server.register(resource(f"x://new/{pages}", name="r")(lambda: "x"))
            cursor = result.get("nextCursor")
            if cursor is None:
                break
        assert len(uris) == len(set(uris))
        assert "x://120" not in uris
        assert uris[:148] == [f"x://{number}" for number in range(150) if number not in (60, 120)]
        assert pages <= 4
        assert (await wire.ask("resources/list", {"cursor": "garbage"}))["error"]["code"] == -32602


@both_eras
async def test_the_capability_is_there_with_resources_or_templates(revision: str) -> None:
    fixed = resource("x://a", name="a")(lambda: "x")
    template = resource("x://a/{b}", name="b")(functools.partial(lambda b: b))
    for things, there in (([fixed], True), ([template], True), ([], False)):
        async with connected(serving(*things), revision) as wire:
            if revision == NEWEST:
                found = (await wire.ask("server/discover"))["result"]["capabilities"]
            else:
                found = (await wire.until(lambda w=wire: w.answer_to("init")))["result"]["capabilities"]
            assert found.get("resources") == ({"subscribe": True, "listChanged": True} if there else None)
            for method in ("resources/list", "resources/templates/list"):
                assert ("result" in await wire.ask(method)) is there
            if not there:
                for method in ("resources/read", "resources/list"):
                    assert (await wire.ask(method, {"uri": "x://a"}))["error"]["code"] == -32601


async def test_resources_and_templates_can_be_disabled_and_taken_back_by_name_uri_class_and_tag() -> None:
    class Resources(Tool):
        @resource("x://my docs", name="docs", tags=["draft"])
        def docs(self) -> str:
            return "docs"

        @resource("x://b")
        def b(self) -> str:
            return "b"

        @resource("x://of/{a}", tags=["draft"])
        def of(self, a: str) -> str:
            return a

        @resource("x://of/{a}/{b}", enabled=False)
        def pair(self, a: str, b: str) -> str:
            return a + b

    server = serving(Resources)

    async def readable(wire: Wire) -> list[str]:
        found = []
        for uri in ("x://my%20docs", "x://b", "x://of/1", "x://of/1/2"):
            if "result" in await wire.ask("resources/read", {"uri": uri}):
                found.append(uri.rpartition("/")[2])
        listed = (await wire.ask("resources/list"))["result"]["resources"]
        templates = (await wire.ask("resources/templates/list"))["result"]["resourceTemplates"]
        assert len(listed) + len(templates) == len(found)
        return found

    async with connected(server) as wire:
        assert await readable(wire) == ["my%20docs", "b", "1"]
        server.enable("pair")
        assert await readable(wire) == ["my%20docs", "b", "1", "2"]
        server.disable(tags=["draft"])
        assert await readable(wire) == ["b", "2"]
        server.enable("x://my docs", "x://of/{a}")
        server.disable("x://b", "x://of/{a}/{b}")
        assert await readable(wire) == ["my%20docs", "1"]
        server.enable("b", "pair")
        server.unregister("x://of/{a}")
        server.unregister("x://my docs")
        assert await readable(wire) == ["b", "2"]
        server.register(resource("x://c", name="c")(lambda: "c"))
        server.unregister(Resources)
        assert [each["uri"] for each in (await wire.ask("resources/list"))["result"]["resources"]] == ["x://c"]
        assert (await wire.ask("resources/templates/list"))["result"]["resourceTemplates"] == []
        assert "error" in await wire.ask("resources/read", {"uri": "x://b"})


def test_one_uri_belongs_to_one_resource_in_every_spelling() -> None:
    first = resource("x://caf%C3%A9", name="first")(lambda: "")
    second = resource("x://café", name="second")(lambda: "")
    server = serving(first)
    with pytest.raises(DefinitionError, match="is there already"):
        server.register(second)
    with pytest.raises(DefinitionError, match="URI"):
        resource("")
    with pytest.raises(DefinitionError, match="is there already"):
        serving(
            resource("x://{a}", name="a")(functools.partial(lambda a: a)),
            resource("x://{a}", name="b")(functools.partial(lambda a: a)),
        )


async def test_a_method_may_be_a_tool_a_prompt_and_a_resource() -> None:
    class Everything(Tool):
        @tool
        @prompt
        @resource("x://all")
        def all(self) -> str:
            return "all"

    async with connected(serving(Everything)) as wire:
        assert await wire.texts("all") == ["all"]
        assert (await wire.ask("prompts/get", {"name": "all"}))["result"]["messages"][0]["content"]["text"] == "all"
        assert (await contents(wire, "x://all"))[0]["text"] == "all"


async def test_reading_blocks_nobody() -> None:
    release = anyio.Event()

    class Resources(Tool):
        @resource("x://slow")
        async def slow(self) -> str:
            await release.wait()
            return "slow"

        @resource("x://fast")
        def fast(self) -> str:
            return "fast"

    async with connected(serving(Resources)) as wire:
        slow = wire.start("resources/read", {"uri": "x://slow"})
        assert (await contents(wire, "x://fast"))[0]["text"] == "fast"
        assert wire.answer_to(slow) is None
        release.set()
        await wire.until(lambda: wire.answer_to(slow))
