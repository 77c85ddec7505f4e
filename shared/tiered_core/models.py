"""What a model can take: its host says so, else a list of models knows, else a cautious figure with a warning."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

Source = Literal["explicit", "host", "genai-prices", "requirements", "default"]

DEFAULT_WINDOW = 8_192
"""Tokens of a model that nobody knows. Of the 1,419 models with a stated window in genai-prices 0.2.3
(https://pypi.org/project/genai-prices/0.2.3/, counted 2026-11-30), 98.7 % have at least as many."""

_WRAPPED_AT_MOST = 8
# warn → _guess → limits_of → TokenBudget.for_model → whoever called that.
_CALLER = 4


class UnknownModelWarning(UserWarning):
    """Says that a model's window is not known, which figure is used instead, and how to set it."""


@dataclass(frozen=True, slots=True)
class ModelLimits:
    """What a model can take, in tokens.

    Attributes:
        context_window: what it accepts.
        practical_limit: above which its answers get poor; None where that is not known.
        latency_threshold: above which its answers get slow; None where that is not known.
        max_output: of an answer, as the host states it; None where it doesn't. No reserve is derived from it: it
            is what the model could answer at most, not what it will.
        source: who gave the window: the caller ("explicit"), "host", "genai-prices", the table of requirement A1
            ("requirements"), or nobody ("default").
    """

    context_window: int
    practical_limit: int | None = None
    latency_threshold: int | None = None
    max_output: int | None = None
    source: Source = "default"


@dataclass(frozen=True, slots=True)
class _Family:
    names: re.Pattern[str]
    context_window: int
    practical_limit: int
    latency_threshold: int


def _family(names: str, context_window: int, practical_limit: int) -> _Family:
    return _Family(re.compile(rf"(?<![a-z0-9]){names}"), context_window, practical_limit, practical_limit)


# Requirement A1. The first two rows are the early models of the GPT-4 family, whose windows are smaller (so
# listed in genai-prices 0.2.3, read 2026-11-30). Later families (gpt-4.1, claude-3-7, …) are not in it.
_FAMILIES = (
    _family(r"gpt-4-32k", 32_768, 40_000),
    _family(r"gpt-4-0(?:314|613)\b", 8_192, 40_000),
    _family(r"(?:chat)?gpt-4(?![.\d])", 128_000, 40_000),
    _family(r"claude-3[.-]5", 200_000, 60_000),
    _family(r"claude-3(?![.\d]|-\d{1,2}(?!\d))", 200_000, 50_000),
)


def limits_of(name_or_model: Any, context_window: int | None = None) -> ModelLimits:
    """The limits of a model.

    The window is looked up in this order: `context_window`; the host (LangChain `model.profile`, LlamaIndex
    `llm.metadata`, behind wrappers too); genai-prices where the extra `prices` is installed (its own data, no network);
    the table of requirement A1, in which "gpt-4" alone stands for the family; `DEFAULT_WINDOW` with one
    `UnknownModelWarning`. Practical limit and latency threshold are those of requirement A1, whoever gave the window.

    Args:
        name_or_model: a model's name, with or without provider ("gpt-4o", "openai:gpt-4o", "openrouter/openai/gpt-4o"),
            or a chat model of either host.
        context_window: tokens, when the caller knows better.
    """
    names = list(_names(name_or_model))
    family = next((f for name in names for f in _FAMILIES if f.names.search(name)), None)
    practical, latency = (family.practical_limit, family.latency_threshold) if family else (None, None)
    stated, max_output = _stated(name_or_model)
    source: Source = "host"
    window = stated
    if context_window is not None:
        window, source = context_window, "explicit"
    if window is None:
        window, source = next((w for w in map(_listed, names) if w), None), "genai-prices"
    if window is None and family is not None:
        window, source = family.context_window, "requirements"
    if window is None:
        window, source = _guess(names, name_or_model), "default"
    return ModelLimits(window, practical, latency, max_output, source)


def _guess(names: list[str], model: Any) -> int:
    named = repr(names[0]) if names else f"a {type(model).__name__} without a model name"
    hint = "genai-prices doesn't list it" if _prices() else "pip install 'tiered-context[prices]' for a list of models"
    warnings.warn(
        f"the context window of {named} is not known ({hint}): {DEFAULT_WINDOW:,} tokens are used, which nearly every "
        "model takes. Set it with TokenBudget.for_model(..., context_window=...) or TokenBudget(context_window=...).",
        UnknownModelWarning,
        stacklevel=_CALLER,
    )
    return DEFAULT_WINDOW


# --- what the host says ----------------------------------------------------------------------------------------------


def _layers(model: Any) -> Iterator[Any]:
    """The model, then what it wraps (LangChain's `RunnableBinding.bound`), outermost first."""
    for _ in range(_WRAPPED_AT_MOST):
        if model is None or isinstance(model, str):
            return
        yield model
        model = _read(model, "bound")


def _stated(model: Any) -> tuple[int | None, int | None]:
    """(window, longest answer) in tokens as the host states them; None for what it doesn't."""
    for layer in _layers(model):
        profile, metadata = _read(layer, "profile"), _read(layer, "metadata")
        if isinstance(profile, Mapping) and _tokens(profile.get("max_input_tokens")):
            return _tokens(profile["max_input_tokens"]), _tokens(profile.get("max_output_tokens"))
        if _tokens(_read(metadata, "context_window")):
            return _tokens(_read(metadata, "context_window")), _tokens(_read(metadata, "num_output"))
    return None, None


def _names(model: Any) -> Iterator[str]:
    """The names under which a model may be known, lower case, spaces as hyphens."""
    if isinstance(model, str):
        found: list[Any] = [model]
    else:
        fields = ("model_name", "model", "model_id")
        found = [_read(layer, field) for layer in _layers(model) for field in fields]
        found += [_read(_read(layer, "metadata"), "model_name") for layer in _layers(model)]
    texts = (name.strip().lower().replace(" ", "-") for name in found if isinstance(name, str))
    yield from dict.fromkeys(text for text in texts if text and text != "unknown")


def _read(owner: Any, name: str) -> Any:
    """An attribute, None where there is none; a host's property may raise anything (LlamaIndex on an unknown name)."""
    try:
        return getattr(owner, name, None)
    except Exception:  # noqa: BLE001 - code of a host
        return None


def _tokens(value: Any) -> int | None:
    """A positive whole number, else None (LlamaIndex states -1 for "no bound")."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


# --- what genai-prices says ------------------------------------------------------------------------------------------


def _prices() -> Any:
    """The package genai-prices (MIT, https://github.com/pydantic/genai-prices), None where it is not installed."""
    try:
        import genai_prices  # type: ignore[import-not-found, unused-ignore]  # of the extra `prices`
    except Exception:  # noqa: BLE001 - a broken installation is no reason to fail
        return None
    return genai_prices


def _listed(name: str) -> int | None:
    """The window of a model in the data that genai-prices carries; None where it isn't listed or has none."""
    prices = _prices()
    if prices is None:
        return None
    for reference, provider in _references(name):
        try:
            # The documented way to a `ModelInfo`; no price is needed, so no usage is given.
            model = prices.calc_price(prices.Usage(), reference, provider_id=provider).model
        except Exception:  # noqa: BLE001, S112 - LookupError for a name that is not listed; prices of no interest may raise
            continue
        window = _tokens(_read(model, "context_window"))
        if window is not None:
            return window
    return None


def _references(name: str) -> Iterator[tuple[str, str | None]]:
    """(name, provider) to ask for: as it is, without a provider's prefix, the base of a fine-tuned model."""
    yield name, None
    if name.startswith("ft:"):
        yield name.split(":")[1], None
        return
    for separator in ("/", ":"):
        provider, found, rest = name.partition(separator)
        if found and rest:
            yield rest, provider
            yield rest.rpartition("/")[2], None
    if re.search(r"-v\d+(?::\d+)?$", name):
        yield name, "aws"
