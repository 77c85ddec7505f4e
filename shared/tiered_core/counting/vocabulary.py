"""Where a vocabulary comes from: a carrier on disk, else one bounded download, else nowhere.

Vocabularies, addresses, sha256 sums, split patterns and special tokens are those of tiktoken 0.14.0
(https://github.com/openai/tiktoken/blob/main/tiktoken_ext/openai_public.py, MIT, read 2026-11-30). An `Encoding` is
built from them directly: neither the environment nor tiktoken's registry of the process is touched.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import importlib.util
import os
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tiered_core.counting.download import fetch_once

if TYPE_CHECKING:
    import tiktoken

_CL100K_PATTERN = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)
_O200K_PATTERN = "|".join(
    [
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    ]
)
_CL100K_SPECIAL = {
    "<|endoftext|>": 100257,
    "<|fim_prefix|>": 100258,
    "<|fim_middle|>": 100259,
    "<|fim_suffix|>": 100260,
    "<|endofprompt|>": 100276,
}
_O200K_SPECIAL = {"<|endoftext|>": 199999, "<|endofprompt|>": 200018}
_HARMONY_SPECIAL = _O200K_SPECIAL | {
    "<|startoftext|>": 199998,
    "<|return|>": 200002,
    "<|constrain|>": 200003,
    "<|channel|>": 200005,
    "<|start|>": 200006,
    "<|end|>": 200007,
    "<|message|>": 200008,
    "<|call|>": 200012,
}
_PUBLIC = "https://openaipublic.blob.core.windows.net/encodings/"


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What identifies a vocabulary and splits a text before its merges apply.

    Attributes:
        name: tiktoken's name of the encoding.
        file: file name below OpenAI's public address.
        sha256: of that file.
        pattern: regular expression that cuts a text into pieces.
        special: special tokens; never produced from a user's text.
    """

    name: str
    file: str
    sha256: str
    pattern: str = field(repr=False)
    special: dict[str, int] = field(repr=False)

    @property
    def url(self) -> str:
        """Where tiktoken downloads it from; also the key of its cache."""
        return _PUBLIC + self.file


_CL100K_SHA = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
_O200K_SHA = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
VOCABULARIES = {
    "cl100k_base": Vocabulary("cl100k_base", "cl100k_base.tiktoken", _CL100K_SHA, _CL100K_PATTERN, _CL100K_SPECIAL),
    "o200k_base": Vocabulary("o200k_base", "o200k_base.tiktoken", _O200K_SHA, _O200K_PATTERN, _O200K_SPECIAL),
    "o200k_harmony": Vocabulary("o200k_harmony", "o200k_base.tiktoken", _O200K_SHA, _O200K_PATTERN, _HARMONY_SPECIAL),
}


class LazyEncoding:
    """A verified vocabulary file; the encoder is built when it is first needed (about 0.2 s) and then kept."""

    def __init__(self, vocabulary: Vocabulary, content: bytes) -> None:
        self.name = vocabulary.name
        self._vocabulary = vocabulary
        self._content: bytes | None = content
        self._encoding: tiktoken.Encoding | None = None
        self._lock = threading.Lock()

    @property
    def encoding(self) -> tiktoken.Encoding:
        """The encoder; the same object for all callers in the process."""
        if self._encoding is None:
            with self._lock:
                if self._encoding is None:
                    self._encoding = _build(self._vocabulary, self._content or b"")
                    self._content = None
        return self._encoding


class GivenEncoding:
    """An encoder that the caller holds already."""

    def __init__(self, encoding: tiktoken.Encoding) -> None:
        self.encoding = encoding
        self.name = encoding.name


_loaded: dict[str, LazyEncoding] = {}
_loading = threading.Lock()


def load_vocabulary(name: str) -> LazyEncoding | None:
    """The encoder of a vocabulary, None when no carrier holds it and it can't be downloaded.

    Looks, in this order, into `TIKTOKEN_CACHE_DIR`, `DATA_GYM_CACHE_DIR`, `<tmp>/data-gym-cache`, llama-index-core's
    folder and the wheel of the `offline` extra; every file is checked by sha256. A download is tried at most once per
    process, see `fetch_once`.

    Raises:
        KeyError: for a name that is not in `VOCABULARIES`.
    """
    vocabulary = VOCABULARIES[name]
    with _loading:
        if name not in _loaded:
            content = next(_verified(vocabulary), None)
            if content is None:
                return None
            _loaded[name] = LazyEncoding(vocabulary, content)
        return _loaded[name]


def _verified(vocabulary: Vocabulary) -> Iterator[bytes]:
    for content in _candidates(vocabulary):
        if hashlib.sha256(content).hexdigest() == vocabulary.sha256:
            yield content


def _candidates(vocabulary: Vocabulary) -> Iterator[bytes]:
    key = hashlib.sha1(vocabulary.url.encode(), usedforsecurity=False).hexdigest()
    for folder in cache_folders():
        with contextlib.suppress(OSError, ValueError):
            yield (folder / key).read_bytes()
    wheel = _from_wheel(vocabulary)
    if wheel is not None:
        yield wheel
    downloaded = fetch_once(vocabulary.url, vocabulary.sha256, _writable_cache(), key)
    if downloaded is not None:
        yield downloaded


def cache_folders() -> list[Path]:
    """The folders in which a vocabulary may lie, in the order in which they are tried."""
    folders = [Path(os.environ[v]) for v in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR") if os.environ.get(v)]
    folders.append(Path(tempfile.gettempdir()) / "data-gym-cache")
    # Found without importing: `import llama_index.core` costs seconds.
    try:
        spec = importlib.util.find_spec("llama_index")
    except (ImportError, ValueError):
        spec = None
    places = (spec and spec.submodule_search_locations) or ()
    return folders + [Path(place) / "core" / "_static" / "tiktoken_cache" for place in places]


def _writable_cache() -> Path | None:
    """Where tiktoken itself would keep a download; None where its cache is switched off by an empty name."""
    for variable in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"):
        if variable in os.environ:
            return Path(os.environ[variable]) if os.environ[variable] else None
    return Path(tempfile.gettempdir()) / "data-gym-cache"


def _from_wheel(vocabulary: Vocabulary) -> bytes | None:
    """The vocabulary file, rebuilt from toktok-rs (extra `offline`), which carries it compiled in.

    The accessor is not part of toktok's documented API; the sha256 check makes that safe, and a test breaks when it
    goes.
    """
    try:
        import toktok

        tokens: list[bytes] = toktok._encoding(vocabulary.name).token_byte_values()
        return b"".join(b"%s %d\n" % (base64.b64encode(token), rank) for rank, token in enumerate(tokens))
    except Exception:  # noqa: BLE001 - a foreign wheel of any version must not break counting
        return None


def _build(vocabulary: Vocabulary, content: bytes) -> tiktoken.Encoding:
    import tiktoken

    pairs = (line.split() for line in content.splitlines() if line)
    ranks = {base64.b64decode(token): int(rank) for token, rank in pairs}
    return tiktoken.Encoding(
        vocabulary.name, pat_str=vocabulary.pattern, mergeable_ranks=ranks, special_tokens=vocabulary.special
    )
