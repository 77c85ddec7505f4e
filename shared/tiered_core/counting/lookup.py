"""From a name, a model, a tokenizer or a callable to a token counter."""

from __future__ import annotations

import threading
import warnings
from typing import Any, cast

from tiered_core.counting.callable import CallableCounter
from tiered_core.counting.download import TokenCountWarning, why_missing
from tiered_core.counting.estimate import ApproximateCounter, Vocabularies
from tiered_core.counting.exact import TiktokenCounter
from tiered_core.counting.framing import NEUTRAL, FramedCounter
from tiered_core.counting.huggingface import HuggingFaceCounter, is_tokenizer, load_tokenizer
from tiered_core.counting.models import KNOWN_FAMILIES, OTHER, Family, family_of
from tiered_core.counting.protocol import TokenCounter
from tiered_core.counting.scaled import ScaledCounter
from tiered_core.counting.seed import SEED_RATIOS, Content, SeedCounter
from tiered_core.counting.vocabulary import VOCABULARIES, GivenEncoding, load_vocabulary
from tiered_core.errors import TieredError

DEFAULT_VOCABULARY = "cl100k_base"
_warned = threading.Event()


def get_token_counter(name_or_model: Any = None) -> TokenCounter:
    """The token counter for a name, a model, a tokenizer or a function.

    Args:
        name_or_model: One of

            - None or "tiktoken": exact with the neutral vocabulary cl100k_base; "tiktoken:o200k_base" or "o200k_base".
            - a model's name, with or without provider ("gpt-4o", "model:openai/gpt-4o", "claude-sonnet-4-6"): exact for
              OpenAI's models, an estimate (`exact` False) for others.
            - "approximate" or "approximate:o200k_base": the estimate that needs no vocabulary.
            - "seed", "seed:code", "seed:mixed": fixed ratios.
            - "huggingface:<path>": a tokenizer.json on disk; or an object of `tokenizers`, `transformers` or tiktoken.
            - a `TokenCounter`, returned as it is.
            - a function from a text (or host message) to a number or a list of tokens; its figures are final.
            - a chat model of either host, by its model name; an unknown name is estimated, none gets the default.

    Returns:
        A counter. Without a vocabulary on disk, and without a download, the estimate, with one warning per process.

    Raises:
        TieredError: for a name that is not known, or a value that is none of these.
        ImportError: when the library that a tokenizer needs is not installed.
    """
    if name_or_model is None:
        return _with_vocabulary(DEFAULT_VOCABULARY)
    if isinstance(name_or_model, str):
        return _named(name_or_model)
    if isinstance(name_or_model, TokenCounter):
        return name_or_model
    if callable(getattr(name_or_model, "encode_ordinary", None)):
        return TiktokenCounter(GivenEncoding(name_or_model))
    if is_tokenizer(name_or_model):
        return HuggingFaceCounter(name_or_model)
    if callable(name_or_model):
        return CallableCounter(name_or_model)
    return _of_model(name_or_model)


def _named(name: str) -> TokenCounter:
    kind, _, rest = name.strip().partition(":")
    if kind == "tiktoken" and (rest or DEFAULT_VOCABULARY) in VOCABULARIES:
        return _with_vocabulary(rest or DEFAULT_VOCABULARY)
    if name in VOCABULARIES:
        return _with_vocabulary(name)
    if kind == "approximate" and rest in ("", "cl100k_base", "o200k_base"):
        return ApproximateCounter(cast(Vocabularies, rest or DEFAULT_VOCABULARY))
    if kind == "seed" and (rest or "prose") in SEED_RATIOS:
        return SeedCounter(cast(Content, rest or "prose"))
    if kind == "huggingface" and rest:
        return load_tokenizer(rest)
    family = family_of(rest if kind == "model" else name)
    if family is None:
        raise TieredError(
            f"there is no token counter named {name!r}. Known are: tiktoken, {', '.join(VOCABULARIES)}, approximate, "
            f"seed, huggingface:<path of a tokenizer.json>, and the models {KNOWN_FAMILIES}. "
            "For another model pass its tokenizer, or a function from a text to a number of tokens."
        )
    return _of_family(family, name)


def _of_model(model: Any) -> TokenCounter:
    name = _model_name(model)
    if name is None:
        if any(callable(getattr(model, method, None)) for method in ("invoke", "chat", "complete")):
            return _with_vocabulary(DEFAULT_VOCABULARY)
        raise TieredError(
            f"a {type(model).__name__} is neither a name, a model, a tokenizer nor a function that counts tokens"
        )
    return _of_family(family_of(name) or OTHER, name)


def _model_name(model: Any) -> str | None:
    """The model's name as either host keeps it, None where there is none; looks through bindings."""
    for _ in range(4):
        metadata = getattr(model, "metadata", None)
        for owner, attribute in (
            (model, "model_name"),
            (model, "model"),
            (metadata, "model_name"),
            (model, "model_id"),
        ):
            value = getattr(owner, attribute, None)
            if isinstance(value, str) and value.strip() and value != "unknown":
                return value
        model = getattr(model, "bound", None)
    return None


def _of_family(family: Family, name: str) -> TokenCounter:
    base = _with_vocabulary(family.vocabulary, family, f"model:{name}")
    if family.factor == 1.0 or isinstance(base, ApproximateCounter):
        return base
    return ScaledCounter(base, family.factor, family.framing, family.pictures, f"model:{name}")


def _with_vocabulary(vocabulary: str, family: Family | None = None, name: str = "") -> FramedCounter:
    found = load_vocabulary(vocabulary)
    family = family or Family(vocabulary, framing=NEUTRAL)
    if found is not None:
        return TiktokenCounter(found, family.framing, family.pictures, name)
    _warn_once(vocabulary)
    nearest: Vocabularies = "cl100k_base" if vocabulary == "cl100k_base" else "o200k_base"
    return ApproximateCounter(nearest, family.framing, family.pictures, family.factor, name and f"approximate:{name}")


def _warn_once(vocabulary: str) -> None:
    if _warned.is_set():
        return
    _warned.set()
    warnings.warn(
        f"no copy of the token vocabulary {vocabulary} is on disk and {why_missing()}: tokens are estimated, with a "
        "padded bound for decisions. For exact counts: pip install 'tiered-context[offline]', or pass token_counter=.",
        TokenCountWarning,
        stacklevel=5,
    )
