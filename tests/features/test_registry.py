import threading
from dataclasses import dataclass

import pytest

from mcpconnect.errors import DefinitionError, InvalidParams
from mcpconnect.features.registry import Registry


@dataclass
class Thing:
    name: str
    enabled: bool = True
    where: str = "here"

    @property
    def key(self) -> str:
        return self.name


def registry_of(*names: str) -> Registry[Thing]:
    registry: Registry[Thing] = Registry("thing", lambda: None)
    registry.add([Thing(name) for name in names])
    return registry


def names_of(registry: Registry[Thing], size: int) -> list[list[str]]:
    pages, cursor = [], None
    while True:
        page = registry.page(cursor, size)
        pages.append([thing.name for thing in page.items])
        cursor = page.next_cursor
        if cursor is None:
            return pages


@pytest.mark.fault(287)
def test_the_order_is_that_of_registration() -> None:
    assert names_of(registry_of("c", "a", "b"), 10) == [["c", "a", "b"]]


def test_pages_end_without_a_cursor() -> None:
    assert names_of(registry_of("a", "b", "c", "d"), 2) == [["a", "b"], ["c", "d"]]
    assert names_of(registry_of(), 2) == [[]]


def test_a_cursor_stays_right_while_things_come_and_go() -> None:
    registry = registry_of("a", "b", "c", "d", "e")
    first = registry.page(None, 2)
    registry.remove(lambda thing: thing.name in ("a", "b", "c"))
    registry.add([Thing("f")])
    second = registry.page(first.next_cursor, 2)
    third = registry.page(second.next_cursor, 2)
    assert [thing.name for page in (second, third) for thing in page.items] == ["d", "e", "f"]
    assert third.next_cursor is None


@pytest.mark.parametrize(
    "cursor", ["", "garbage", "YWZ0ZXI6OTk=", "YWZ0ZXI6MA==", "YWZ0ZXI6LTE=", "YWZ0ZXI6MDE=", "é", "YWZ0ZXI6MQ==\n"]
)
def test_a_cursor_that_is_none_of_ours_is_refused(cursor: str) -> None:
    with pytest.raises(InvalidParams, match="cursor"):
        registry_of("a", "b").page(cursor, 1)


@pytest.mark.fault(286)
def test_a_taken_name_is_refused_and_changes_nothing() -> None:
    registry = registry_of("a")
    with pytest.raises(DefinitionError, match="'a' is there already"):
        registry.add([Thing("b"), Thing("a")])
    assert names_of(registry, 9) == [["a"]]


def test_disabled_things_are_neither_found_nor_listed() -> None:
    registry = registry_of("a", "b")
    registry.enable(lambda thing: thing.name == "a", False)
    assert registry.get("a") is None
    assert names_of(registry, 9) == [["b"]]
    registry.enable(lambda thing: thing.name == "a", True)
    assert names_of(registry, 9) == [["a", "b"]]


def test_each_change_is_announced_once_and_no_change_is_not() -> None:
    changes: list[int] = []
    registry: Registry[Thing] = Registry("thing", lambda: changes.append(1))
    registry.add([Thing("a"), Thing("b")])
    registry.enable(lambda thing: True, True)
    assert registry.remove(lambda thing: False) == 0
    assert len(changes) == 1
    registry.enable(lambda thing: True, False)
    registry.remove(lambda thing: True)
    assert len(changes) == 3


def test_what_was_kept_is_made_again_after_a_change() -> None:
    registry = registry_of("a")
    made: list[int] = []

    def make() -> int:
        made.append(1)
        return len(registry)

    assert registry.kept("key", make) == registry.kept("key", make) == 1
    registry.add([Thing("b")])
    assert registry.kept("key", make) == 2
    assert len(made) == 2


def test_registrations_from_many_threads_all_arrive() -> None:
    registry = registry_of()

    def add(part: int) -> None:
        for number in range(50):
            registry.add([Thing(f"{part}_{number}")])

    threads = [threading.Thread(target=add, args=(part,)) for part in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(registry) == 400
    assert sum(map(len, names_of(registry, 7))) == 400
