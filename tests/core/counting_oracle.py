"""What tiktoken itself counts, and texts that a tokenizer may stumble over."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache

import tiktoken
from tiktoken_ext import openai_public

from tiered_core.counting.vocabulary import VOCABULARIES, load_vocabulary

NAMES = tuple(VOCABULARIES)


@cache
def oracle(name: str) -> tiktoken.Encoding:
    """tiktoken's own encoding, by its own constructor; only the merges come from the carrier that we found."""
    found = load_vocabulary(name)
    assert found is not None, "the tests need a carrier of the vocabularies, for example llama-index-core or toktok-rs"
    merges: dict[bytes, int] = found.encoding._mergeable_ranks

    def carried(url: str, expected_hash: str | None = None) -> dict[bytes, int]:
        assert (url, expected_hash) == (VOCABULARIES[name].url, VOCABULARIES[name].sha256)
        return merges

    original = openai_public.load_tiktoken_bpe
    openai_public.load_tiktoken_bpe = carried
    try:
        return tiktoken.Encoding(**getattr(openai_public, name, openai_public.o200k_base)())
    finally:
        openai_public.load_tiktoken_bpe = original


_PARTS: tuple[str, ...] = (
    "<|endoftext|>", "<|start|>", "<|im_start|>user", "<|fim_prefix|>", "\x00", "\ud800", "\udc00\ud83d", "\ufeff",
    " ", "   ", "\n", "\r\n", "\t", "\u00a0", "\u3000", "\x85", "\x1c", "\u200d", "a", "I'm", "we'LL", "'s", "\u2019s",
    "don\u017f", "hello world", "HTTPServer", "snake_case", "0", "1234567", "3.14159", "-0.5e10", "\u0661\u0662",
    "\u00bd", "\u4e00", "中文，测试。", "日本語の文", "한국어", "Привет", "مرحبا", "हिन्दी", "ไทย", "e\u0301",
    "\U0001f9e0", "\U0001f468\u200d\U0001f469", "\u0e33", '{"a": [1, 2]}', "a,b,c\n1,2,3\n", "| x | y |",
    "-----", "=" * 40, "//",
    "/\n", "...\r\n\r\n", "!?", "\\n", "iVBORw0KGgoAAAANSUhEUgAA", "deadbeef", "\u2502\u2500\u253c", "\uffff",
    "\U0010ffff", "\u017f", "ß", "\u01c4", "\u0345",
)  # fmt: skip


def odd_texts(number: int, seed: int = 0) -> Iterator[str]:
    """Texts glued together from parts that are special to somebody, some of them long."""
    rng = random.Random(seed)
    for _ in range(number):
        parts = rng.choices(_PARTS, k=rng.randrange(1, 14))
        yield "".join(part * rng.choice((1, 1, 1, 2, 3, 30)) for part in parts)
