"""What travels through a client's hands."""

import base64

import pytest

from mcpconnect import DefinitionError
from mcpconnect.context import Sealer

SECRET = "a secret of more than sixteen bytes"


@pytest.mark.parametrize("data", [b"", b"x", b"\0" * 100, "日本".encode(), bytes(range(256))])
def test_what_was_sealed_opens_again(data: bytes) -> None:
    sealer = Sealer(SECRET, "test")
    text = sealer.seal(data)
    assert sealer.open(text) == data
    assert Sealer(SECRET, "test").open(text) == data, "in another process, too"
    assert Sealer(SECRET.encode(), "test").open(text) == data
    assert all(character.isalnum() or character in "-_" for character in text)


def test_nobody_can_read_it() -> None:
    text = Sealer(SECRET, "test").seal(b"something secret and long enough")
    assert b"secret" not in base64.urlsafe_b64decode(text + "==")


def test_another_secret_or_purpose_does_not_open_it() -> None:
    text = Sealer(SECRET, "test").seal(b"data")
    assert Sealer("another secret than the first", "test").open(text) is None
    assert Sealer(SECRET, "other").open(text) is None
    assert Sealer(None, "test").open(text) is None, "one that is random"


def test_the_first_of_several_secrets_seals_and_all_of_them_open() -> None:
    old, new = Sealer("the old secret, long enough", "test"), Sealer("the new secret, long enough", "test")
    both = Sealer(["the new secret, long enough", "the old secret, long enough"], "test")
    assert both.open(old.seal(b"old")) == b"old"
    assert new.open(both.seal(b"new")) == b"new"
    assert old.open(both.seal(b"new")) is None


def test_any_change_makes_it_invalid() -> None:
    sealer = Sealer(SECRET, "test")
    text = sealer.seal(b"some data")
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    for place, character in enumerate(text):
        for other in alphabet:
            if other != character:
                assert sealer.open(text[:place] + other + text[place + 1 :]) is None
    for length in range(len(text)):
        assert sealer.open(text[:length]) is None


@pytest.mark.parametrize("tail", ["=", "==", "A", "-TAMPERED", " ", "\n", "*", ".", "ü", "\0"])
def test_anything_appended_or_inserted_makes_it_invalid(tail: str) -> None:
    sealer = Sealer(SECRET, "test")
    text = sealer.seal(b"some data")
    assert sealer.open(text + tail) is None
    assert sealer.open(tail + text) is None
    assert sealer.open(text[:9] + tail + text[9:]) is None


def test_the_other_alphabet_of_base64_is_no_second_form() -> None:
    sealer = Sealer(SECRET, "test")
    texts = (sealer.seal(b"%d" % number) for number in range(1000))
    text = next(text for text in texts if "-" in text or "_" in text)
    assert sealer.open(text.replace("-", "+").replace("_", "/")) is None


@pytest.mark.parametrize("secret", ["", "short", b"fifteen bytes..", ["long enough to be a secret", "short"]])
def test_a_secret_has_sixteen_bytes(secret: object) -> None:
    with pytest.raises(DefinitionError, match="16 bytes"):
        Sealer(secret, "test")  # type: ignore[arg-type]
