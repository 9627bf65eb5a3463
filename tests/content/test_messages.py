"""Messages, and the results of prompts and resources."""

import io
from typing import Any

import pytest
from PIL import Image

from mcpconnect import (
    AudioContent,
    BlobResource,
    CacheControl,
    ContentList,
    EmbeddedResource,
    ImageContent,
    PromptMessage,
    PromptResult,
    ResourceResult,
    TextContent,
    TextResource,
)


@pytest.mark.parametrize("say", [PromptMessage.user, PromptMessage.assistant])
@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ("text", "text"),
        ("", "text"),
        (TextContent("t"), "text"),
        (AudioContent(b"x", "audio/wav"), "audio"),
        (Image.new("L", (1, 1)), "image"),
        (b"x", "resource"),
        (bytearray(b"x"), "resource"),
        (io.BytesIO(b"x"), "resource"),
        (TextResource("t", "x://t"), "resource"),
        (BlobResource(b"t"), "resource"),
    ],
)
def test_a_message_takes_anything_that_is_content(say: Any, content: Any, kind: str) -> None:
    message = say(content)
    assert isinstance(message, PromptMessage)
    assert message.role == say.__name__
    assert message.content.type == kind


def test_a_list_becomes_a_message_each() -> None:
    picture = Image.new("L", (1, 1))
    for container in (list, tuple, ContentList):
        found = PromptMessage.user(container(["a", picture, TextContent("b")]))
        assert [message.content.type for message in found] == ["text", "image", "text"]
        assert {message.role for message in found} == {"user"}
    assert PromptMessage.assistant([]) == []


@pytest.mark.parametrize("content", [3, None, {"a": 1}, object(), [3], PromptResult()])
def test_what_is_no_content_is_refused_by_its_class(content: Any) -> None:
    wrong = content[0] if isinstance(content, list) else content
    with pytest.raises(TypeError, match=type(wrong).__name__):
        PromptMessage.user(content)


def test_a_message_is_made_by_hand_too() -> None:
    assert PromptMessage("user", "x").content == TextContent("x")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="'system'"):
        PromptMessage("system", TextContent("x"))  # type: ignore[arg-type]
    with pytest.raises(AttributeError):
        PromptMessage.user("x").role = "assistant"  # type: ignore[misc]


def test_a_result_takes_messages_texts_and_blocks_in_any_nesting() -> None:
    hello = PromptMessage.user("hello")
    for given in ("hello", TextContent("hello"), hello, [hello], (each for each in ["hello"]), [["hello"]]):
        assert PromptResult(given).messages == (hello,)
    assert PromptResult().messages == ()
    assert PromptResult(PromptMessage.user(["a", "b"]), "d", {"m": 1}).meta == {"m": 1}
    for wrong in (3, [3], [ImageContent(b"", "image/png"), None]):
        with pytest.raises(TypeError, match="messages"):
            PromptResult(wrong)


def test_a_resource_result_takes_contents() -> None:
    text, blob = TextResource("a"), BlobResource(b"b")
    assert ResourceResult(text).contents == (text,)
    assert ResourceResult(each for each in (text, blob)).contents == (text, blob)
    assert ResourceResult([], {"m": 1}, CacheControl(1)).cache == CacheControl(1, "private")
    for wrong in ("a", [TextContent("a")], [EmbeddedResource(text)]):
        with pytest.raises(TypeError, match="contents"):
            ResourceResult(wrong)  # type: ignore[arg-type]
