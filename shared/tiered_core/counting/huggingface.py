"""Tokenizers of the Hugging Face kind: objects of `tokenizers` or `transformers`, or a `tokenizer.json` on disk."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from tiered_core.counting.chunks import CHUNK, split_safely
from tiered_core.counting.framing import FramedCounter
from tiered_core.counting.plain import text_of
from tiered_core.counting.truncation import truncate_by_search
from tiered_core.errors import TieredError
from tiered_core.types import Side


def is_tokenizer(value: object) -> bool:
    """Whether an object is a tokenizer of `tokenizers` or `transformers`, by what it can do."""
    return callable(getattr(value, "encode", None)) and (
        callable(getattr(value, "token_to_id", None)) or callable(getattr(value, "convert_tokens_to_ids", None))
    )


class HuggingFaceCounter(FramedCounter):
    """Counts with a tokenizer object, without the special tokens that it would put around a text.

    Long texts are counted in parts that end where words end.

    Args:
        tokenizer: with `encode(text, add_special_tokens=False)`, which gives ids or an object with `ids`.
        name: identifies the counter.
    """

    def __init__(self, tokenizer: Any, name: str = "") -> None:
        own = getattr(tokenizer, "name_or_path", "") or f"{type(tokenizer).__module__}.{type(tokenizer).__qualname__}"
        super().__init__(name or f"huggingface:{own}", True)
        self.tokenizer = tokenizer

    def count_text(self, text: str) -> int:
        """Tokens of a text; 0 for "" and None."""
        return sum(self._count(chunk) for chunk, _ in split_safely(text_of(text), CHUNK))

    def truncate(self, text: str, max_tokens: int, side: Side = "head") -> str:
        """The longest head (or tail) with at most `max_tokens` tokens."""
        return truncate_by_search(text_of(text), max_tokens, side, self.count_text)

    def _count(self, text: str) -> int:
        # Lone surrogates can't be encoded as UTF-8, which these tokenizers do.
        clean = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        encoded = self.tokenizer.encode(clean, add_special_tokens=False)
        return len(getattr(encoded, "ids", encoded))


def load_tokenizer(path: str) -> HuggingFaceCounter:
    """The counter of a `tokenizer.json`, or of the folder that holds one. Nothing is downloaded.

    Raises:
        TieredError: when there is no such file.
        ImportError: when `tokenizers` isn't installed.
    """
    file = Path(path).expanduser()
    if file.is_dir():
        file = file / "tokenizer.json"
    if not file.is_file():
        raise TieredError(
            f"there is no tokenizer file {str(file)!r}; give a tokenizer.json or the folder that holds one"
        )
    try:
        tokenizers = importlib.import_module("tokenizers")
    except ImportError:
        raise ImportError("a tokenizer.json needs the package tokenizers: pip install tokenizers") from None
    return HuggingFaceCounter(tokenizers.Tokenizer.from_file(str(file)), f"huggingface:{file}")
