"""A stored text is tokenised once."""

from __future__ import annotations

import threading

from hypothesis import given
from hypothesis import strategies as st

from tests.core.counting_oracle import odd_texts
from tiered_core.counting import CallableCounter, MemoCounter, TokenCounter, get_token_counter
from tiered_core.types import Call, Media, Reading

TEXTS = list(odd_texts(40, seed=7))


@given(st.lists(st.sampled_from(TEXTS), max_size=40), st.integers(1, 50))
def test_same_figures_and_each_text_once(texts: list[str], entries: int) -> None:
    """P9: figures are the inner counter's; with room for all, each distinct character string is handed over once."""
    inner = get_token_counter()
    memo = MemoCounter(inner, entries=max(entries, 50))
    assert isinstance(memo, TokenCounter)
    assert [memo.count_text(text) for text in texts] == [inner.count_text(text) for text in texts]
    assert memo.characters == sum(map(len, set(texts)))
    small = MemoCounter(inner, entries=entries)
    assert [small.count_text(text) for text in texts] == [inner.count_text(text) for text in texts]


def test_the_least_recently_used_goes_first() -> None:
    """P9: memory is bounded; what was asked for lately stays."""
    asked: list[str] = []
    memo = MemoCounter(CallableCounter(lambda text: asked.append(text) or len(text)), entries=2)
    for text in ("a", "b", "a", "c", "a", "b"):
        memo.count_text(text)
    assert asked == ["a", "b", "c", "b"]
    assert memo.hits == 2


def test_everything_else_is_the_inner_counters() -> None:
    """B2: messages, pictures, tools, data and truncation give the inner counter's figures, under its name."""
    for name in (None, "gpt-4o", "claude-opus-4-8", "approximate", "seed"):
        inner = get_token_counter(name)
        memo = MemoCounter(inner)
        reading = Reading(
            "assistant", ("hello", "you"), name="n", calls=(Call("c", "f", '{"a":1}'),), media=(Media("image"),)
        )
        assert (memo.name, memo.exact) == (inner.name, inner.exact)
        assert memo.count_message(reading) == inner.count_message(reading) == memo.count_message(reading)
        assert memo.count_messages([reading, reading]) == inner.count_messages([reading, reading])
        assert memo.count_tools([{"function": {"name": "f"}}]) == inner.count_tools([{"function": {"name": "f"}}])
        assert memo.count_data({"a": [1]}) == inner.count_data({"a": [1]})
        assert memo.truncate("a b c d e f", 3) == inner.truncate("a b c d e f", 3)


def test_threads() -> None:
    """B2: counting from several threads at once gives the right figures and keeps the bound."""
    memo, inner = MemoCounter(get_token_counter(), entries=10), get_token_counter()
    wrong: set[str] = set()

    def count() -> None:
        for text in TEXTS * 5:
            wrong.update({text} if memo.count_text(text) != inner.count_text(text) else ())

    threads = [threading.Thread(target=count) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
