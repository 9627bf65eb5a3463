"""Names on the wire: one case style for results, arguments and schemas, and none for the protocol."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field, make_dataclass
from typing import Annotated, Any, NamedTuple, TypedDict

import pytest

from mcpconnect import Case, DefinitionError, McpServer, Param, SerializerConfig, TextContent, Tool, Visibility, tool
from mcpconnect.serialization import Name, Unwrap
from tests.interaction.seen import UNSAID, seen
from tests.wire import NEWEST, REVISIONS, connected, described, serving

pytestmark = pytest.mark.anyio
every_revision = pytest.mark.parametrize("revision", REVISIONS)

NAMES: dict[Case, dict[str, str]] = {
    Case.SNAKE: {
        "HTTPResponse": "http_response",
        "userID": "user_id",
        "XMLHTTPRequest": "xmlhttp_request",
        "XMLHttpRequest": "xml_http_request",
        "firstName": "first_name",
        "Address1Line": "address1_line",
    },
    Case.CAMEL: {
        "myId": "myId",
        "userID": "userID",
        "first_name": "firstName",
        "HTTPResponse": "httpResponse",
        "address_line_1": "addressLine1",
        "ipv4_addr": "ipv4Addr",
        "oauth2_token": "oauth2Token",
        "x1": "x1",
    },
    Case.PASCAL: {"FirstName": "FirstName", "first_name": "FirstName", "HTTPResponse": "HTTPResponse"},
    Case.KEBAB: {"HTTPResponse": "http-response", "first_name": "first-name", "x1": "x1"},
    Case.SCREAMING_SNAKE: {"HTTPResponse": "HTTP_RESPONSE", "MAX_SIZE": "MAX_SIZE", "first_name": "FIRST_NAME"},
    Case.LOWER: {"First_Name": "first_name", "userID": "userid"},
    Case.UPPER: {"First_Name": "FIRST_NAME", "userID": "USERID"},
    Case.UNCHANGED: {"First_Name": "First_Name", "userID": "userID"},
}


def parametrised(names: dict[Case, dict[str, str]]) -> Any:
    return pytest.mark.parametrize(
        ("case", "name", "wire_name"),
        [(case, name, wire) for case, table in names.items() for name, wire in table.items()],
    )


@pytest.mark.fault(52)
@pytest.mark.fault(53)
@pytest.mark.fault(54)
@parametrised(NAMES)
async def test_a_name_has_its_form_as_member_parameter_and_in_both_schemas(
    case: Case, name: str, wire_name: str
) -> None:
    scope: dict[str, Any] = {"Record": make_dataclass("Record", [(name, int)])}
    exec(f"def echo(record: Record, {name}: int) -> Record:\n    return Record({name} + record.{name})", scope)
    server = serving(tool(scope["echo"]), serializer=SerializerConfig(case=case))
    async with connected(server) as wire:
        made = (await wire.tools())["echo"]
        record_name = {Case.UPPER: "RECORD", Case.SCREAMING_SNAKE: "RECORD", Case.PASCAL: "Record"}.get(case, "record")
        properties = made["inputSchema"]["properties"]
        assert list(properties) == made["inputSchema"]["required"] == [record_name, wire_name]
        assert list(properties[record_name]["properties"]) == [wire_name]
        assert list(made["outputSchema"]["properties"]) == made["outputSchema"]["required"] == [wire_name]
        result = await wire.call("echo", {record_name: {wire_name: 1}, wire_name: 2})
        assert result["structuredContent"] == {wire_name: 3}
        assert json.loads(result["content"][0]["text"]) == {wire_name: 3}
        again = await wire.call("echo", {record_name: result["structuredContent"], wire_name: 4})
        assert again["structuredContent"] == {wire_name: 7}


@pytest.mark.fault(54)
@pytest.mark.parametrize("case", list(Case))
async def test_different_members_never_share_a_name_silently(case: Case) -> None:
    names = ["address_line_1", "address_line1", "addressLine1", "AddressLine1", "ADDRESS_LINE_1", "address1line"]
    for first in names:
        for second in names:
            if first == second:
                continue
            record = make_dataclass("Record", [(first, int), (second, int)])
            outcome = await seen(record(1, 2), UNSAID, server={"serializer": SerializerConfig(case=case)})
            assert outcome.is_error or len(outcome.data) == 2


@pytest.mark.fault(55)
@pytest.mark.fault(56)
@pytest.mark.parametrize("case", [Case.CAMEL, Case.SNAKE, Case.UNCHANGED])
async def test_names_that_meet_are_an_error_that_names_both(case: Case) -> None:
    @dataclass
    class Hidden:
        field: int = 1
        _field: int = 2

    @dataclass
    class Twice:
        user_id: int = 1
        userId: int = 2

    @dataclass
    class Renamed:
        one: Annotated[int, Name("two")] = 1
        two: int = 2

    @dataclass
    class Inner:
        size: int = 1

    @dataclass
    class Flat:
        size: int = 2
        inner: Annotated[Inner, Unwrap] = field(default_factory=Inner)

    config = SerializerConfig(case=case, visibility=set(Visibility))
    for record, names in ((Hidden, "field"), (Twice, "user"), (Renamed, "two"), (Flat, "size")):
        if record is Twice and case is Case.UNCHANGED:
            continue

        def takes(x: record) -> str:  # type: ignore[valid-type]
            return "never"

        with pytest.raises(DefinitionError, match=names):
            serving(tool(takes), serializer=config)
        for annotation in (record, UNSAID, list[record]):  # type: ignore[valid-type]
            value = [record()] if annotation not in (record, UNSAID) else record()
            outcome = await seen(value, annotation, server={"serializer": config})
            assert outcome.is_error
            assert names in outcome.text


@pytest.mark.fault(56)
def test_parameters_that_meet_are_refused_when_they_are_registered() -> None:
    class Meeting(Tool):
        @tool
        def method(self, user_id: int, userId: int) -> str: ...

    class Renamed(Tool):
        @tool
        def method(self, one: Annotated[int, Param(name="two")], two: int) -> str: ...

    for cls, match in ((Meeting, r"Meeting\.method.*user_id.*userId"), (Renamed, r"Renamed\.method.*one.*two")):
        with pytest.raises(DefinitionError, match=match):
            McpServer("test").register(cls)


@pytest.mark.fault(57)
@every_revision
@pytest.mark.parametrize("case", [Case.CAMEL, Case.SNAKE, Case.UNCHANGED, Case.KEBAB])
async def test_a_reserved_word_loses_its_underscore_on_the_wire(case: Case, revision: str) -> None:
    @dataclass
    class Range:
        from_: str
        class_: str

    class Words(Tool):
        @tool
        def range(self, from_: str, class_: str, id_: int = 0, value_: int = 0) -> Range:
            return Range(from_, class_)

        @tool
        def take(self, range_: Range) -> str:
            return f"{range_.from_} {range_.class_}"

    async with connected(serving(Words, serializer=SerializerConfig(case=case)), revision) as wire:
        made = await wire.tools()
        assert list(made["range"]["inputSchema"]["properties"]) == ["from", "class", "id", "value_"]
        assert made["range"]["inputSchema"]["required"] == ["from", "class"]
        result = await wire.call("range", {"from": "a", "class": "b", "id": 1})
        assert json.loads(result["content"][0]["text"]) == {"from": "a", "class": "b"}
        assert await wire.texts("range", {"from_": "a", "class_": "b"}) == ['{"from":"a","class":"b"}']
        assert await wire.texts("take", {"range": {"from": "a", "class": "b"}}) == ["a b"]


@pytest.mark.fault(58)
@every_revision
@pytest.mark.parametrize("case", [Case.CAMEL, Case.SCREAMING_SNAKE])
async def test_an_explicit_name_holds_everywhere_and_is_not_cased(case: Case, revision: str) -> None:
    @dataclass
    class Place:
        zip_code: Annotated[str, Name("PLZ_code")]
        house: Annotated[int, Param(name="HausNr")] = 1

    class Cities(Tool):
        @tool
        def find(
            self, city: Annotated[str, Param(name="cityName")], unit: Annotated[str, Param(name="u_n")] = "C"
        ) -> str:
            return f"{city} {unit}"

        @tool
        def place(self, place: Annotated[Place, Param(name="where")]) -> Place:
            return place

    async with connected(serving(Cities, serializer=SerializerConfig(case=case)), revision) as wire:
        made = await wire.tools()
        schema = made["find"]["inputSchema"]
        assert list(schema["properties"]) == ["cityName", "u_n"]
        assert schema["required"] == ["cityName"]
        assert schema["properties"]["u_n"]["default"] == "C"
        assert await wire.texts("find", {"cityName": "Rome", "u_n": "F"}) == ["Rome F"]
        missing = await wire.call("find", {})
        assert missing["isError"] is True
        assert "cityName" in missing["content"][0]["text"]
        place = {"PLZ_code": "1", "HausNr": 2}
        assert list(made["place"]["inputSchema"]["properties"]["where"]["properties"]) == list(place)
        assert json.loads((await wire.texts("place", {"where": place}))[0]) == place
        if "outputSchema" in made["place"]:
            assert list(made["place"]["outputSchema"]["properties"]) == list(place)


@pytest.mark.fault(59)
@every_revision
@pytest.mark.parametrize("case", [Case.UPPER, Case.KEBAB, lambda name: f"x-{name}"], ids=["upper", "kebab", "own"])
async def test_the_protocols_own_names_are_never_cased(case: Any, revision: str) -> None:
    @dataclass
    class Row:
        is_error: bool = False
        mime_type: str = "x"

    class Cased(Tool):
        @tool(title="T", read_only=True, meta={"some_key": {"inner_key": 1}})
        def some_tool(self, some_value: int = 0) -> Row:
            return Row()

        @tool
        def block(self) -> TextContent:
            return TextContent("x", meta={"some_key": 1})

        @tool
        def fails(self) -> str:
            raise ValueError

    named: Callable[[str], str] = {Case.UPPER: str.upper, Case.KEBAB: lambda name: name.replace("_", "-")}.get(
        case, case
    )
    async with connected(serving(Cased, serializer=SerializerConfig(case=case)), revision) as wire:
        made = (await wire.tools())["some_tool"]
        assert list(made["inputSchema"]["properties"]) == [named("some_value")]
        assert "_meta" not in made or made["_meta"] == {"some_key": {"inner_key": 1}}
        result = await wire.call("some_tool")
        assert json.loads(result["content"][0]["text"]) == {named("is_error"): False, named("mime_type"): "x"}
        assert (await wire.call("block"))["content"][0]["type"] == "text"
        assert (await wire.call("fails"))["isError"] is True
        # `connected` checks every message against the official schema: initialize, tools/list, tools/call.
        first = next(json.loads(data) for sender, data in wire.traffic if sender == "server")
        assert "protocolVersion" in first["result"] or revision == NEWEST


async def test_all_kinds_of_records_follow_the_style() -> None:
    class Pair(NamedTuple):
        first_name: str

    class Person(TypedDict):
        first_name: str

    class Slotted:
        __slots__ = ("first_name",)
        first_name: str

        def __init__(self) -> None:
            self.first_name = "Ann"

    class Plain:
        def __init__(self) -> None:
            self.first_name = "Ann"

    for value, annotation in (
        (Pair("Ann"), Pair),
        ({"first_name": "Ann"}, Person),
        (Slotted(), Slotted),
        (Plain(), Plain),
        (Plain(), UNSAID),
        (Pair("Ann"), UNSAID),
    ):
        assert (await seen(value, annotation)).data == {"firstName": "Ann"}
    assert (await seen({"first_name": "Ann"}, UNSAID)).data == {"first_name": "Ann"}, "nobody declared a record"


async def test_arguments_may_have_a_style_of_their_own() -> None:
    @dataclass
    class Row:
        row_id: int

    class Rows(Tool):
        @tool
        def echo(self, row_id: int, the_row: Row) -> Row:
            return the_row

    config = SerializerConfig(case=Case.CAMEL, argument_case=Case.SNAKE)
    made = (await described(Rows, serializer=config))["echo"]
    assert list(made["inputSchema"]["properties"]) == ["row_id", "the_row"]
    assert list(made["outputSchema"]["properties"]) == ["rowId"]
