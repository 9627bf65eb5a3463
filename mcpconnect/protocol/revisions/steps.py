"""The small steps that revisions are lowered by.

Rule: a step takes a JSON object and returns one; it never changes what it was given, and returns it as it is when there
is nothing to do. What a step is for is said where it is used.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..revision import Shape, Step


def drop(*members: str) -> Step:
    """Return the step that leaves these members out."""
    gone = frozenset(members)

    def step(shape: Shape) -> Shape:
        if gone.isdisjoint(shape):
            return shape
        return {name: value for name, value in shape.items() if name not in gone}

    return step


def inside(member: str, inner: Step) -> Step:
    """Return the step that applies `inner` to the object in this member, if there is one."""

    def step(shape: Shape) -> Shape:
        value = shape.get(member)
        return {**shape, member: inner(value)} if isinstance(value, dict) else shape

    return step


def each(member: str, inner: Step) -> Step:
    """Return the step that applies `inner` to every object of the list in this member."""

    def step(shape: Shape) -> Shape:
        items = shape.get(member)
        return {**shape, member: [inner(item) for item in items]} if items else shape

    return step


def by_type(steps: Mapping[str, Step]) -> Step:
    """Return the step for a content block: the one named by its `type`; other blocks stay as they are."""

    def step(block: Shape) -> Shape:
        inner = steps.get(block["type"])
        return block if inner is None else inner(block)

    return step


def chain(*steps: Step) -> Step:
    """Return the steps one after the other."""

    def step(shape: Shape) -> Shape:
        for inner in steps:
            shape = inner(shape)
        return shape

    return step
