"""A host's own way of counting: a function from a text (or host message) to a figure, or to a list of tokens."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from functools import partial
from hashlib import blake2b
from typing import Any

from tiered_core.counting.estimate import ApproximateCounter
from tiered_core.counting.framing import FramedCounter, Framing
from tiered_core.counting.plain import text_of
from tiered_core.counting.truncation import truncate_by_search
from tiered_core.errors import TieredError
from tiered_core.types import Reading, Side

_log = logging.getLogger(__name__)
NO_FRAMING = Framing(message=0, role=0, name=0, reply=0)


class CallableCounter(FramedCounter):
    """Wraps a callable; its figures are final, no framing is added.

    The callable gets a string and returns a number or a sized value (LlamaIndex's `tokenizer_fn` returns a list of
    tokens). One that takes host messages is asked through `count_host`; of a message's parts it then sees only texts.
    Pictures it can't see cost what they cost elsewhere.
    """

    def __init__(self, function: Callable[[Any], Any], name: str = "") -> None:
        super().__init__(name or f"callable:{_identity(function)}", True, NO_FRAMING)
        self.function = function
        self._estimate = ApproximateCounter()
        self._reported = False

    def count_host(self, message: Any) -> int:
        """The callable's figure for one host message, as it is.

        Raises:
            TieredError: when the callable returns neither a number nor something with a length.
        """
        figure: Any = self.function(message)
        if isinstance(figure, Sized) and not isinstance(figure, str | bytes):
            return len(figure)
        try:
            whole: int = math.ceil(figure)
        except (TypeError, ValueError, OverflowError):
            raise TieredError(
                f"the token counter {self.name} returned {figure!r} for a {type(message).__name__}; "
                "it has to return a number of tokens or a list of tokens"
            ) from None
        return max(0, whole)

    def count_text(self, text: str) -> int:
        """The callable's figure for a text; 0 for "" and None without asking it.

        A callable that raises on a text (tiktoken's `encode` does on "<|endoftext|>", one for messages does on any)
        doesn't stop the conversation: that text is then estimated, with one line in the log.
        """
        text = text_of(text)
        if not text:
            return 0
        try:
            return self.count_host(text)
        except TieredError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever a user's function raises
            if not self._reported:
                self._reported = True
                _log.warning("the token counter %s raised %r on a text; such texts are estimated", self.name, error)
            return self._estimate.count_text(text)

    def count_tools(self, tools: Iterable[Mapping[str, Any]]) -> int:
        """The figure for the definitions' JSON text."""
        return sum(self.count_data(tool) for tool in tools)

    def count_messages(self, readings: Sequence[Reading]) -> int:
        """The sum over the messages."""
        return sum(self.count_message(reading) for reading in readings)

    def truncate(self, text: str, max_tokens: int, side: Side = "head") -> str:
        """A head (or tail) with at most `max_tokens` tokens; asks the callable about 2·log2(length) times."""
        return truncate_by_search(text_of(text), max_tokens, side, self.count_text)


def _identity(function: Any) -> str:
    """What tells one callable from another, the same in every process as far as the callable allows it."""
    if isinstance(function, partial):
        return f"{_identity(function.func)}{function.args}{sorted(function.keywords.items())}"
    owner = getattr(function, "__self__", None)
    if owner is not None:
        return f"{getattr(owner, 'name', type(owner).__qualname__)}.{function.__name__}"
    kind = function if hasattr(function, "__qualname__") else type(function)
    own = f"{getattr(kind, '__module__', 'builtins')}.{kind.__qualname__}"
    code = getattr(function, "__code__", None)
    if code is None:
        return own
    return f"{own}-{blake2b(code.co_code + repr(code.co_names).encode(), digest_size=4).hexdigest()}"
