"""The small, plain value from which a view is derived: one versioned JSON object."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from tiered_core.errors import StoreError
from tiered_core.types import Rung

VERSION = 1


@dataclass(frozen=True, slots=True)
class Mark:
    """How one entry is rendered: its rung, the tokens that were measured there, and its handle (0 for none yet)."""

    rung: Rung
    tokens: int
    handle: int = 0


def _empty() -> Mapping[str, Any]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class ContextState:
    """What was decided so far. Entries that are not named here and not dropped are shown in full.

    Attributes:
        seq: number of the last row of the log that was there when this was decided.
        born: how many entries of the transcript have been given a rung.
        rungs: marks by entry id; only of entries that are shown lower than full.
        first: position of the first entry that is kept (system messages are always kept).
        cuts: by id of a turn's user message, id of the message that opens the last group dropped of that turn.
        next_handle: number of the next handle.
        overhead: largest overhead seen, in tokens; planned for by the next `add`.
        level: compression level 0 to 3 after the last `add`.
        batches: how many batches there have been.
        repaired: ids of entries whose repair has been reported.
        calibration: what was learned from reported usage, see `Calibration.to_dict`; empty before the first report.
        turn: number of the newest turn.
    """

    seq: int = 0
    born: int = 0
    rungs: Mapping[str, Mark] = field(default_factory=_empty)
    first: int = 0
    cuts: Mapping[str, str] = field(default_factory=_empty)
    next_handle: int = 1
    overhead: int = 0
    level: int = 0
    batches: int = 0
    repaired: tuple[str, ...] = ()
    calibration: Mapping[str, Any] = field(default_factory=_empty)
    turn: int = 0

    def to_json(self) -> str:
        """The state as JSON text, same bytes for the same state in every process."""
        value = {
            "version": VERSION,
            "seq": self.seq,
            "born": self.born,
            "rungs": {i: [*m.rung.to_json(), m.tokens, m.handle] for i, m in self.rungs.items()},
            "first": self.first,
            "cuts": dict(self.cuts),
            "next_handle": self.next_handle,
            "overhead": self.overhead,
            "level": self.level,
            "batches": self.batches,
            "repaired": list(self.repaired),
            "calibration": dict(self.calibration),
            "turn": self.turn,
        }
        return json.dumps(value, separators=(",", ":"), sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> ContextState:
        """The state of which `to_json` gave the text.

        Raises:
            StoreError: the text is no state, or one of a newer version than this package knows.
        """
        try:
            value = json.loads(text)
            if value["version"] > VERSION:
                raise StoreError(
                    f"the stored state has version {value['version']}, this tiered-context knows up to {VERSION}: "
                    "upgrade tiered-context to read it"
                )
            return cls(
                seq=value["seq"],
                born=value["born"],
                rungs=MappingProxyType({i: Mark(Rung(*m[:3]), m[3], m[4]) for i, m in value["rungs"].items()}),
                first=value["first"],
                cuts=MappingProxyType(value["cuts"]),
                next_handle=value["next_handle"],
                overhead=value["overhead"],
                level=value["level"],
                batches=value["batches"],
                repaired=tuple(value["repaired"]),
                calibration=MappingProxyType(value["calibration"]),
                turn=value["turn"],
            )
        except (KeyError, TypeError, IndexError, ValueError) as error:
            raise StoreError(f"the stored state can't be read: {error!r}") from error

    def with_overhead(self, tokens: int) -> ContextState:
        """The state that plans for at least this overhead."""
        return self if tokens <= self.overhead else replace(self, overhead=tokens)
