"""From a name, a model or a callable to a token counter."""

from __future__ import annotations

from typing import Any

from tiered_core.counting.callable import CallableCounter
from tiered_core.counting.estimate import SeedCounter
from tiered_core.counting.exact import TiktokenCounter
from tiered_core.counting.framing import FramedCounter
from tiered_core.counting.protocol import TokenCounter
from tiered_core.counting.vocabulary import load_vocabulary


def get_token_counter(name_or_model: Any = None) -> TokenCounter:
    """A counter."""
    if isinstance(name_or_model, FramedCounter):
        return name_or_model
    if callable(name_or_model):
        return CallableCounter(name_or_model)
    vocabulary = load_vocabulary("cl100k_base")
    return TiktokenCounter(vocabulary) if vocabulary else SeedCounter()
