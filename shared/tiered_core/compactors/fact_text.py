"""Facts about a column as a short phrase."""

from __future__ import annotations

from typing import Literal

from tiered_core.compactors.cells import label
from tiered_core.compactors.columns import with_point
from tiered_core.compactors.facts import ColumnFacts
from tiered_core.compactors.figures import figure

Detail = Literal["full", "brief"]

_TOP = {"full": 5, "brief": 1}


def phrase(facts: ColumnFacts, detail: Detail) -> str:
    """Such as `fare: min 0, max 512.3292, sum 28693.9493, mean ~32.2042, 2 null`; no nulls unless said."""
    parts = _parts(facts, detail)
    if facts.nulls and facts.count:
        parts.append(f"{facts.nulls} null")
    return f"{label(facts.name)}: {', '.join(parts)}"


def _parts(facts: ColumnFacts, detail: Detail) -> list[str]:
    if facts.kind == "empty":
        return ["all null"]
    if facts.kind == "text":
        return _values(facts, detail)
    if facts.kind == "code" and _padded(facts):
        return _values(facts, detail)
    least, most = _said(facts, facts.minimum or ""), _said(facts, facts.maximum or "")
    if facts.distinct == 1:
        return [f"always {label(least)}"]
    parts = [f"min {label(least)}", f"max {label(most)}"]
    if facts.total is not None and facts.mean is not None:
        parts.append(f"sum {figure(facts.total)}")
        if detail == "full":
            parts.append(f"mean {figure(facts.mean)}")
    if facts.kind == "number" and detail == "full" and facts.top and facts.distinct <= _TOP["full"]:
        parts.append("values " + _counted(facts, _TOP["full"]))
    elif facts.kind != "number" or detail == "full":
        parts.append(_distinct(facts))
    return parts


def _padded(facts: ColumnFacts) -> bool:
    """Whether a code is written so that its number doesn't stand for it: a leading zero, a plus."""
    ends = (facts.minimum or "", facts.maximum or "", *(value for value, _ in facts.top))
    return any(end[:1] == "+" or (end[:1] == "0" and len(end) > 1) for end in ends)


def _distinct(facts: ColumnFacts) -> str:
    return "all distinct" if facts.distinct == facts.count else f"{facts.distinct} distinct"


def _values(facts: ColumnFacts, detail: Detail) -> list[str]:
    if facts.distinct == facts.count and facts.count > _TOP["full"]:
        return ["all distinct"]
    if facts.distinct == 1:
        return [f"always {label(facts.top[0][0])}"]
    most = _TOP[detail]
    if facts.distinct <= most:
        return [f"{facts.distinct} distinct: {_counted(facts, most)}"]
    often = sum(n > 1 for _, n in facts.top[:most])
    return [f"{facts.distinct} distinct" + (f", top {_counted(facts, often)}" if often else "")]


def _counted(facts: ColumnFacts, most: int) -> str:
    return ", ".join(f"{label(_said(facts, value))} {n}" for value, n in facts.top[:most])


def _said(facts: ColumnFacts, value: str) -> str:
    """A value as it is told: numbers with a decimal comma get a decimal point, as all our figures have."""
    return with_point(value) if facts.commas == "decimals" and facts.kind == "number" else value
