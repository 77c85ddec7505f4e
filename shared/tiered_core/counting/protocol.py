"""What the engine asks of a token counter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from tiered_core.types import Media, Reading, Side


@runtime_checkable
class TokenCounter(Protocol):
    """Counts tokens. All figures are tokens, never negative, and never below what a provider would count.

    An exact counter gives the true number; an estimating one (`exact` False) gives a padded bound.
    """

    name: str
    """Identifies vocabulary and rules; counts kept under one name are never mixed with another's."""
    exact: bool
    """Whether the figures are those of a vocabulary; False for an estimate."""

    def count_text(self, text: str) -> int:
        """Tokens of a text without any framing; 0 for ""."""

    def count_data(self, data: Any) -> int:
        """Tokens of structured data, as the compact JSON text that would be sent."""

    def count_image(self, media: Media) -> int:
        """Tokens of a picture, recording or file."""

    def count_message(self, reading: Reading) -> int:
        """Tokens of one message, framing included."""

    def count_messages(self, readings: Sequence[Reading]) -> int:
        """Tokens of a request: the sum over its messages plus what the reply's opening costs; 0 for none."""

    def count_tools(self, tools: Iterable[Mapping[str, Any]]) -> int:
        """Tokens of tool definitions in OpenAI's JSON form."""

    def truncate(self, text: str, max_tokens: int, side: Side = "head") -> str:
        """The longest head (or tail) of the text that has at most `max_tokens` tokens; no character is broken."""
