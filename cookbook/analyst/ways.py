"""The three ways in by name; each host is imported when its way is opened."""

from __future__ import annotations

from importlib import import_module

from analyst.desk import Desk, Way

WAYS = {
    "chain": ("analyst.chain", "Chain"),
    "agent": ("analyst.agent", "Agent"),
    "engine": ("analyst.engine", "Engine"),
}


def open_way(name: str, desk: Desk) -> Way:
    """A way in, with an empty conversation."""
    module, kind = WAYS[name]
    way: Way = getattr(import_module(module), kind)(desk)
    return way
