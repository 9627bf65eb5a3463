"""Whose fault it was, and who may read it: over the newest revision of each era."""

import logging
import sys

import anyio
import pytest

from mcpconnect import ProtocolError, Tool, ToolError, tool
from tests.wire import NEWEST, REVISIONS, connected, serving

pytestmark = pytest.mark.anyio
both_eras = pytest.mark.parametrize("revision", ["2025-11-25", NEWEST])


class Failing(Tool):
    @tool
    def value_error(self) -> str:
        raise ValueError("bad city")

    @tool
    async def async_value_error(self) -> str:
        raise ValueError("bad city")

    @tool
    def key_error(self) -> str:
        raise KeyError("x")

    @tool
    def empty_value_error(self) -> str:
        raise ValueError

    @tool
    def assertion(self) -> str:
        raise AssertionError

    @tool
    def secret(self) -> str:
        raise RuntimeError("postgres://u:pw@h/db")

    @tool
    def leaves(self) -> str:
        sys.exit(3)

    @tool
    async def group(self) -> str:
        async def fail(error: Exception) -> None:
            raise error

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(fail, ValueError("first"))
            tasks.start_soon(fail, KeyError("second"))
        return "never"

    @tool
    async def generator(self):
        yield 1
        raise ValueError("boom")

    @tool
    def plain_generator(self):
        yield 1
        raise ValueError("boom")


EXPECTED = {
    "value_error": ("ValueError", "ValueError: bad city"),
    "async_value_error": ("ValueError", "ValueError: bad city"),
    "key_error": ("KeyError", "KeyError: x"),
    "empty_value_error": ("ValueError", "ValueError"),
    "assertion": ("AssertionError", "AssertionError"),
    "secret": ("RuntimeError", "RuntimeError: postgres://u:pw@h/db"),
    "leaves": ("SystemExit", "SystemExit: 3"),
    "generator": ("ValueError", "ValueError: boom"),
    "plain_generator": ("ValueError", "ValueError: boom"),
}


@pytest.mark.fault(9)
@pytest.mark.fault(136)
@pytest.mark.fault(138)
@pytest.mark.fault(139)
@pytest.mark.fault(140)
@both_eras
@pytest.mark.parametrize("name", EXPECTED)
async def test_an_exception_shows_its_class_and_an_id_that_the_log_explains(
    name: str, revision: str, caplog: pytest.LogCaptureFixture
) -> None:
    for mode, text in zip(("hidden", "message"), EXPECTED[name], strict=True):
        caplog.clear()
        async with connected(serving(Failing, errors=mode), revision) as wire:
            result = await wire.call(name)
            assert result["isError"] is True
            assert "structuredContent" not in result
            (block,) = result["content"]
            record = next(record for record in caplog.records if record.event == "tool-failed")  # type: ignore[attr-defined]
            assert block["text"] == f"{name} failed: {text} (error id {record.error_id})"  # type: ignore[attr-defined]
            assert record.levelno == logging.ERROR
            assert record.exc_info is not None
            assert (await wire.ask("tools/list"))["result"]["tools"], "the server keeps serving"


@pytest.mark.fault(141)
async def test_a_group_names_its_leaves() -> None:
    for mode, texts in (("hidden", ["ValueError", "KeyError"]), ("message", ["ValueError: first", "KeyError: second"])):
        async with connected(serving(Failing, errors=mode)) as wire:
            (text,) = await wire.texts("group")
            assert all(part in text for part in texts)
            assert "unhandled errors" not in text
            assert "sub-exception" not in text


async def test_the_models_errors_keep_their_text_and_are_never_empty() -> None:
    class Deliberate(Tool):
        @tool
        def plain(self) -> str:
            raise ToolError("There is no account 7.")

        @tool
        def empty(self) -> str:
            raise ToolError

        @tool(errors=(LookupError,))
        def named(self) -> str:
            raise KeyError("no such key")

        @tool(errors=LookupError)
        def named_empty(self) -> str:
            raise IndexError

        @tool(errors=(LookupError,))
        def other(self) -> str:
            raise ValueError("hidden")

        @tool
        async def grouped(self) -> str:
            raise ExceptionGroup("all", [ToolError("one"), ExceptionGroup("inner", [ToolError("two")])])

    async with connected(serving(Deliberate)) as wire:
        assert await wire.texts("plain") == ["There is no account 7."]
        assert await wire.texts("empty") == ["empty failed: ToolError"]
        assert await wire.texts("named") == ["no such key"]
        assert await wire.texts("named_empty") == ["named_empty failed: IndexError"]
        (text,) = await wire.texts("other")
        assert text.startswith("other failed: ValueError (error id ")
        assert await wire.texts("grouped") == ["one\ntwo"]
        assert (await wire.call("plain"))["isError"] is True


@pytest.mark.fault(137)
@both_eras
async def test_a_protocol_error_keeps_its_code_and_data(revision: str) -> None:
    class Refusing(Tool):
        @tool
        def own_code(self) -> str:
            raise ProtocolError("not now", code=-31001, data={"retry": 5})

        @tool
        async def grouped(self) -> str:
            raise ExceptionGroup("all", [ProtocolError("not now", code=7)])

    async with connected(serving(Refusing), revision) as wire:
        answer = await wire.ask("tools/call", {"name": "own_code"})
        assert answer["error"] == {"code": -31001, "message": "not now", "data": {"retry": 5}}
        assert (await wire.ask("tools/call", {"name": "grouped"}))["error"]["code"] == 7


@pytest.mark.fault(135)
@pytest.mark.parametrize("revision", REVISIONS)
async def test_an_unknown_tool_is_a_protocol_error_that_names_it(revision: str) -> None:
    async with connected(serving(Failing), revision) as wire:
        answer = await wire.ask("tools/call", {"name": "nope", "arguments": {}})
        assert answer["error"]["code"] == -32602
        assert "nope" in answer["error"]["message"]


@pytest.mark.fault(142)
@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize("method", ["totally/bogus", "completion/complete", "resources/list", "tasks/get"])
async def test_what_is_not_offered_is_an_unknown_method(method: str, revision: str) -> None:
    async with connected(serving(Failing), revision) as wire:
        assert (await wire.ask(method))["error"]["code"] == -32601


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"name": 5},
        {"name": None},
        {"name": "value_error", "arguments": [1]},
        {"name": "value_error", "arguments": "x"},
    ],
)
async def test_a_malformed_call_is_invalid_params(params: dict[str, object], revision: str) -> None:
    async with connected(serving(Failing), revision) as wire:
        assert (await wire.ask("tools/call", params))["error"]["code"] == -32602


@pytest.mark.fault(104)
@pytest.mark.parametrize("revision", REVISIONS)
async def test_absent_and_null_arguments_are_none_at_all(revision: str) -> None:
    class Simple(Tool):
        @tool
        def count(self, start: int = 3) -> int:
            return start

    async with connected(serving(Simple), revision) as wire:
        for params in ({"name": "count"}, {"name": "count", "arguments": None}, {"name": "count", "arguments": {}}):
            assert (await wire.ask("tools/call", params))["result"]["content"][0]["text"] == "3"
