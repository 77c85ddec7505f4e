"""Between LlamaIndex's `tokenizer_fn` (text to list of tokens) and this package's token counters."""

from __future__ import annotations

from collections.abc import Callable, Sized
from typing import Any

from tiered_core.counting import FramedCounter, TokenCounter
from tiered_core.counting.truncation import truncate_by_search
from tiered_core.types import Side


class TokenizerCounter(FramedCounter):
    """Counts with a `tokenizer_fn`; what stands around the texts (roles, calls, pictures) is counted as elsewhere."""

    def __init__(self, tokenizer_fn: Callable[[str], Sized]) -> None:
        own = getattr(tokenizer_fn, "__qualname__", type(tokenizer_fn).__qualname__)
        super().__init__(f"tokenizer:{getattr(tokenizer_fn, '__module__', '')}.{own}", exact=True)
        self.tokenizer_fn = tokenizer_fn

    def count_text(self, text: str) -> int:
        """The length of what the tokenizer gives."""
        return len(self.tokenizer_fn(text)) if text else 0

    def truncate(self, text: str, max_tokens: int, side: Side = "head") -> str:
        """See `FramedCounter.truncate`."""
        return truncate_by_search(text, max_tokens, side, self.count_text)


class CountedTokens:
    """A `tokenizer_fn` for code that takes the length of its result: as many entries as the counter counts tokens."""

    def __init__(self, counter: TokenCounter) -> None:
        self.counter = counter

    def __call__(self, text: str) -> list[Any]:
        """A list of the right length; its entries mean nothing."""
        return [0] * self.counter.count_text(text)
