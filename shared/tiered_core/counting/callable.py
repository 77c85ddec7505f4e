"""A host's own way of counting: a function from a text (or host message) to a figure, or to a list of tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from typing import Any

from tiered_core.counting.framing import FramedCounter, Framing
from tiered_core.counting.plain import text_of
from tiered_core.counting.truncation import truncate_by_search
from tiered_core.errors import TieredError
from tiered_core.types import Reading, Side

NO_FRAMING = Framing(message=0, role=0, name=0, reply=0)


class CallableCounter(FramedCounter):
    """Wraps a callable; its figures are final, no framing is added.

    The callable gets a string and returns a number or a sized value (LlamaIndex's `tokenizer_fn` returns a list of
    tokens). One that takes host messages is asked through `count_host`; of a message's parts it then sees only texts.
    Pictures it can't see cost what they cost elsewhere.
    """

    def __init__(self, function: Callable[[Any], Any], name: str = "") -> None:
        own = getattr(function, "__qualname__", type(function).__qualname__)
        super().__init__(name or f"callable:{getattr(function, '__module__', '')}.{own}", True, NO_FRAMING)
        self.function = function

    def count_host(self, message: Any) -> int:
        """The callable's figure for one host message, as it is.

        Raises:
            TieredError: when the callable returns neither a number nor something with a length.
        """
        figure = self.function(message)
        if isinstance(figure, Sized) and not isinstance(figure, str | bytes):
            return len(figure)
        try:
            return max(0, int(figure))
        except (TypeError, ValueError):
            raise TieredError(
                f"the token counter {self.name} returned {figure!r} for a {type(message).__name__}; "
                "it has to return a number of tokens or a list of tokens"
            ) from None

    def count_text(self, text: str) -> int:
        """The callable's figure for a text; 0 for "" and None without asking it."""
        text = text_of(text)
        return self.count_host(text) if text else 0

    def count_tools(self, tools: Iterable[Mapping[str, Any]]) -> int:
        """The figure for the definitions' JSON text."""
        return sum(self.count_data(tool) for tool in tools)

    def count_messages(self, readings: Sequence[Reading]) -> int:
        """The sum over the messages."""
        return sum(self.count_message(reading) for reading in readings)

    def truncate(self, text: str, max_tokens: int, side: Side = "head") -> str:
        """A head (or tail) with at most `max_tokens` tokens; asks the callable about 2·log2(length) times."""
        return truncate_by_search(text_of(text), max_tokens, side, self.count_text)
