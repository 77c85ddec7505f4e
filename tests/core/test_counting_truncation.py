"""Truncation to a number of tokens: never more, as long as possible, no broken character, fast."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.counting_oracle import NAMES, odd_texts, oracle
from tiered_core.counting import ApproximateCounter, SeedCounter, TokenCounter, get_token_counter
from tiered_core.counting.chunks import LONGEST, UNSAFE_CUT_TOKENS
from tiered_core.types import Side

SIDES: tuple[Side, ...] = ("head", "tail")
TEXTS = [*odd_texts(150, seed=5), "supercalifragilisticexpialidocious internationalization", "🧠" * 20, "é" * 50]


def is_part(text: str, part: str, side: Side) -> bool:
    return text.startswith(part) if side == "head" else text.endswith(part)


@given(st.sampled_from(TEXTS), st.integers(0, 60), st.sampled_from(SIDES), st.sampled_from(NAMES))
def test_never_more_and_a_part_of_the_text(text: str, limit: int, side: Side, name: str) -> None:
    """B13: the answer is a head (tail) of the text itself and tiktoken counts at most the limit in it."""
    answer = get_token_counter(name).truncate(text, limit, side)
    assert is_part(text, answer, side)
    assert len(oracle(name).encode_ordinary(answer)) <= limit


@given(st.text(st.characters(codec=None), max_size=120), st.integers(0, 30), st.sampled_from(SIDES))
def test_any_string(text: str, limit: int, side: Side) -> None:
    """B13: the same on any string of code points."""
    answer = get_token_counter().truncate(text, limit, side)
    assert is_part(text, answer, side)
    assert len(oracle("cl100k_base").encode_ordinary(answer)) <= limit


def longest_part(text: str, limit: int, side: Side) -> str:
    """The longest head (tail) within a limit, by trying them all."""
    parts = [text[:size] if side == "head" else text[len(text) - size :] for size in range(len(text) + 1)]
    return max((part for part in parts if len(oracle("cl100k_base").encode_ordinary(part)) <= limit), key=len)


WORDS = st.lists(
    st.sampled_from(["ARABI", "Accessi", "ABCMet", "Abstrac", " the", "\n", "é", "漢", "🧠", "'s", "12345"])
)


@given(st.text("ab intero \n.,é漢🧠'19", max_size=60) | WORDS.map("".join), st.integers(1, 20), st.sampled_from(SIDES))
def test_no_longer_part_fits(text: str, limit: int, side: Side) -> None:
    """B13: of all heads (tails) of a text, none within the limit is longer than the answer."""
    assert get_token_counter().truncate(text, limit, side) == longest_part(text, limit, side)


def test_longer_words_may_have_fewer_tokens() -> None:
    """B13: the first token of "ARABI" is "AR", yet "ARA" is one token too, and so is the tail "ces" of "Acces"."""
    counter = get_token_counter()
    assert [counter.truncate("ARABI", 1), counter.truncate("Acces", 1, "tail")] == ["ARA", "ces"]


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("limit", [1, 100, 5_000, 200_000])
def test_megabytes(side: Side, limit: int) -> None:
    """B13: on megabytes the time goes with the answer, also where the text has no space; never more than the limit."""
    counter = get_token_counter()
    for text in ("The quick brown fox, 1234 dogs. 中文。\n" * 40_000, "漢字" * 300_000, "ab" * 300_000):
        started = time.perf_counter()
        answer = counter.truncate(text, limit, side)
        assert time.perf_counter() - started < 20
        assert is_part(text, answer, side)
        parts = 1 + len(answer) // LONGEST
        assert limit - 40 - UNSAFE_CUT_TOKENS * parts <= counter.count_text(answer) <= limit


@given(st.sampled_from(TEXTS), st.integers(-1, 200), st.sampled_from(SIDES))
def test_every_counter_keeps_its_own_limit(text: str, limit: int, side: Side) -> None:
    """B13: estimates, fixed ratios, scaled models and functions cut to their own figures."""
    counters: list[TokenCounter] = [
        ApproximateCounter(), ApproximateCounter("o200k_base"), SeedCounter("code"),
        get_token_counter("claude-opus-4-8"), get_token_counter(len), get_token_counter(str.split),
    ]  # fmt: skip
    for counter in counters:
        answer = counter.truncate(text, limit, side)
        assert is_part(text, answer, side)
        assert counter.count_text(answer) <= max(0, limit)
    assert get_token_counter(len).truncate(text, limit, side) == (
        text[: max(0, limit)] if side == "head" else text[max(0, len(text) - max(0, limit)) :]
    )
