"""The registry of encoders: who is asked first."""

import collections.abc
from typing import Any

import pytest

from mcpconnect.content import Encoder, EncoderRegistry


class Animal: ...


class Dog(Animal): ...


class Poodle(Dog): ...


def encoded(registry: EncoderRegistry, value: Any) -> list[Any]:
    return [encoder.encode(value) for encoder in registry.find(type(value), "tool")]


def test_the_nearest_class_comes_first_whatever_the_order_of_registration() -> None:
    for order in ([Animal, Dog, object], [object, Dog, Animal]):
        registry = EncoderRegistry()
        for cls in order:
            registry.add(cls, lambda value, cls=cls: cls)

        assert encoded(registry, Poodle()) == [Dog, Animal, object]
        assert encoded(registry, Animal()) == [Animal, object]
        assert encoded(registry, 5) == [object]


def test_among_those_of_one_class_the_latest_comes_first() -> None:
    registry = EncoderRegistry()
    registry.add(Dog, lambda value: "first")
    registry.add(Dog, lambda value: "second")

    assert encoded(registry, Dog()) == ["second", "first"]


def test_removing_falls_back_to_the_one_before() -> None:
    registry = EncoderRegistry()
    registry.add(Dog, lambda value: "first")
    registry.add(Dog, lambda value: "second")
    registry.add(Animal, lambda value: "animal")

    registry.remove(Dog)
    assert encoded(registry, Dog()) == ["first", "animal"]
    registry.remove(Dog)
    assert encoded(registry, Dog()) == ["animal"]
    with pytest.raises(KeyError, match="Dog"):
        registry.remove(Dog)


def test_abstract_classes_come_after_real_bases_and_before_object() -> None:
    registry = EncoderRegistry()
    registry.add(object, lambda value: "object")
    registry.add(collections.abc.Mapping, lambda value: "mapping")

    assert encoded(registry, {}) == ["mapping", "object"]
    assert encoded(registry, []) == ["object"]


def test_the_second_base_of_a_class_counts() -> None:
    class Mixin: ...

    class Cat(Animal, Mixin): ...

    registry = EncoderRegistry()
    registry.add(Mixin, lambda value: "mixin")

    assert encoded(registry, Cat()) == ["mixin"]


def test_kinds_limit_an_encoder() -> None:
    class ForTools(Encoder[Dog]):
        kinds = ("tool",)

        def encode(self, value: Dog) -> str:
            return "tool"

    registry = EncoderRegistry()
    registry.add(Dog, ForTools())
    registry.add(Dog, lambda value: "prompt", kinds={"prompt"})

    assert encoded(registry, Dog()) == ["tool"]
    assert [encoder.encode(Dog()) for encoder in registry.find(Dog, "prompt")] == ["prompt"]
    assert registry.find(Dog, "resource") == ()
    with pytest.raises(ValueError, match="tol"):
        registry.add(Dog, str, kinds={"tol"})  # type: ignore[arg-type]


def test_an_encoder_is_an_object_its_class_or_a_function() -> None:
    class Loud(Encoder[Dog]):
        def encode(self, value: Dog) -> str:
            return "WOOF"

    registry = EncoderRegistry()
    for encoder in (Loud(), Loud, lambda value: "WOOF"):
        registry.add(Dog, encoder)

    assert encoded(registry, Dog()) == ["WOOF"] * 3
    assert all(encoder.supports(Dog()) for encoder in registry.find(Dog, "tool"))
    with pytest.raises(TypeError, match="an encoder is"):
        registry.add(Dog, 5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="registered for classes"):
        registry.add("Dog", str)  # type: ignore[arg-type]
    with pytest.raises(NotImplementedError):
        Encoder[Dog]().encode(Dog())


def test_an_asynchronous_encoder_is_refused() -> None:
    async def encode(value: Dog) -> str:
        return "woof"

    class Slow(Encoder[Dog]):
        async def encode(self, value: Dog) -> str:  # type: ignore[override]
            return "woof"

    for encoder in (encode, Slow()):
        with pytest.raises(TypeError, match="synchronous"):
            EncoderRegistry().add(Dog, encoder)


def test_every_change_is_seen_by_those_who_cache() -> None:
    registry = EncoderRegistry()
    seen = [registry.version]
    registry.add(Dog, str)
    seen.append(registry.version)
    registry.remove(Dog)
    seen.append(registry.version)

    assert len(set(seen)) == 3
    assert not registry


def test_a_class_that_cannot_be_asked_is_no_base() -> None:
    class Odd(type):
        def __subclasscheck__(cls, subclass: type) -> bool:
            raise TypeError("not today")

    class Strange(metaclass=Odd): ...

    registry = EncoderRegistry()
    registry.add(Strange, str)

    assert registry.find(Dog, "tool") == ()
