"""The laws of the serializer, over randomly made types and data."""

import base64
import binascii
import json
import re
from typing import Any

import jsonschema_rs
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from mcpconnect.errors import LoadError
from mcpconnect.serialization import Case, Include, Serializer, SerializerConfig
from mcpconnect.serialization.text import encode
from tests.properties.types import atoms, cases, names, nearly

CONFIGS = [
    SerializerConfig(),
    SerializerConfig(case=Case.SNAKE, include=Include.NOT_NONE),
    SerializerConfig(case=Case.PASCAL, enum_as="name", decimal_as="number"),
    SerializerConfig(case=Case.UNCHANGED, big_ints="string", use_utc=True, sort_members=True, sort_maps=True),
    SerializerConfig(case=Case.KEBAB, include=Include.NOT_DEFAULT, datetime_format="unix"),
    SerializerConfig(case=Case.SCREAMING_SNAKE, include=Include.NOT_EMPTY),
]

relaxed = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


def outcome(load: Any, *args: Any, **options: Any) -> tuple[str, Any]:
    try:
        return "value", load(*args, **options)
    except LoadError as error:
        return "problems", error.problems


def is_base64(text: str) -> bool:
    if match := re.match(r"data:[^,]*;base64,", text):
        text = text[match.end() :]
    try:
        base64.b64decode(text, validate=True)
        binascii.a2b_base64(text.encode("ascii"), strict_mode=True)
    except ValueError:
        return False
    return True


def asserting(schema: Any) -> Any:
    """Turn the annotation `contentEncoding` into a format, so that the validator asserts it."""
    if isinstance(schema, dict):
        changed = {key: asserting(part) for key, part in schema.items()}
        return {**changed, "format": "base64"} if schema.get("contentEncoding") == "base64" else changed
    return [asserting(part) for part in schema] if isinstance(schema, list) else schema


def validator(schema: dict[str, Any]) -> Any:
    return jsonschema_rs.Draft202012Validator(asserting(schema), validate_formats=True, formats={"base64": is_base64})


@relaxed
@given(st.data())
def test_strict_loading_accepts_exactly_what_the_input_schema_accepts(data: st.DataObject) -> None:
    case = data.draw(cases())
    serializer = Serializer()
    candidate = data.draw(nearly(serializer.dump(data.draw(case.values), case.annotation)) | atoms)
    schema = serializer.json_schema(case.annotation, view="input")
    kind, result = outcome(serializer.load, case.annotation, candidate, strict=True)
    event(kind)
    assert validator(schema).is_valid(candidate) == (kind == "value"), (schema, candidate, result)


@relaxed
@given(st.data())
def test_what_is_written_is_valid_under_the_output_schema(data: st.DataObject) -> None:
    case = data.draw(cases())
    serializer = Serializer(data.draw(st.sampled_from(CONFIGS)))
    dumped = serializer.dump(data.draw(case.values), case.annotation)
    schema = serializer.json_schema(case.annotation)
    assert validator(schema).is_valid(dumped), (schema, dumped)


@relaxed
@given(st.data())
def test_what_is_written_can_be_read_back(data: st.DataObject) -> None:
    case = data.draw(cases())
    serializer = Serializer(SerializerConfig(case=data.draw(st.sampled_from(list(Case)))))
    value = data.draw(case.values)
    for strict in (True, False):
        assert serializer.load(case.annotation, serializer.dump(value, case.annotation), strict=strict) == value
        assert serializer.loads(case.annotation, serializer.dumps(value, case.annotation), strict=strict) == value


@relaxed
@given(st.data())
def test_the_fast_text_is_the_encoded_value(data: st.DataObject) -> None:
    case = data.draw(cases())
    serializer = Serializer(data.draw(st.sampled_from(CONFIGS)))
    value = data.draw(case.values)
    for annotation in ((case.annotation,), ()):
        text, encoded = serializer.dumps(value, *annotation), encode(serializer.dump(value, *annotation))
        if serializer.config.decimal_as == "number":  # the text has every digit; a dumped value has those of a double
            assert json.loads(text) == json.loads(encoded)
        else:
            assert text == encoded


@relaxed
@given(st.data())
def test_the_compiled_loader_does_what_marshmallow_does(data: st.DataObject) -> None:
    case = data.draw(cases())
    serializer = Serializer(data.draw(st.sampled_from(CONFIGS)))
    candidate = data.draw(nearly(serializer.dump(data.draw(case.values), case.annotation)) | atoms)
    strict = data.draw(st.booleans())
    extra = data.draw(st.sampled_from(["refuse", "ignore"]))
    node = serializer.plan(case.annotation)
    fast = outcome(serializer._loader.load, node, candidate, strict=strict, extra=extra)
    slow = outcome(serializer._loader.load_slowly, node, candidate, strict=strict, extra=extra)
    assert fast == slow


@relaxed
@given(st.data())
def test_leniency_only_adds(data: st.DataObject) -> None:
    case = data.draw(cases())
    serializer = Serializer()
    candidate = data.draw(nearly(serializer.dump(data.draw(case.values), case.annotation)) | atoms)
    strict = outcome(serializer.load, case.annotation, candidate, strict=True)
    if strict[0] == "value":
        assert outcome(serializer.load, case.annotation, candidate, strict=False) == strict


@st.composite
def functions(draw: st.DrawFn) -> Any:
    """Make a function with random parameters, some with a default; with it, a strategy of right arguments."""
    types = draw(st.dictionaries(names, cases(), min_size=1, max_size=4))
    defaults = {name: draw(st.none() | case.values) for name, case in types.items() if draw(st.booleans())}
    header = ", ".join(["*", *(f"{name}=_defaults[{name!r}]" if name in defaults else name for name in types)])
    namespace: dict[str, Any] = {"_defaults": defaults}
    exec(f"def f({header}): ...", namespace)
    function = namespace["f"]
    function.__annotations__ = {name: case.annotation for name, case in types.items()}
    required = {name: case.values for name, case in types.items() if name not in defaults}
    optional = {name: case.values for name, case in types.items() if name in defaults}
    return function, types, st.fixed_dictionaries(required, optional=optional)


@relaxed
@given(st.data())
def test_arguments_are_taken_exactly_if_the_published_schema_takes_them(data: st.DataObject) -> None:
    function, types, values = data.draw(functions())
    serializer = Serializer()
    parameters = serializer.parameters(function)
    wires = {member.name: member.wire for member in parameters.members}
    right = {wires[n]: serializer.dump(v, types[n].annotation) for n, v in data.draw(values).items()}
    candidate = data.draw(nearly(right))
    if not isinstance(candidate, dict):
        return
    additional = data.draw(st.booleans())
    schema = parameters.json_schema(additional=additional)
    extra = "ignore" if additional else "refuse"
    kind, result = outcome(parameters.load, candidate, strict=True, extra=extra)
    # The stated exception: a parameter that defaults to None is published as its plain type, and null means "not given".
    none_means_nothing = {m.wire for m in parameters.members if m.default is None}
    told = {k: v for k, v in candidate.items() if not (v is None and k in none_means_nothing)}
    if additional and has_nested_records(schema):
        return  # what is unknown below the top is tested with records of their own
    assert validator(schema).is_valid(told) == (kind == "value"), (schema, candidate, result)


def has_nested_records(schema: dict[str, Any]) -> bool:
    return any("object" in str(part) for part in schema["properties"].values()) or "$defs" in schema


@relaxed
@given(st.data())
def test_arguments_that_are_right_reach_the_function(data: st.DataObject) -> None:
    function, types, values = data.draw(functions())
    serializer = Serializer(SerializerConfig(case=data.draw(st.sampled_from([Case.CAMEL, Case.KEBAB, Case.PASCAL]))))
    parameters = serializer.parameters(function)
    wires = {member.name: member.wire for member in parameters.members}
    given = data.draw(values)
    sent = {wires[n]: serializer.dump(v, types[n].annotation) for n, v in given.items()}
    loaded = parameters.load(sent, strict=data.draw(st.booleans()))
    assert loaded == given


@relaxed
@given(st.data())
def test_both_loaders_bind_arguments_alike(data: st.DataObject) -> None:
    function, types, values = data.draw(functions())
    parameters = Serializer().parameters(function)
    wires = {member.name: member.wire for member in parameters.members}
    right = {wires[n]: Serializer().dump(v, types[n].annotation) for n, v in data.draw(values).items()}
    candidate = data.draw(nearly(right))
    strict = data.draw(st.booleans())
    loader, node = parameters._loader, parameters._node
    assert outcome(loader.load, node, candidate, strict=strict) == outcome(
        loader.load_slowly, node, candidate, strict=strict
    )
