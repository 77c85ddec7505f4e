"""Figures with their uncertainty, and the tables in which they are printed."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

_RESAMPLES = 1_000


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean with the 95 % interval of a bootstrap over conversations.

    Attributes:
        value: the mean over all observations.
        low: 2.5th percentile.
        high: 97.5th percentile.
        count: observations.
    """

    value: float
    low: float
    high: float
    count: int

    def percent(self) -> str:
        """As "87.3 [85.0–89.9]"; without an interval where there is none."""
        mid, low, high = (_percent(v) for v in (self.value, self.low, self.high))
        return mid if low == high else f"{mid} [{low}–{high}]"


def _percent(share: float) -> str:
    """Never rounded up to 100.0 or down to 0.0."""
    text = f"{100 * share:.1f}"
    if text == "100.0" and share < 1:
        return "99.9"
    return "0.1" if text == "0.0" and share > 0 else text


def mean_of(observations: Mapping[str, Sequence[float]]) -> Mean | None:
    """The mean over the observations of all conversations, None without any; the same for the same observations."""
    groups = [(sum(values), len(values)) for values in observations.values() if values]
    if not groups:
        return None
    value, count = _pooled(groups), sum(n for _, n in groups)
    if len(groups) == 1 or len({total / n for total, n in groups}) == 1:
        return Mean(value, value, value, count)
    chance = random.Random("bootstrap")
    means = sorted(_pooled(chance.choices(groups, k=len(groups))) for _ in range(_RESAMPLES))
    return Mean(value, means[int(0.025 * _RESAMPLES)], means[int(0.975 * _RESAMPLES) - 1], count)


def _pooled(groups: Iterable[tuple[float, int]]) -> float:
    totals = [(total, n) for total, n in groups]
    return sum(total for total, _ in totals) / sum(n for _, n in totals)


@dataclass(slots=True)
class Table:
    """A table of a report.

    Attributes:
        title: what it shows.
        columns: names of the columns.
        rows: one list of cells per row.
        notes: what has to be known to read it.
    """

    title: str
    columns: list[str]
    rows: list[list[str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def markdown(self) -> str:
        """As Markdown."""
        lines = [f"**{self.title}**", "", _line(self.columns), _line(["---"] * len(self.columns))]
        lines += [_line(row) for row in self.rows]
        if self.notes:
            lines += ["", *(f"- {note}" for note in self.notes)]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
