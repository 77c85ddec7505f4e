"""What the three ways in share: the data, the script, the budget, the model's name, and the meter beside the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from analyst.data import Warehouse
from analyst.meter import Meter
from analyst.script import Step
from analyst.scripted import ScriptedMind
from analyst.toolbox import Toolbox
from tiered_core import TieredContext, TokenBudget

MOST_ROUNDS = 12


@dataclass(frozen=True)
class Desk:
    """Everything that a way in needs.

    Attributes:
        warehouse: the data.
        steps: what will be asked.
        budget: of a prompt.
        meter: beside the model.
        model: "openai:…" or "anthropic:…"; None for the scripted one.
    """

    warehouse: Warehouse
    steps: Sequence[Step]
    budget: TokenBudget
    meter: Meter
    model: str | None = None

    @property
    def toolbox(self) -> Toolbox:
        """The analyst's tools."""
        return Toolbox(self.warehouse)

    def mind(self) -> ScriptedMind:
        """A scripted mind that knows the answers to what will be asked."""
        return ScriptedMind(self.steps, self.warehouse)


class Way(Protocol):
    """A way in: a host with our memory."""

    title: str

    def ask(self, question: str) -> str:
        """One turn: the question goes in, the model calls its tools, the answer comes out."""

    @property
    def context(self) -> TieredContext:
        """What keeps the conversation."""


class NoModelError(Exception):
    """A model was asked for that can't be had; the text says how to get it."""
