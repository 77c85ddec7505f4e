"""What the benchmarks measure with."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest

from tests.benchmarks import tokens
from tests.benchmarks.corpora import Conversation
from tests.benchmarks.figures import mean_of
from tests.benchmarks.judging import judge, line_of
from tests.benchmarks.methods import Seen, last_n
from tests.benchmarks.p03_provenance import stands_in

CALL: dict[str, Any] = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "c", "type": "function", "function": {"name": "run", "arguments": "{}"}}],
}
TALK: list[dict[str, Any]] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "How many?"},
    CALL,
    {"role": "tool", "tool_call_id": "c", "content": "12"},
    {"role": "assistant", "content": "Twelve."},
]


class Words:
    """Stands for a vocabulary: as in the real one, no token reaches from a visible character into a space."""

    def encode_ordinary(self, text: str) -> list[str]:
        pieces = re.split(r"(?<=\S)(?= )", text)
        return [piece[k : k + 2] for piece in pieces for k in range(0, len(piece), 2)]


@pytest.fixture(autouse=True)
def _no_vocabulary(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "encoding", Words)
    monkeypatch.setattr(tokens, "_counts", {})


def test_suffix_tokenizer_is_exact() -> None:
    """The count of a text's end, taken from the count before, is that of the whole text; odd white space included."""
    chance = random.Random(1)
    for _ in range(200):
        words = ["a", "bb c", "", " x", "y ", "\n", "z\nq", "  "]
        parts = [" ".join(chance.choices(words, k=3)) for _ in range(12)]
        tokenizer = tokens.SuffixTokenizer()
        texts = [" ".join(parts[start:]) for start in sorted(chance.choices(range(12), k=8))]
        for text in [*texts, "quite another", "another", "abcdef", "cdef", ""]:
            assert len(tokenizer(text)) == len(Words().encode_ordinary(text))


@pytest.mark.parametrize(("value", "there"), [("12", True), ("2", False), ("JFK", True), ("JF", False), ("a-b", True)])
def test_values_stand_alone(value: str, there: bool) -> None:
    """A value counts as shown only where it is no part of a longer word or number."""
    assert stands_in(value, '{"id": 12, "from":"JFK", "code": "a-b"}') is there


def test_prefixes_end_where_a_model_is_called() -> None:
    """No prefix ends before the first user message or between a call and its result."""
    assert Conversation("", "", TALK).prefixes() == [2, 4, 5]


def test_judging() -> None:
    """A whole transcript is fine; one token too many, an orphan and an error are not."""
    lines = [line_of(message) for message in TALK]
    size = tokens.view_tokens(TALK)
    assert judge(Seen(TALK), lines, size, strict=True).faults == ()
    assert judge(Seen(TALK), lines, size - 1, strict=True).faults
    assert judge(Seen([TALK[0], TALK[3]]), lines, size, strict=True).faults
    assert judge(Seen(None, "ValueError"), lines, size, strict=True).faults


def test_last_n() -> None:
    """The system message and the newest messages, never more than the budget."""
    size = tokens.view_tokens(TALK)
    assert last_n(TALK, size) == TALK
    assert last_n(TALK, size - 1) == [TALK[0], *TALK[2:]]


def test_means_are_never_rounded_to_a_perfect_one() -> None:
    """One failure in a thousand doesn't show as 100.0; nothing measured shows as nothing."""
    mean = mean_of({"a": [1.0] * 999, "b": [0.0]})
    assert mean is not None
    assert mean.percent().startswith("99.9")
    assert mean_of({}) is None
