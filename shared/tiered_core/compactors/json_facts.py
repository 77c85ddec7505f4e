"""Exact facts about a JSON value: how long its arrays are, what their numbers and texts come to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tiered_core.compactors.cells import label
from tiered_core.compactors.fact_text import phrase
from tiered_core.compactors.facts import column_facts
from tiered_core.compactors.json_text import as_cell
from tiered_core.compactors.selection import Interest, rank_facts

_MOST_PATHS = 400
_ELEMENT = "[]"

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Survey:
    """What was found on one walk over a whole value.

    Attributes:
        leaves: values that are neither objects nor arrays.
        arrays: by path (how many arrays, how many items in all).
        cells: by path inside arrays, how often each leaf occurs; at most 400 paths.
    """

    leaves: int
    arrays: dict[Path, tuple[int, int]]
    cells: dict[Path, Counter[str | None]]


def survey(value: dict[str, Any] | list[Any]) -> Survey:
    """The survey of a value, in document order and without recursion."""
    leaves = 0
    arrays: dict[Path, tuple[int, int]] = {}
    cells: dict[Path, Counter[str | None]] = {}
    waiting: list[tuple[Path, Any]] = [((), value)]
    while waiting:
        path, node = waiting.pop()
        if isinstance(node, dict):
            waiting.extend((((*path, key), inner) for key, inner in reversed(node.items())))
        elif isinstance(node, list):
            if path in arrays or len(arrays) < _MOST_PATHS:
                count, items = arrays.get(path, (0, 0))
                arrays[path] = count + 1, items + len(node)
            inner_path = (*path, _ELEMENT)
            waiting.extend((inner_path, inner) for inner in reversed(node))
        else:
            leaves += 1
            if _ELEMENT in path and (path in cells or len(cells) < _MOST_PATHS):
                cells.setdefault(path, Counter())[as_cell(node)] += 1
    return Survey(leaves, arrays, cells)


def phrases(found: Survey, question: str | None) -> list[str]:
    """What there is to say, the most telling first: lengths of long arrays, then facts about what stands in arrays.

    Names are paths without their array steps (`flights.price`); where two paths would read alike, neither is told.
    """
    told = [_length(path, *counts) for path, counts in found.arrays.items() if counts[1] > 1]
    names = Counter(map(_name, found.cells))
    facts = [
        column_facts(_name(path), counter) for path, counter in found.cells.items()
        if names[_name(path)] == 1 and sum(counter.values()) > 1
    ]  # fmt: skip
    order = rank_facts(facts, Interest.of(question))
    return told[:4] + [phrase(facts[i], "full") for _, i in order] + told[4:]


def _length(path: Path, count: int, items: int) -> str:
    several = f" in {count} arrays" if count > 1 else ""
    steps = "".join(step if step == _ELEMENT else f".{label(step)}" for step in path)
    return f"{steps.lstrip('.') or 'top'}: {items} items{several}"


def _name(path: Sequence[str]) -> str:
    return ".".join(step for step in path if step != _ELEMENT) or "values"
