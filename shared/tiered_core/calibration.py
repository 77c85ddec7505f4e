"""Learns from the provider's reported input tokens how far the counter's figures are off, by class of content.

A request costs what its parts cost: `reported = overhead + sum(factor[class] * estimate[class])`. Factors and
overhead are found by recursive least squares (a Kalman filter whose unknowns stand nearly still), so all that is kept
are six figures and their covariance. Each report is weighed relative to its size. Before anything is known the factors
are 1 and are expected to be off together rather than one by one; so a class that was never seen moves along with
those that were.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from tiered_core.errors import StoreError

CLASSES = ("text", "table", "json", "log", "other")
"""The kinds of an entry; "other" stands for framing, tool definitions, pictures and whatever has no kind."""
LEAST, MOST = 0.3, 4.0
"""Bounds of a factor. A report is believed within `LEAST * estimate` and `max(MOST * estimate, estimate + HIDDEN)`."""
HIDDEN = 1_000
"""Tokens that a provider may add to a small request (Anthropic's tool prompt has 346,
https://platform.claude.com/docs/en/agents-and-tools/tool-use/overview, read 2026-11-30)."""

_VERSION = 1
_MOST_OVERHEAD = 50_000.0
# Standard deviations. Of what is expected before any report: of all factors together, of each on its own, of the
# overhead in tokens. Of one report: a share of it, and tokens. Of what may change from one report to the next.
_TOGETHER, _ALONE, _OVERHEAD = 0.25, 0.2, 500.0
_NOISE, _ROUNDING = 0.012, 3.0
_FACTOR_DRIFT, _OVERHEAD_DRIFT = 0.001, 2.0
# A report this many standard deviations off counts only as far as that; after so many in a row in one direction it is
# the model that has changed, and what was learned is held for as uncertain as at the start.
_SURPRISE, _IN_A_ROW = 4.0, 3
_DIGITS = 9


def _start() -> tuple[float, ...]:
    """The covariance before any report, lower triangle by rows."""
    shared, own = _TOGETHER**2, _ALONE**2
    rows = [[shared] * i + [shared + own] for i in range(len(CLASSES))]
    return tuple(x for row in rows for x in row) + (0.0,) * len(CLASSES) + (_OVERHEAD**2,)


@dataclass(frozen=True, slots=True)
class Calibration:
    """What was learned about one counter and one model.

    Attributes:
        means: factor of each class in the order of `CLASSES`, then the overhead in tokens.
        covariance: of these six, lower triangle by rows.
        floor: smallest factor; 1.0 for an exact counter, whose figures are never made smaller.
        observations: reports that were learned from.
        ignored: reports that were not believed.
        surprises: reports in a row that were far off, negative when fewer tokens were reported than expected.
        drift: how far the last report was from what was expected before it, as a share of the report; positive when
            more was reported. 0.0 before the first.
    """

    means: tuple[float, ...] = (1.0,) * len(CLASSES) + (0.0,)
    covariance: tuple[float, ...] = _start()
    floor: float = LEAST
    observations: int = 0
    ignored: int = 0
    surprises: int = 0
    drift: float = 0.0

    @property
    def factors(self) -> dict[str, float]:
        """The factor of each class, floor and bounds included."""
        return {name: max(self.floor, f) for name, f in zip(CLASSES, self.means, strict=False)}

    @property
    def overhead(self) -> int:
        """Tokens that the provider adds to each request beside what is counted."""
        return math.ceil(round(self.means[-1], 6))

    def apply(self, kind: str, tokens: int) -> int:
        """The counter's figure for content of a class, corrected and rounded up; an unknown class is "other"."""
        return math.ceil(round(tokens * self._factor(kind), 6))

    def predict(self, estimate: Mapping[str, int]) -> int:
        """Tokens that will be reported for a request, from the counter's figures by class; the overhead is included."""
        return math.ceil(round(sum(self._factor(kind) * n for kind, n in estimate.items()) + self.means[-1], 6))

    def _factor(self, kind: str) -> float:
        at = CLASSES.index(kind) if kind in CLASSES else -1
        return max(self.floor, self.means[:-1][at])

    def observe(self, estimate: Mapping[str, int], reported: int) -> Calibration:
        """What is known after one more report.

        Args:
            estimate: the counter's own figures for what was sent, not corrected by `apply`, in tokens by class.
            reported: input tokens of that request, cached ones included (see `usage.reported_input_tokens`).
        """
        amounts = _amounts(estimate)
        if amounts is None or not _believable(sum(amounts), reported):
            return replace(self, ignored=self.ignored + 1)
        row = [*(a / reported for a in amounts), 1 / reported]
        off = 1 - sum(x * m for x, m in zip(row, self.means, strict=True))
        spread = _square(self.covariance)
        noise = _NOISE**2 + (_ROUNDING / reported) ** 2
        surprises = 0
        if abs(off) > _SURPRISE * math.sqrt(_variance(spread, row) + noise):
            surprises = int(math.copysign(1, off)) + (self.surprises if self.surprises * off > 0 else 0)
            if abs(surprises) >= _IN_A_ROW:
                spread, surprises = _square(_start()), 0
            else:
                noise = (off / _SURPRISE) ** 2 - _variance(spread, row)
        means, covariance = _learned(self.means, spread, row, off, noise)
        return replace(
            self, means=self._bounded(means), covariance=covariance, observations=self.observations + 1,
            surprises=surprises, drift=round(off, 6),
        )  # fmt: skip

    def _bounded(self, means: Sequence[float]) -> tuple[float, ...]:
        factors = (min(MOST, max(self.floor, f)) for f in means[:-1])
        return tuple(_short([*factors, min(_MOST_OVERHEAD, max(0.0, means[-1]))]))

    def to_dict(self) -> dict[str, Any]:
        """Plain, versioned JSON value."""
        return {
            "version": _VERSION, "means": list(self.means), "covariance": list(self.covariance),
            "floor": self.floor, "observations": self.observations, "ignored": self.ignored,
            "surprises": self.surprises, "drift": self.drift,
        }  # fmt: skip

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Calibration:
        """The calibration of which `to_dict` gave the value.

        Raises:
            StoreError: the value is no calibration, or one of a newer version than this package knows.
        """
        try:
            if data["version"] > _VERSION:
                raise StoreError(
                    f"the stored calibration has version {data['version']}, this tiered-context knows up to "
                    f"{_VERSION}: upgrade tiered-context to read it"
                )
            means, covariance = (tuple(map(float, data[key])) for key in ("means", "covariance"))
            floor, drift = float(data["floor"]), float(data["drift"])
            finite = all(map(math.isfinite, (*means, *covariance, floor, drift)))
            if (len(means), len(covariance)) != (6, 21) or not finite:
                raise ValueError("six means and 21 covariances are needed")
            seen, ignored, surprises = (int(data[key]) for key in ("observations", "ignored", "surprises"))
            return cls(means, covariance, floor, seen, ignored, surprises, drift)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise StoreError(f"the stored calibration can't be read: {error!r}") from error


def _amounts(estimate: Mapping[str, int]) -> list[float] | None:
    """The estimate in the order of `CLASSES`; None when a figure is none."""
    amounts = dict.fromkeys(CLASSES, 0.0)
    for kind, tokens in estimate.items():
        if not _number(tokens) or tokens < 0:
            return None
        amounts[kind if kind in amounts else "other"] += tokens
    return list(amounts.values())


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _believable(estimate: float, reported: int) -> bool:
    if not _number(reported) or reported <= 0 or estimate <= 0:
        return False
    return LEAST * estimate <= reported <= max(MOST * estimate, estimate + HIDDEN)


def _learned(
    means: Sequence[float], spread: Sequence[Sequence[float]], row: Sequence[float], off: float, noise: float
) -> tuple[list[float], tuple[float, ...]]:
    """One step of recursive least squares: new means, new covariance with what may change until the next report."""
    along = [_dot(line, row) for line in spread]
    total = _dot(along, row) + noise
    gain = [x / total for x in along]
    new = [m + g * off for m, g in zip(means, gain, strict=True)]
    drift = [_FACTOR_DRIFT**2] * len(CLASSES) + [_OVERHEAD_DRIFT**2]
    triangle = [
        spread[i][j] - gain[i] * along[j] + (drift[i] if i == j else 0.0) for i in range(len(row)) for j in range(i + 1)
    ]
    return new, tuple(_short(triangle))


def _variance(spread: Sequence[Sequence[float]], row: Sequence[float]) -> float:
    return max(0.0, _dot([_dot(line, row) for line in spread], row))


def _dot(left: Iterable[float], right: Iterable[float]) -> float:
    return sum(a * b for a, b in zip(left, right, strict=True))


def _square(triangle: Sequence[float]) -> list[list[float]]:
    """The full symmetric matrix of a lower triangle."""
    size = len(CLASSES) + 1
    ends = [i * (i + 1) // 2 for i in range(size + 1)]
    rows = [list(triangle[start:end]) for start, end in pairwise(ends)]
    return [[rows[max(i, j)][min(i, j)] for j in range(size)] for i in range(size)]


def _short(values: Iterable[float]) -> list[float]:
    """Nine significant digits: short as JSON, and far finer than what is learned."""
    return [float(f"{v:.{_DIGITS}g}") for v in values]
