"""Which rows and columns of a table are worth showing first."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tiered_core.compactors.facts import ColumnFacts
from tiered_core.compactors.lexical import best_matches, question_words, words
from tiered_core.compactors.shapes import Table

_BESIDE = frozenset("next before after below above previous following prior preceding beneath under succeeding".split())
_SUPERLATIVE = frozenset(
    "most least highest lowest largest smallest longest shortest maximum minimum max min top bottom best worst biggest "
    "greatest fewest oldest youngest tallest peak slowest fastest earliest latest first last newest more less".split()
)
_TOTALS = frozenset(
    "total sum average mean count number many much overall altogether combined median percentage share distribution "
    "per each every by".split()
)
_EXTREME_COLUMNS = 4
_LEADING = re.compile(r"\W{0,2}(-?\d{1,3}(?:,\d{3})+(?:\.\d+)?|-?\d{1,15}(?:\.\d+)?)", re.ASCII)
_FACT_WEIGHT = {"number": 2.0, "text": 1.5, "date": 1.0, "code": 0.6, "empty": 0.1}
_NAMED, _HIT, _LABEL = 3.0, 1.0, 3.0


@dataclass(frozen=True, slots=True)
class Interest:
    """What a question asks for, read from its words.

    Attributes:
        words: its telling words.
        beside: whether it asks for what stands before or after something.
        superlative: whether it asks for the most or the least.
        totals: whether it asks for a figure over many rows.
    """

    words: tuple[str, ...] = ()
    beside: bool = False
    superlative: bool = False
    totals: bool = False

    @classmethod
    def of(cls, question: str | None) -> Interest:
        """The interest of a question; none at all when there is no question."""
        plain = set((question or "")[:4000].lower().replace("?", " ").replace(",", " ").split())
        return cls(
            question_words(question), not plain.isdisjoint(_BESIDE), not plain.isdisjoint(_SUPERLATIVE),
            not plain.isdisjoint(_TOTALS),
        )  # fmt: skip


def rank_columns(
    table: Table, facts: Sequence[ColumnFacts], interest: Interest, matched: Sequence[int]
) -> list[tuple[float, int]]:
    """(weight, position) of all columns, the most telling first; `matched` rows share words with the question."""
    wanted = set(interest.words)
    hits = [0.0] * len(facts)
    for row in matched[:8]:
        for i, cell in enumerate(table.rows[row]):
            if cell and not wanted.isdisjoint(words(cell[:400])):
                hits[i] += 1
    label = _label(facts)
    ranked: list[tuple[float, int]] = []
    for i, column in enumerate(facts):
        named = sum(word in wanted for word in set(words(column.name)))
        weight = 1.0 + _NAMED * named + _HIT * (hits[i] > 0) + (_LABEL if i == label else 0.0)
        weight += 0.5 * (column.kind == "text" and column.distinct > 1)
        weight *= 0.02 if column.kind == "empty" else 0.2 if column.distinct == 1 else 1.0
        ranked.append((weight, i))
    return sorted(ranked, key=lambda pair: (-pair[0], pair[1]))


def rank_facts(facts: Sequence[ColumnFacts], interest: Interest) -> list[tuple[float, int]]:
    """(weight, position) of all columns by what facts about them tell, the most telling first."""
    wanted = set(interest.words)
    ranked: list[tuple[float, int]] = []
    for i, column in enumerate(facts):
        named = sum(word in wanted for word in set(words(column.name)))
        by_value = any(not wanted.isdisjoint(words(value[:200])) for value, _ in column.top)
        ranked.append((_FACT_WEIGHT[column.kind] * _telling(column) + _NAMED * named + _HIT * by_value, i))
    return sorted(ranked, key=lambda pair: (-pair[0], pair[1]))


def _telling(column: ColumnFacts) -> float:
    """Less for what only repeats that all values differ, or that all are the same."""
    if column.distinct == column.count and column.kind in ("text", "code"):
        return 0.2
    return 0.3 if column.distinct <= 1 else 1.0


def _label(facts: Sequence[ColumnFacts]) -> int:
    """Position of the column that names the rows: the first text of which most values differ, else the first column."""
    names = (i for i, f in enumerate(facts) if f.kind in ("text", "date", "code") and 2 * f.distinct > f.count)
    return next(names, 0)


def match_rows(table: Table, interest: Interest, limit: int) -> list[tuple[float, int]]:
    """(score, row) of the rows that share words with the question, best first."""
    if not interest.words:
        return []
    texts = ["\n".join(filter(None, row)) for row in table.rows]
    return best_matches(texts, interest.words, limit)


def rank_rows(
    table: Table, facts: Sequence[ColumnFacts], columns: Sequence[int], interest: Interest,
    matched: Sequence[tuple[float, int]], limit: int,
) -> list[int]:  # fmt: skip
    """At most `limit` different rows, the most telling first.

    What matches the question comes first (with its neighbours, or after the extremes, when the question asks for
    those), then the ends of the table and its extremes, then rows spread evenly.
    """
    kept: dict[int, None] = {}
    for row in _in_turn(table, facts, columns, interest, matched):
        if len(kept) >= limit:
            break
        if 0 <= row < len(table.rows):
            kept[row] = None
    return list(kept)


def _in_turn(
    table: Table, facts: Sequence[ColumnFacts], columns: Sequence[int], interest: Interest,
    matched: Sequence[tuple[float, int]],
) -> Iterator[int]:  # fmt: skip
    strong = [row for score, row in matched if score * 2 >= matched[0][0]]
    if interest.beside:
        yield from (row + step for row in strong[:3] for step in (0, 1, -1))
    if interest.superlative:
        yield from strong[:3]
        yield from _extremes(table, facts, columns)
        yield from _leading(table, facts, columns[:2])
    yield from strong
    yield from (row for _, row in matched)
    size = len(table.rows)
    yield from (0, size - 1)
    yield from _extremes(table, facts, columns)
    yield from (1, size - 2)
    yield from _spread(size)


def _extremes(table: Table, facts: Sequence[ColumnFacts], columns: Sequence[int]) -> Iterator[int]:
    """The first row of the greatest and of the least value of some numeric columns."""
    numeric = [i for i in columns if facts[i].kind in ("number", "date") and facts[i].distinct > 1]
    for i in numeric[:_EXTREME_COLUMNS]:
        for value in (facts[i].maximum, facts[i].minimum):
            yield next(row for row, cells in enumerate(table.rows) if (cells[i] or "").strip() == value)


def _leading(table: Table, facts: Sequence[ColumnFacts], columns: Sequence[int]) -> Iterator[int]:
    """The same for texts that begin with a number, such as `40 knots`."""
    for i in [i for i in columns if facts[i].kind == "text" and facts[i].distinct > 1][:_EXTREME_COLUMNS]:
        found = [(_LEADING.match(cells[i] or ""), row) for row, cells in enumerate(table.rows)]
        values = [(float(match[1].replace(",", "")), row) for match, row in found if match]
        if 2 * len(values) > len(found):
            yield max(values, key=lambda pair: (pair[0], -pair[1]))[1]
            yield min(values)[1]


def _spread(size: int) -> Iterator[int]:
    """All rows so that any first few of them lie evenly over the table."""
    bits = max(1, (size - 1).bit_length())
    for step in range(1 << bits):
        yield int(format(step, f"0{bits}b")[::-1], 2) * size >> bits
