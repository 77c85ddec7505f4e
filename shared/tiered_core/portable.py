"""A state with its renderings as one JSON text, for hosts that keep the transcript and the state themselves.

Messages are named by their position and digest, because the row numbers of a store mean nothing elsewhere. What is
said of a message that has been altered since, or is gone, is dropped; it is then decided anew.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from tiered_core.conversation import Conversation
from tiered_core.errors import StoreError
from tiered_core.rendering import change_from_json, change_to_json
from tiered_core.state import ContextState, Mark
from tiered_core.types import Change, Rung

VERSION = 1


@dataclass(frozen=True, slots=True)
class Portable:
    """What `read_portable` found: a state in terms of this conversation, and renderings by (row, rung)."""

    state: ContextState
    renderings: Mapping[tuple[int, Rung], Change]
    handles: tuple[tuple[int, int], ...]


def write_portable(
    state: ContextState,
    conversation: Conversation,
    renderings: Mapping[tuple[int, Rung], Change],
    handles: Mapping[int, int],
) -> str:
    """The state as text; same bytes for the same state in every process."""

    def place(id: str) -> list[Any]:
        position = conversation.find(id)
        if position is None:
            return [-1, ""]
        return [position, conversation.entry(position).digest]

    marks = []
    for id, mark in state.rungs.items():
        position = conversation.find(id)
        change = None if position is None else renderings.get((conversation.seqs[position], mark.rung))
        if position is not None and change is not None:
            marks.append([*place(id), mark.rung.to_json(), mark.tokens, mark.handle, change_to_json(change)])
    first = [state.first, conversation.entry(state.first).digest] if 0 < state.first < len(conversation) else [0, ""]
    value = {
        "version": VERSION,
        "born": state.born,
        "first": first,
        "marks": marks,
        "cuts": [[place(u), place(g)] for u, g in state.cuts.items()],
        "repaired": [place(i) for i in state.repaired],
        "handles": _runs(handles, {seq: position for position, seq in enumerate(conversation.seqs)}),
        "next_handle": state.next_handle,
        "overhead": state.overhead,
        "level": state.level,
        "batches": state.batches,
        "calibration": dict(state.calibration),
        "turn": state.turn,
    }
    return json.dumps(value, separators=(",", ":"), sort_keys=True)


def _runs(handles: Mapping[int, int], positions: Mapping[int, int]) -> list[list[int]]:
    """Handles of the current branch as runs of (number, position, length): what leaves the view together is one run."""
    runs: list[list[int]] = []
    for number in sorted(handles):
        position = positions.get(handles[number])
        if position is None:
            continue
        last = runs[-1] if runs else [0, 0, 0]
        if (number, position) == (last[0] + last[2], last[1] + last[2]) and runs:
            last[2] += 1
        else:
            runs.append([number, position, 1])
    return runs


def read_portable(text: str, conversation: Conversation) -> Portable:
    """The state in terms of a conversation that holds the same messages.

    Raises:
        StoreError: the text is no exported state, or one of a newer version.
    """
    try:
        value = json.loads(text)
        if value["version"] > VERSION:
            raise StoreError(
                f"the exported state has version {value['version']}, this tiered-context knows up to {VERSION}: "
                "upgrade tiered-context to read it"
            )
        return _read(value, conversation)
    except (KeyError, TypeError, IndexError, ValueError) as error:
        raise StoreError(f"the exported state can't be read: {error!r}") from error


def _read(value: dict[str, Any], conversation: Conversation) -> Portable:
    def entry_id(place: list[Any]) -> str | None:
        position, digest = place
        if not 0 <= position < len(conversation) or conversation.entry(position).digest != digest:
            return None
        return conversation.entry(position).id

    rungs: dict[str, Mark] = {}
    renderings: dict[tuple[int, Rung], Change] = {}
    handles = [
        (number + k, conversation.seqs[position + k])
        for number, position, length in value["handles"]
        for k in range(length)
        if position + k < len(conversation)
    ]
    for position, digest, rung, tokens, handle, change in value["marks"]:
        id = entry_id([position, digest])
        if id is not None:
            rungs[id] = Mark(Rung(*rung), tokens, handle)
            renderings[conversation.seqs[position], Rung(*rung)] = change_from_json(change)
    cuts = {entry_id(u): entry_id(g) for u, g in value["cuts"]}
    first = value["first"][0] if entry_id(value["first"]) is not None else 0
    state = ContextState(
        seq=conversation.last,
        born=min(value["born"], len(conversation)),
        rungs=MappingProxyType(rungs),
        first=first,
        cuts=MappingProxyType({u: g for u, g in cuts.items() if u is not None and g is not None}),
        next_handle=value["next_handle"],
        overhead=value["overhead"],
        level=value["level"],
        batches=value["batches"],
        repaired=tuple(i for i in map(entry_id, value["repaired"]) if i is not None),
        calibration=MappingProxyType(value["calibration"]),
        turn=value["turn"],
    )
    # Messages that came after the state was written are not born yet: their rows count as younger than the state.
    seq = conversation.seqs[state.born - 1] if state.born else 0
    return Portable(replace(state, seq=max(seq, 0)), renderings, tuple(handles))
