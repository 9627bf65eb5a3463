"""What a decorator and a server are given is checked where it is given, never when a client asks."""

from typing import Any

import pytest

from mcpconnect import DefinitionError, McpServer, tool


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("name", 5), ("name", ""), ("title", 5), ("description", b"x"), ("tags", {5}), ("tags", "admin"),
        ("read_only", "yes"), ("open_world", 1), ("thread", 0), ("enabled", "no"), ("icons", "a.png"), ("icons", ["a"]),
        ("meta", 5), ("meta", {"a": object()}), ("meta", {"a": float("nan")}), ("input_schema", 5),
        ("output_schema", "x"), ("content_type", "json"), ("timeout", "5"), ("timeout", True),
        ("timeout", float("inf")), ("timeout", 0),
    ],
)  # fmt: skip
def test_an_option_of_the_wrong_kind_is_refused_before_anything_is_listed(option: str, value: Any) -> None:
    def method() -> str:
        return ""

    with pytest.raises(DefinitionError, match=option):
        McpServer("s").register(tool(**{option: value})(method))


def test_an_unknown_option_is_told_of_the_decorator() -> None:
    with pytest.raises(TypeError, match=r"^tool\(\) got an unexpected keyword argument 'readonly'$"):
        tool(readonly=True)  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("version", 1.0), ("version", None), ("title", 5), ("instructions", ["x"]), ("website_url", 5),
        ("icons", "a.png"), ("icons", ["a.png"]), ("page_size", "x"), ("page_size", 0), ("limits", {}),
        ("serializer", "camel"), ("content_type", "yaml"),
    ],
)  # fmt: skip
def test_a_setting_of_a_server_of_the_wrong_kind_is_refused(setting: str, value: Any) -> None:
    with pytest.raises(DefinitionError, match=setting):
        McpServer("s", **{setting: value})


def test_tags_are_no_single_text_when_enabling_either() -> None:
    for switch in (McpServer("s").enable, McpServer("s").disable):
        with pytest.raises(DefinitionError, match="tags='admin'"):
            switch(tags="admin")
