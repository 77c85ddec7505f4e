"""What a state means after the transcript was rewound behind its back: edits, regenerated turns, undo."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

from tiered_core.conversation import Conversation
from tiered_core.state import ContextState


def on_branch(state: ContextState, conversation: Conversation) -> tuple[ContextState, tuple[int, ...]]:
    """The state without what was said of messages that are no longer in the transcript.

    Returns:
        The state, and positions of messages that had left the view and come back, because all that followed them is
        gone.
    """
    born = min(conversation.born(state.seq), state.born)
    if born == state.born and state.seq >= conversation.last:
        return state, ()

    def stays(id: str) -> bool:
        position = conversation.find(id)
        return position is not None and conversation.seqs[position] <= state.seq

    first, back = state.first, tuple[int, ...]()
    if state.first >= born and not _goes_on(conversation, state.first, born):
        first = conversation.start_of_turn(born)
        back = tuple(p for p in range(first, born) if conversation.entry(p).role != "system")
    return (
        replace(
            state,
            born=min(born, first) if back else born,
            first=first,
            rungs=MappingProxyType({i: m for i, m in state.rungs.items() if stays(i)}),
            cuts=MappingProxyType({u: g for u, g in state.cuts.items() if stays(u) and stays(g)}),
            repaired=tuple(i for i in state.repaired if stays(i)),
        ),
        back,
    )


def _goes_on(conversation: Conversation, first: int, stayed: int) -> bool:
    """Whether the new branch goes on with a new turn exactly where the view began."""
    return first == stayed < len(conversation) and conversation.entry(first).role == "user"
