"""10,000 rows to JSON text: ours beside pydantic and msgspec. Not a test; run it as a script.

    python tests/serialization/bench_rows.py [ROWS]

Prints the median of interleaved rounds in milliseconds, and the ratios.
"""

from __future__ import annotations

import gc
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import msgspec
import pydantic

from mcpconnect.serialization import Serializer


@dataclass
class Owner:
    id: int
    email: str


@dataclass
class Row:
    id: int
    name: str
    price: float
    created: datetime
    active: bool
    owner: Owner


@dataclass
class DecimalRow:
    id: int
    name: str
    price: Decimal
    created: datetime
    active: bool
    owner: Owner


def make_rows(cls: type, count: int) -> list[Any]:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    number = Decimal if cls is DecimalRow else float
    return [
        cls(
            i,
            f"Item number {i}",
            number(f"{i}.25"),
            start + timedelta(minutes=i),
            i % 3 == 0,
            Owner(i % 97, f"user{i % 97}@example.org"),
        )
        for i in range(count)
    ]


def measure(functions: dict[str, Callable[[], Any]], rounds: int = 15) -> dict[str, float]:
    """Return the median milliseconds of each function over interleaved rounds."""
    times: dict[str, list[float]] = {name: [] for name in functions}
    for function in functions.values():
        function()
    for _ in range(rounds):
        for name, function in functions.items():
            gc.collect()
            start = time.perf_counter()
            function()
            times[name].append((time.perf_counter() - start) * 1000)
    return {name: statistics.median(values) for name, values in times.items()}


def compare(cls: type, count: int) -> dict[str, float]:
    """Return the milliseconds of each way for records of one class.

    Each writer has rows of its own: msgspec reads `__dict__`, after which attributes of those objects are slower.
    """
    serializer = Serializer()
    adapter = pydantic.TypeAdapter(list[cls])
    write = serializer.writer(list[cls])
    sets = [make_rows(cls, count) for _ in range(5)]
    text = write(sets[0])
    data = msgspec.json.decode(text)
    written = measure(
        {
            "ours": lambda: write(sets[0]),
            "ours, undeclared": lambda: serializer.dumps(sets[1]),
            "pydantic": lambda: adapter.dump_json(sets[2]),
            "msgspec": lambda: msgspec.json.encode(sets[3]),
        }
    )
    others = measure(
        {
            "ours, dump": lambda: serializer.dump(sets[4], list[cls]),
            "ours, load": lambda: serializer.load(list[cls], data),
            "pydantic, load": lambda: adapter.validate_json(text),
        }
    )
    return written | others


def main() -> None:
    """Print the figures of both records."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    for cls in (Row, DecimalRow):
        found = compare(cls, count)
        print(f"{cls.__name__}: " + ", ".join(f"{name} {value:.2f} ms" for name, value in found.items()))
        pydantic_ratio, msgspec_ratio = found["ours"] / found["pydantic"], found["ours"] / found["msgspec"]
        print(f"  ours / pydantic = {pydantic_ratio:.2f}, ours / msgspec = {msgspec_ratio:.2f}")


if __name__ == "__main__":
    main()
