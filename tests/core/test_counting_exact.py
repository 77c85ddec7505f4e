"""Exact counts: those of tiktoken for every text, in time for any."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.counting_oracle import NAMES, odd_texts, oracle
from tiered_core.counting import TiktokenCounter, get_token_counter
from tiered_core.counting.chunks import LONGEST, SAFE_CUT, UNSAFE_CUT_TOKENS, split_safely, split_safely_backward


def counter(name: str) -> TiktokenCounter:
    found = get_token_counter(name)
    assert isinstance(found, TiktokenCounter)
    return found


def true_count(name: str, text: str) -> int:
    return len(oracle(name).encode_ordinary(text))


@pytest.mark.parametrize("name", NAMES)
def test_odd_strings(name: str) -> None:
    """B2: the figure is tiktoken's on texts made of special tokens, NUL, surrogates, scripts, runs and data."""
    for text in odd_texts(300):
        assert counter(name).count_text(text) == true_count(name, text), text


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_many_odd_strings(name: str) -> None:
    """B2: the same on 4,000 odd strings per vocabulary, and on every character that there is."""
    for text in odd_texts(4_000, seed=1):
        assert counter(name).count_text(text) == true_count(name, text), text
    for start in range(0, 0x110000, 0x40):
        text = " x".join(map(chr, range(start, start + 0x40)))
        assert counter(name).count_text(text) == true_count(name, text), hex(start)


@given(st.text(st.characters(codec=None), max_size=200), st.sampled_from(NAMES))
def test_any_string(text: str, name: str) -> None:
    """B2: the figure is tiktoken's on any string of code points, lone surrogates included."""
    assert counter(name).count_text(text) == true_count(name, text)


@given(st.lists(st.sampled_from(list(odd_texts(60, seed=2))), min_size=1, max_size=6), st.integers(1, 60))
def test_chunks_are_the_text_and_safe_cuts_change_nothing(parts: list[str], size: int) -> None:
    """B2: chunks joined are the text, from either end; at safe cuts their tokens add up to the text's."""
    text = "".join(parts)
    forward, backward = list(split_safely(text, size)), list(split_safely_backward(text, size))
    assert "".join(chunk for chunk, _ in forward) == text
    assert "".join(chunk for chunk, _ in reversed(backward)) == text
    for name in NAMES[:2]:
        for chunks in (forward, backward):
            assert all(safe for _, safe in chunks)
            assert sum(true_count(name, chunk) for chunk, _ in chunks) == true_count(name, text)


@given(st.sampled_from(list(odd_texts(120, seed=3))), st.sampled_from(list(odd_texts(120, seed=4))))
def test_every_safe_cut_is_safe(left: str, right: str) -> None:
    """B2: cutting a text at each place that counts as safe never changes its tokens."""
    text = left + right
    for name in NAMES[:2]:
        whole = true_count(name, text)
        for found in list(SAFE_CUT.finditer(text))[:25]:
            assert true_count(name, text[: found.end()]) + true_count(name, text[found.end() :]) == whole


HARD = {
    "equal spaces": " " * 1_000_000,
    "equal letters": "a" * 300_000,
    "han without a space": "漢" * 300_000,
    "base64": "iVBORw0KGgoAAAANSUhEUgAA" * 12_500,
    "line breaks": "\n" * 300_000,
    "NUL": "\0" * 300_000,
    "lone surrogates": "\ud83d" * 100_000,
    "special tokens": "<|endoftext|>" * 20_000,
    "tabs and spaces": " \t" * 200_000,
}


@pytest.mark.parametrize("kind", HARD)
def test_hard_texts_end_soon(kind: str) -> None:
    """B2: no exception and no hang on a million equal spaces, or on 300,000 characters without a space."""
    text = HARD[kind]
    started = time.perf_counter()
    figure = counter("cl100k_base").count_text(text)
    assert time.perf_counter() - started < 20
    slack = UNSAFE_CUT_TOKENS * (2 + len(text) // LONGEST)
    assert 0 < figure <= len(text.encode("utf-8", "surrogatepass")) + slack
    half = counter("cl100k_base").count_text(text[: len(text) // 2])
    assert abs(figure - 2 * half) <= 2 * slack + figure * 0.02


@pytest.mark.parametrize("kind", ["equal letters", "han without a space", "base64", "special tokens"])
def test_hard_texts_are_exact_within_the_longest_chunk(kind: str) -> None:
    """B2: a text without a safe cut is exact as long as one chunk may be; beyond it the figure is never lower."""
    text = HARD[kind][: min(LONGEST, 300_000)]
    assert counter("o200k_base").count_text(text) == true_count("o200k_base", text)
    longer = (HARD[kind] * 2)[: LONGEST + 60_000]
    if LONGEST > 300_000:
        true = true_count("o200k_base", longer)
        assert true <= counter("o200k_base").count_text(longer) <= true + 2 * UNSAFE_CUT_TOKENS


@pytest.mark.parametrize("value", [None, "", [], {}, ["a", None], {"type": "new"}, b"bytes", 5, object()])
def test_values_that_are_no_text(value: object) -> None:
    """B2: None counts 0, anything else counts as the text that would be sent, without an exception."""
    figure = counter("cl100k_base").count_text(value)  # type: ignore[arg-type]
    assert figure == 0 if value in (None, "") else figure > 0


def test_data_is_counted_as_compact_json() -> None:
    """B2: structured data costs what its compact JSON costs; odd values and cycles don't raise."""
    count = counter("cl100k_base")
    assert count.count_data({"a": [1, None, "ü"]}) == count.count_text('{"a":[1,null,"ü"]}')
    cycle: list[object] = []
    cycle.append(cycle)
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    for odd in (cycle, {(1, 2): 3}, float("nan"), {1, 2}, b"\xff", object(), type, range(3)):
        assert count.count_data(odd) > 0
    assert count.count_data(deep) > 0
