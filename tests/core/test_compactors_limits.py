"""No rendering is ever larger than its room, whatever the text and whoever counts."""

from __future__ import annotations

import csv
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.rooms import COUNTERS, Count, body, room, thirds
from tiered_core.compactors import (
    DEFAULT_COMPACTORS,
    Body,
    Compacted,
    Compactor,
    JsonCompactor,
    LogCompactor,
    Room,
    ShortenCompactor,
    TableCompactor,
    bare,
    compact,
    stub,
)
from tiered_core.types import Kind

anything = st.text(st.characters(exclude_categories=()), max_size=400)
counters = st.sampled_from(sorted(COUNTERS)).map(COUNTERS.__getitem__)
rooms = st.one_of(st.integers(-2, 60), st.integers(60, 900))
questions = st.one_of(st.none(), st.sampled_from(["total price by city", "what is next to row 7?", "ERROR 42", "价格"]))
cells = st.one_of(anything, st.integers().map(str), st.decimals(allow_nan=False, allow_infinity=False).map(str))


@st.composite
def tables(draw: st.DrawFn) -> str:
    width = draw(st.integers(1, 6))
    rows = draw(st.lists(st.lists(cells, min_size=width, max_size=width), max_size=25))
    text = io.StringIO()
    csv.writer(text, delimiter=draw(st.sampled_from(",\t;|")), quoting=csv.QUOTE_ALL).writerows(rows)
    return text.getvalue()


trees = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), anything),
    lambda inner: st.one_of(st.lists(inner, max_size=8), st.dictionaries(anything, inner, max_size=6)),
    max_leaves=60,
)
logs = st.lists(st.tuples(st.sampled_from(["INFO", "ERROR", "WARN", "DEBUG"]), anything), min_size=5, max_size=30).map(
    lambda lines: "\n".join(f"2024-01-01 10:00:{i:02d} {level} {text}" for i, (level, text) in enumerate(lines))
)
texts = st.one_of(anything, tables(), trees.map(json.dumps), logs)


@given(texts, counters, rooms, questions, st.booleans())
def test_never_above_the_room(text: str, count: Count, most: int, question: str | None, machine: bool) -> None:
    """B11, B13: a compacted body, markers and facts included, has at most `max_tokens` tokens by any counter."""
    result = compact(body(text, count, question, machine), room(most, count))
    assert not result.text or count(result.text) <= most
    assert 0 <= result.shown <= result.total


@given(texts, counters, st.integers(1, 900), questions, st.sampled_from(["table", "json", "log", "text"]))
def test_each_compactor_keeps_to_the_room(text: str, count: Count, most: int, question: str | None, kind: Kind) -> None:
    """B11: each compactor answers within the room and below the body, or not at all, even when the kind is wrong."""
    given_body = Body(text, kind, count(text), "r12", question)
    for compactor in (TableCompactor(), JsonCompactor(), LogCompactor()):
        result = compactor.compact(given_body, room(most, count))
        assert result is None or (count(result.text) <= most and count(result.text) < given_body.tokens)
        assert compactor.estimate_savings(given_body, room(most, count)) >= 0


@given(texts, counters, rooms)
def test_stub_is_one_short_line(text: str, count: Count, most: int) -> None:
    """B17, A33: a pointer is one line, never blank, at most 40 tokens and at most the room where any text fits it."""
    line = stub(body(text, count), room(most, count))
    assert line.strip()
    assert len(line.splitlines()) == 1
    if most >= count("r12"):
        assert count(line) <= min(40, most)
        assert "r12" in line


def test_stub_names_kind_size_and_handle() -> None:
    """B17, A33: a pointer names kind, size and handle."""
    table = "id,name\n" + "".join(f"{i},x{i}\n" for i in range(500))
    size = f"{thirds(table):,} tokens"
    assert stub(body(table), room(60)) == f"[r12: table 500 rows x 2 columns (id, name), {size}, kept; recall r12]"
    assert stub(body(table), room(12)) == f"[r12: table, {size}]"
    assert bare("r12") == "[r12]"
    assert stub(body(table), room(2)) == "[r12]"
    assert "reservation_id ABC" in stub(
        body('{"reservation_id": "ABC", "n": 1}'), room(40, lambda text: len(text) // 4)
    )


@pytest.mark.parametrize("name", sorted(COUNTERS))
@pytest.mark.parametrize("text", [" " * 1_000_000, "\0" * 50_000, "\ud800" * 20_000, "字" * 50_000, "\n" * 50_000])
def test_extreme_texts(text: str, name: str) -> None:
    """B13: a million equal spaces, NUL, lone surrogates and scripts without spaces fit any room."""
    count = COUNTERS[name]
    for most in (0, 1, 2, 3, 7, 20, 61, 300):
        result = compact(Body(text, "text", 10**6, "r12", "where is it?"), room(most, count))
        assert not result.text or count(result.text) <= most


class _Rule:
    """A rule from outside that misbehaves in one way."""

    def __init__(self, order: int, answer: object) -> None:
        self.name, self.order, self.answer = f"rule {order}", order, answer

    def can_compact(self, body: Body) -> bool:
        return True

    def estimate_savings(self, body: Body, room: Room) -> int:
        return 0

    def compact(self, body: Body, room: Room) -> Compacted | None:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer  # type: ignore[return-value]


def test_unusable_answers_are_skipped() -> None:
    """B11: who raises, answers blank, too large, unchanged, with nothing or with something else is skipped."""
    text = "word " * 400
    error = ValueError("broken")
    bad = [error, None, Compacted(" \n", 1, 2), Compacted("x" * 600, 1, 2), "text", Compacted(text, 1, 1)]
    rules: list[Compactor] = [_Rule(i, answer) for i, answer in enumerate(bad)]
    failures: list[tuple[str, Exception]] = []
    last = compact(body(text), room(30), rules, lambda rule, failure: failures.append((rule.name, failure)))
    assert last == ShortenCompactor().compact(body(text), room(30))
    assert [name for name, _ in failures] == ["rule 0", "rule 4"]
    assert failures[0][1] is error
    assert isinstance(failures[1][1], TypeError)
    assert compact(body(text), room(30), rules) == last


def test_lower_order_is_asked_first() -> None:
    """B11: compactors run in ascending order, however they are handed over; the built-in orders are 1, 2, 3 and 10."""
    good = [_Rule(i, Compacted(f"answer {i}", 1, 2)) for i in (7, -1, 3)]
    assert compact(body("word " * 400), room(30), [*DEFAULT_COMPACTORS, *good]).text == "answer -1"
    assert [(c.name, c.order) for c in DEFAULT_COMPACTORS] == [("table", 1), ("json", 2), ("log", 3), ("shorten", 10)]
    assert all(isinstance(c, Compactor) for c in DEFAULT_COMPACTORS)


def test_same_bytes_in_every_process() -> None:
    """A15: renderings don't depend on the process (hash seed)."""
    import subprocess
    import sys

    program = (
        "import json, hashlib\n"
        "from tests.core.rooms import body, room\n"
        "from tiered_core.compactors import compact, stub\n"
        "rows = [{'id': i, 'city': 'ABCDE'[i % 5], 'price': i * 7 % 13, 'tags': {'a': i % 3}} for i in range(90)]\n"
        "texts = [json.dumps(rows), json.dumps({'x': [rows[:9], {str(i): i for i in range(50)}]}),\n"
        "         'id,city,n\\n' + ''.join(f'{r[\"id\"]},{r[\"city\"]},{r[\"price\"]}\\n' for r in rows),\n"
        "         '\\n'.join(f'2024-01-01 10:00:00 INFO took {i} ms' for i in range(80)), 'so it goes. ' * 200]\n"
        "out = [compact(body(t, question=q), room(m)).text + stub(body(t), room(m)) for t in texts\n"
        "       for m in (25, 90, 250) for q in (None, 'total price by city B', 'what goes next to it?')]\n"
        "print(hashlib.sha256(json.dumps(out).encode()).hexdigest())\n"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**_environment(), "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in ("0", "1", "77")
    }
    assert len(outputs) == 1


def _environment() -> dict[str, str]:
    import os
    import sys

    return {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
