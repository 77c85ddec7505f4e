"""Exact figures over the part of a table that a question names: sums per group, sums where a column has a value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import Decimal, Inexact
from fractions import Fraction
from itertools import product

from tiered_core.compactors.cells import label
from tiered_core.compactors.columns import EXACT, Commas, is_null, read_numbers
from tiered_core.compactors.facts import ColumnFacts
from tiered_core.compactors.figures import figure
from tiered_core.compactors.lexical import words
from tiered_core.compactors.selection import Interest
from tiered_core.compactors.shapes import Row, Table

MOST_GROUPS = 12
_MOST_COLUMNS = 2
_MOST_CONDITIONS = 3
_SCANNED_ROWS = 64

Group = tuple[int, Decimal, Decimal, Decimal]


def answers(table: Table, facts: Sequence[ColumnFacts], question: str, matched: Sequence[int]) -> Iterator[str]:
    """Phrases that may answer a question for totals or extremes, the most specific first; none for other questions.

    `rows where customer is C0042: 5; revenue sum 2356.54, mean 471.308` for values that the question names (all of them
    together), and `revenue by region (count, sum, mean): north 138, 71517.09, ~518.24; …` for columns with 2 to 12
    different values that it names. Measures are the columns of numbers that it names, or the only one there is.

    Args:
        table: the table.
        facts: about its columns.
        question: what is asked.
        matched: rows that share words with the question.
    """
    interest = Interest.of(question)
    if not (interest.totals or interest.superlative):
        return
    asked = set(interest.words)
    numeric = [i for i, column in enumerate(facts) if column.total is not None and column.distinct > 1]
    named = [i for i in numeric if not asked.isdisjoint(words(facts[i].name))]
    measures = (named or (numeric if len(numeric) == 1 else []))[:_MOST_COLUMNS]
    numbers = {i: _numbers(table, i, facts[i].commas) for i in measures}
    conditions = _conditions(table, question, matched)
    groups = [i for i in _group_columns(facts, asked)[:_MOST_COLUMNS] if i not in conditions]
    if conditions:
        rows = [row for row in table.rows if all(row[column] == value for column, value in conditions.items())]
        yield _where(table, rows, conditions, numbers)
        yield from (_counts(table, rows, group) for group in groups)
    for group, measure in product(groups, measures):
        if group != measure:
            yield _by(table, group, measure, numbers[measure], interest)


def _numbers(table: Table, column: int, commas: Commas) -> dict[str, Decimal]:
    texts = {row[column] for row in table.rows}
    filled = [text for text in sorted(filter(None, texts)) if not is_null(text)]
    found = read_numbers(filled, commas)
    return found[0] if found else {}


def _may_group(column: ColumnFacts) -> bool:
    few = 2 <= column.distinct <= MOST_GROUPS and 2 * column.distinct <= column.count
    return few and column.kind in ("text", "code")


def _group_columns(facts: Sequence[ColumnFacts], asked: set[str]) -> list[int]:
    """Columns of few values that the question names, or of which it names a value; the named ones first."""
    few = [i for i, column in enumerate(facts) if _may_group(column)]
    named = [i for i in few if not asked.isdisjoint(words(facts[i].name))]
    by_value = [i for i in few if any(not asked.isdisjoint(words(value)) for value, _ in facts[i].top)]
    return list(dict.fromkeys([*named, *by_value]))


def _conditions(table: Table, question: str, matched: Sequence[int]) -> dict[int, str]:
    """Values that stand in the question, by column: the longest one of each column, at most three columns."""
    asked = f" {' '.join(words(question))} "
    found: dict[int, str] = {}
    for row in matched[:_SCANNED_ROWS]:
        for column, value in enumerate(table.rows[row]):
            told = " ".join(words(value)) if value and len(value) <= 80 else ""
            if len(told) > 1 and f" {told} " in asked and len(value or "") > len(found.get(column, "")):
                found[column] = value or ""
    longest = sorted(found.items(), key=lambda pair: (-len(pair[1]), pair[0]))
    return dict(sorted(longest[:_MOST_CONDITIONS]))


def _where(
    table: Table, rows: Sequence[Row], conditions: dict[int, str], numbers: dict[int, dict[str, Decimal]]
) -> str:
    parts = [str(len(rows))]
    for measure, values in numbers.items():
        group = _aggregate(Counter(row[measure] for row in rows), values)
        if group is not None:
            parts.append(f"{label(table.columns[measure])} {_stats(group)}")
    told = " and ".join(f"{label(table.columns[column])} is {label(value)}" for column, value in conditions.items())
    return f"rows where {told}: {'; '.join(parts)}"


def _counts(table: Table, rows: Sequence[Row], group: int) -> str:
    found = Counter(row[group] for row in rows if row[group] is not None)
    told = ", ".join(f"{label(key or '')} {n}" for key, n in sorted(found.items(), key=lambda p: (-p[1], p[0] or "")))
    return f"these rows by {label(table.columns[group])}: {told or 'none'}"


def _stats(group: Group) -> str:
    count, total, least, most = group
    mean = figure(Fraction(total) / count)
    return f"sum {figure(total)}, mean {mean}, min {figure(least)}, max {figure(most)}, of {count}"


def _aggregate(cells: Counter[str | None], values: dict[str, Decimal]) -> Group | None:
    """Count, sum, least and greatest of the numbers among the cells; None when there is none."""
    present = {values[cell]: n for cell, n in cells.items() if cell in values}
    if not present:
        return None
    held = [(values[cell], n) for cell, n in cells.items() if cell in values]
    total = Decimal(0)
    try:
        for value, n in held:
            total = EXACT.add(total, EXACT.multiply(value, n))
    except Inexact:
        return None
    return sum(n for _, n in held), total, min(present), max(present)


def _by(table: Table, group: int, measure: int, values: dict[str, Decimal], interest: Interest) -> str:
    cells: dict[str, Counter[str | None]] = {}
    for (key, value), n in Counter((row[group], row[measure]) for row in table.rows).items():
        if key is not None:
            cells.setdefault(key, Counter())[value] += n
    found = {key: _aggregate(counter, values) for key, counter in cells.items()}
    known = sorted(((g, key) for key, g in found.items() if g is not None), key=lambda pair: (-pair[0][1], pair[1]))
    stats = "count, sum, mean" if not interest.superlative else "count, sum, min, max"
    told = "; ".join(f"{label(key)} {_row(g, interest.superlative)}" for g, key in known)
    return f"{label(table.columns[measure])} by {label(table.columns[group])} ({stats}): {told}"


def _row(group: Group, extremes: bool) -> str:
    count, total, least, most = group
    last = f"{figure(least)}, {figure(most)}" if extremes else figure(Fraction(total) / count)
    return f"{count}, {figure(total)}, {last}"
