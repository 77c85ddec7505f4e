"""Exact counts with a vocabulary of tiktoken."""

from __future__ import annotations

from collections.abc import Sequence

from tiered_core.counting.chunks import CHUNK, UNSAFE_CUT_TOKENS, split_safely
from tiered_core.counting.exact_truncation import head_within, tail_within
from tiered_core.counting.framing import NEUTRAL, FramedCounter, Framing
from tiered_core.counting.pictures import OPENAI_TILES, PictureRule
from tiered_core.counting.plain import text_of
from tiered_core.counting.vocabulary import GivenEncoding, LazyEncoding
from tiered_core.types import Side


class TiktokenCounter(FramedCounter):
    """Counts with a vocabulary, as `len(encoding.encode_ordinary(text))` would.

    Only a run of more than 400,000 characters (2,000 with tiktoken before 0.13) without any safe cut, see `chunks`, is
    counted in parts, at most a few tokens too high per part. Special-token literals in a text are ordinary text; lone
    surrogates count as U+FFFD.
    """

    def __init__(
        self, vocabulary: LazyEncoding | GivenEncoding, framing: Framing = NEUTRAL, pictures: PictureRule =
        OPENAI_TILES,
        name: str = "",
    ) -> None:  # fmt: skip
        super().__init__(name or f"tiktoken:{vocabulary.name}", True, framing, pictures)
        self._vocabulary = vocabulary

    def encode(self, text: str) -> list[int]:
        """Token ids of a text that is no longer than a chunk, special-token literals as ordinary text."""
        return self._vocabulary.encoding.encode_ordinary(text)

    def decode(self, ids: Sequence[int]) -> bytes:
        """The bytes of token ids; they may begin or end inside a character."""
        return self._vocabulary.encoding.decode_bytes(ids)

    def count_text(self, text: str) -> int:
        """Tokens of a text; 0 for "" and None, other values count as their JSON text."""
        text = text_of(text)
        if len(text) <= CHUNK:
            return len(self.encode(text))
        return sum(len(self.encode(chunk)) + (0 if safe else UNSAFE_CUT_TOKENS) for chunk, safe in split_safely(text))

    def truncate(self, text: str, max_tokens: int, side: Side = "head") -> str:
        """The longest head (or tail) with at most `max_tokens` tokens; takes time for the answer, not for the text."""
        text = text_of(text)
        if max_tokens <= 0:
            return ""
        if len(text) * 4 <= max_tokens:  # a token has at least one byte, a character at most four
            return text
        cut = head_within if side == "head" else tail_within
        answer, target = cut(text, max_tokens, self.encode, self.decode), max_tokens
        # Without safe cuts the chunks of the answer need not be those of the text.
        while len(answer) > CHUNK and (excess := self.count_text(answer) - max_tokens) > 0:
            target = max(0, target - excess)
            answer = cut(text, target, self.encode, self.decode)
        return answer
