"""Objects of classes that declare nothing."""

from typing import Any

import pytest

from mcpconnect.errors import SerializationError
from mcpconnect.serialization import (
    OMIT,
    CustomSerializer,
    Include,
    IncludeContext,
    Members,
    Rule,
    Serializer,
    SerializerConfig,
    Visibility,
)


class Bag:
    """An object with the attributes that it is given."""

    def __init__(self, **attributes: Any) -> None:
        vars(self).update(attributes)

    @property
    def size(self) -> int:
        return len(vars(self))

    @property
    def broken(self) -> int:
        raise ZeroDivisionError


def dump(value: Any, **config: Any) -> Any:
    return Serializer(SerializerConfig(**config)).dump(value)


def test_the_settings_of_records_hold() -> None:
    bag = Bag(user_id=1, _hidden=2, none=None, empty="")
    assert dump(bag) == {"userId": 1, "none": None, "empty": ""}
    assert dump(bag, include=Include.NOT_NONE) == dump(bag, include=Include.NOT_DEFAULT) == {"userId": 1, "empty": ""}
    assert dump(bag, include=Include.NOT_EMPTY) == {"userId": 1}
    assert dump(bag, visibility=set(Visibility), ignore={"none", "empty"}) == {"userId": 1, "hidden": 2}
    assert list(dump(bag, sort_members=True)) == ["empty", "none", "userId"]
    assert dump(bag, rules={Bag: Rule(ignore=["user_id", "none"])}) == {"empty": ""}


def test_an_include_function_is_asked() -> None:
    def wanted(context: IncludeContext) -> bool:
        return context.name != "a"

    assert dump(Bag(a=1, b=2), include=wanted) == {"b": 2}


def test_properties_are_shown_if_configured() -> None:
    assert dump(Bag(a=1), members={Members.PROPERTIES}, ignore={"broken"}) == {"size": 1}
    with pytest.raises(SerializationError, match=r"^\$\.broken: the property broken failed with ZeroDivisionError$"):
        dump(Bag(a=1), members=set(Members))


def test_two_attributes_with_one_name_are_an_error() -> None:
    with pytest.raises(
        SerializationError, match="two attributes are both written as 'userId', one of them is 'userId'"
    ):
        dump(Bag(user_id=1, userId=2))


def test_paths_lead_into_the_attributes_and_omit_is_obeyed() -> None:
    with pytest.raises(SerializationError, match=r"^\$\.a\[0\]: "):
        dump(Bag(a=[object()]))
    assert dump(Bag(a=1j, b=2), serializers={complex: CustomSerializer(lambda z: OMIT)}) == {"b": 2}


def test_cycles_through_plain_objects_and_slots_are_found() -> None:
    class Slotted:
        __slots__ = ("other",)

    bag, slotted = Bag(), Slotted()
    bag.inner = slotted  # type: ignore[attr-defined]
    slotted.other = bag
    with pytest.raises(SerializationError, match=r"^\$\.inner\.other: circular reference$"):
        dump(bag)
