"""Which of the messages that a host hands over are new.

Hosts add the same messages again: an agent returns its whole history, a retry repeats the last message, a wrapper
adds the question once by itself and once at the head of the answer. All functions compare content digests and ids only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Seen:
    """One message as it is compared: the host's id (None where it has none) and its content digest."""

    id: str | None
    digest: str
    system: bool = False


def new_messages(batch: Sequence[Seen], known: Sequence[Sequence[Seen]], stored_ids: Sequence[bool]) -> list[int]:
    """Indexes of the messages of a batch that have to be stored, in order.

    Args:
        batch: what was handed over.
        known: the whole transcript, and the whole view if it can't be taken for anything else: a batch that begins with
            one of them and holds more repeats it.
        stored_ids: for each message of the batch, whether its id is stored with this content.
    """
    kept = _without_repeat(batch, known)
    kept = _without_echo(batch, kept)
    lead = 0
    while lead < len(kept) and stored_ids[kept[lead]]:
        lead += 1
    return kept[lead:]


def _without_repeat(batch: Sequence[Seen], known: Sequence[Sequence[Seen]]) -> list[int]:
    """Takes out a run that repeats the whole transcript or view, and what stands before it if that follows again."""
    for run in sorted(known, key=len, reverse=True):
        size = len(run)
        # A batch that is no longer than the run holds nothing new: it is the same said twice.
        for start in range(len(batch) - size + 1) if 0 < size < len(batch) else ():
            if not all(map(_same, batch[start : start + size], run)):
                continue
            lead, behind = batch[:start], batch[start + size : start + size + start]
            again = bool(start) and len(behind) == start and all(map(_same, lead, behind))
            if not again and (start or (size < 2 and not batch[0].system)):
                continue
            return ([] if again else list(range(start))) + list(range(start + size, len(batch)))
    return list(range(len(batch)))


def _same(one: Seen, two: Seen) -> bool:
    """Whether two may be the same message: equal content, and no two different ids."""
    return one.digest == two.digest and (one.id is None or two.id is None or one.id == two.id)


def _without_echo(batch: Sequence[Seen], kept: list[int]) -> list[int]:
    """Takes out a lead that follows again at once, with the same ids or the first ones: a question and its echo."""
    for size in range(len(kept) // 2, 0, -1):
        lead, echo = kept[:size], kept[size : 2 * size]
        same = all(
            batch[a].digest == batch[b].digest and batch[b].id is not None and batch[a].id in (None, batch[b].id)
            for a, b in zip(lead, echo, strict=True)
        )
        if same:
            return kept[size:]
    return kept


def common_prefix(batch: Sequence[str], known: Sequence[str]) -> int:
    """How many messages two lists of digests have in common at their start."""
    size = 0
    for mine, theirs in zip(batch, known, strict=False):
        if mine != theirs:
            break
        size += 1
    return size
