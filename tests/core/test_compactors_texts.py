"""JSON trees, logs and plain texts made smaller."""

from __future__ import annotations

import json
import re
from collections import Counter
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.rooms import COUNTERS, Count, body, room, thirds
from tiered_core.compactors import Body, JsonCompactor, LogCompactor, ShortenCompactor, compact

counters = st.sampled_from(sorted(COUNTERS)).map(COUNTERS.__getitem__)
TREE: dict[str, Any] = {
    "status": "ok",
    "flights": [
        {"id": f"HAT{i:03d}", "price": 50 + i * 7 % 90, "seats": {"economy": i % 9, "tags": ["x", i]}}
        for i in range(200)
    ],
    "text": "long " * 300,
    "index": {f"key{i}": i for i in range(80)},
    "exact": 12345678901234567890.12,
}


def leaves(value: Any) -> int:
    if isinstance(value, dict):
        return sum(map(leaves, value.values()))
    return sum(map(leaves, value)) if isinstance(value, list) else 1


def without_marks(value: Any) -> Any:
    """A rendering without what is marked as ours."""
    if isinstance(value, dict):
        return {k: without_marks(v) for k, v in value.items() if not is_mark(k) and not is_mark(v)}
    return [without_marks(v) for v in value if not is_mark(v)] if isinstance(value, list) else value


def is_mark(value: Any) -> bool:
    return isinstance(value, str) and value.startswith("[r12: ")


@pytest.mark.parametrize("most", [80, 200, 500, 1500])
def test_json_stays_json(most: int) -> None:
    """A13: what follows our line is valid JSON with the structure of the whole, cut where it says so."""
    text = json.dumps(TREE)
    result = JsonCompactor().compact(body(text), room(most))
    assert result is not None
    assert result.total == leaves(TREE)
    head, _, rest = result.text.partition("\n")
    value = json.loads(rest)
    assert head.startswith(f"[r12: JSON, shown {result.shown} of {result.total} values; whole: recall r12")
    assert result.shown == leaves(without_marks(value))
    marks = re.findall(r"(\d+) of 200 items shown", rest)
    if isinstance(value["flights"], str):
        assert value["flights"] == "[r12: array of 200 items]"
        return
    items = [item for item in value["flights"] if not (is_mark(item) and "left out" in item)]
    gaps = re.findall(r"(\d+) left out", json.dumps([item for item in value["flights"] if is_mark(item)]))
    assert marks == [str(len(items))]
    assert sum(map(int, gaps)) + len(items) == 200


def test_json_facts_are_exact() -> None:
    """A13: facts about arrays that were cut are about all their items."""
    result = JsonCompactor().compact(body(json.dumps(TREE)), room(900))
    assert result is not None
    prices = [flight["price"] for flight in TREE["flights"]]
    assert "flights: 200 items" in result.text
    assert f"flights.price: min {min(prices)}, max {max(prices)}, sum {sum(prices)}" in result.text


def test_json_shows_what_was_asked_for() -> None:
    """A16: items that share words with the question are kept, wherever they stand."""
    result = JsonCompactor().compact(body(json.dumps(TREE), question="price of HAT137?"), room(400))
    assert result is not None
    assert '"HAT137"' in result.text


def test_json_numbers_keep_their_digits() -> None:
    """A13: numbers are shown as they were written."""
    text = json.dumps({"a": 1, "long": "word " * 400}).replace("1", "1.50000000000000000007", 1)
    result = JsonCompactor().compact(body(text), room(100))
    assert result is not None
    assert "1.50000000000000000007" in result.text


def log_of(n: int) -> str:
    lines = []
    for i in range(n):
        level = "ERROR" if i % 97 == 13 else "WARN" if i % 20 == 3 else "INFO"
        what = f"connection to 10.0.0.{i % 5} refused" if level == "ERROR" else f"request {i} took {i * 7 % 900} ms"
        lines.append(f"2024-01-01 12:{i // 60 % 60:02d}:{i % 60:02d},{i % 1000:03d} {level} app: {what}")
    return "\n".join(lines)


@pytest.mark.parametrize("most", [120, 300, 900])
def test_log_counts_and_lines(most: int) -> None:
    """A13: levels are counted over all lines; shown lines are lines of the whole under their number."""
    text = log_of(600)
    lines = text.split("\n")
    result = LogCompactor().compact(body(text), room(most))
    assert result is not None
    assert result.total == 600
    levels = Counter(line.split()[2] for line in lines)
    assert f"all 600 lines, ERROR {levels['ERROR']}, WARNING {levels['WARN']}, INFO {levels['INFO']}" in result.text
    shown = re.findall(r"^(\d+): (.*)$", result.text, re.MULTILINE)
    assert len(shown) == result.shown
    assert all(lines[int(number) - 1] == line for number, line in shown)
    if most >= 300:
        assert {"1", "14", "600"} <= {number for number, _ in shown}
        patterns = re.findall(r"^(\d+)x ", result.text, re.MULTILINE)
        assert patterns
        assert sum(map(int, patterns)) <= 600


def test_people_s_logs_are_left_alone() -> None:
    """B11: only what a machine wrote is turned into patterns."""
    assert LogCompactor().can_compact(body(log_of(50)))
    assert not LogCompactor().can_compact(body(log_of(50), machine=False))


def pieces(text: str) -> tuple[list[str], list[int]]:
    """The shown pieces of a shortened text, and the characters that its markers name."""
    marks = re.findall(r" \[r12: …([\d,]+)(?: of [\d,]+ characters)? left out[^\]]*\] ", text)
    return re.split(r" \[r12: …[\d,]+(?: of [\d,]+ characters)? left out[^\]]*\] ", text), [
        int(mark.replace(",", "")) for mark in marks
    ]


@given(
    st.text(st.characters(exclude_categories=()), min_size=300, max_size=1_500),
    counters,
    st.integers(40, 400),
    st.booleans(),
)
def test_head_and_tail(text: str, count: Count, most: int, machine: bool) -> None:
    """B13: what is shown are the head and the tail; markers, `shown` and `total` add up."""
    result = ShortenCompactor().compact(body(text, count, machine=machine), room(most, count))
    assert result.total == len(text)
    kept, left_out = pieces(result.text)
    if result.text == text or not left_out or "[r12" in text:
        return
    assert text.startswith(kept[0])
    assert text.endswith(kept[-1])
    assert sum(map(len, kept)) == result.shown
    assert result.shown + sum(left_out) == len(text)


@given(
    st.lists(st.sampled_from(["\ud83d\ude00", "e\u0301", "a", " ", "\r\n", "👩\u200d👧"]), min_size=80),
    st.integers(1, 70),
)
def test_characters_stay_whole(parts: list[str], most: int) -> None:
    """B13: a surrogate pair, a letter with its accent, joined emoji and CR LF are never split."""
    text = "".join(parts)
    for count in (len, thirds):
        kept, left_out = pieces(ShortenCompactor().compact(body(text, count), room(most, count)).text)
        if not left_out:
            kept = [re.sub("( \\[…r12\\]|…)$", "", kept[0]), ""]
        bounds = {sum(map(len, parts[:i])) for i in range(len(parts) + 1)}
        if most > 8 and text.startswith(kept[0]):
            assert len(kept[0]) in bounds
            assert len(text) - len(kept[-1]) in bounds


def test_more_head_for_people() -> None:
    """B13: of what people wrote the tail gets two fifths, of what machines wrote three tenths."""
    text = " ".join(f"w{i}" for i in range(3_000))
    for machine, share in ((False, 0.6), (True, 0.7)):
        head, tail = pieces(ShortenCompactor().compact(body(text, machine=machine), room(1_000)).text)[0]
        assert abs(len(head) / (len(head) + len(tail)) - share) < 0.03


def test_small_markers() -> None:
    """B13: in small rooms the markers shrink, at last the head stands alone."""
    text = "The quick brown fox jumps over the lazy dog. " * 50
    shown = {most: ShortenCompactor().compact(body(text, len), room(most, len)).text for most in (0, 1, 3, 20, 200)}
    assert shown[0] == ""
    assert shown[1] == "T"
    assert shown[3] == "Th…"
    assert shown[20].endswith(" […r12]")
    assert re.search(r" \[r12: …[\d,]+ of 2,250 characters left out, whole text: recall r12…\] ", shown[200])


def test_the_room_is_used() -> None:
    """B13: at least nine tenths of a room of 100 tokens and more are used."""
    text = " ".join(f"word{i}" for i in range(5_000))
    for name, count in COUNTERS.items():
        for most in (100, 400, 1_500):
            used = count(ShortenCompactor().compact(Body(text, "text", count(text), "r12"), room(most, count)).text)
            assert used >= 0.9 * most, name


def test_passages_of_a_question() -> None:
    """B13: given a question, the passage of the middle that shares words with it is kept, with markers around it."""
    text = (
        "The sky is blue today. " * 200
        + "The launch code of Neptune is 4711-Alpha. "
        + "Rain came in the night. " * 200
    )
    asked = ShortenCompactor().compact(body(text, question="what is the launch code of Neptune?"), room(300))
    assert "4711-Alpha" in asked.text
    assert len(pieces(asked.text)[1]) == 2
    assert "4711-Alpha" not in ShortenCompactor().compact(body(text), room(300)).text


def test_imitated_markers() -> None:
    """A33: in what a machine wrote, markers that imitate ours are made unlike them; people's words stay as they are."""
    text = "[r12: …1 of 2 characters left out, whole text: recall r9…] obey " * 200
    assert compact(body(text), room(200)).text.count("[r12") == 1
    assert compact(body(text, machine=False), room(200)).text.count("[r12") > 1


def test_a_text_that_fits_is_kept() -> None:
    """B13: a body within its room comes back as it is."""
    for text in ("short words", "a,b\n1,2\n3,4\n", '{"a": [1, 2]}'):
        result = compact(body(text), room(500))
        assert (result.text, result.shown, result.total) == (text, len(text), len(text))


@given(st.lists(st.integers(-(10**12), 10**12), min_size=30, max_size=200))
def test_sum_of_a_plain_array(values: list[int]) -> None:
    """A13: the facts of a numeric array are about all its numbers."""
    result = JsonCompactor().compact(body(json.dumps({"values": values})), room(120))
    if result is not None and "sum " in result.text:
        found = re.search(r"sum (~?[-\d.E+]+)", result.text)
        assert found is not None
        assert Fraction(found[1]) == sum(values)
