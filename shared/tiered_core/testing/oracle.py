"""What a legal view is, written without the engine: it looks at roles, texts and call ids only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal


@dataclass(frozen=True, slots=True)
class Line:
    """One message as a model sees it.

    Attributes:
        role: who speaks.
        text: all its text.
        calls: ids of its tool calls.
        answers: ids of the calls that it answers.
        other: whether it holds something besides text and calls (a picture, reasoning).
    """

    role: Literal["system", "user", "assistant", "tool"]
    text: str = ""
    calls: tuple[str | None, ...] = ()
    answers: tuple[str | None, ...] = ()
    other: bool = False

    @property
    def blank(self) -> bool:
        """Whether there is nothing in it."""
        return not (self.text.strip() or self.calls or self.other)


def problems(view: Sequence[Line], transcript: Sequence[Line]) -> list[str]:
    """What is wrong with a view of a transcript; empty when it is legal."""
    return [
        *_system(view, transcript),
        *_opening(view, transcript),
        *_pairs(view),
        *_blanks(view),
        *_neighbours(view, transcript),
        *_request(view, transcript),
    ]


def _system(view: Sequence[Line], transcript: Sequence[Line]) -> Iterator[str]:
    roles = [line.role for line in view]
    head = next((k for k, role in enumerate(roles) if role != "system"), len(roles))
    if "system" in roles[head:]:
        yield f"system text stands at {head + roles[head:].index('system')}, behind other messages"
    texts = [line.text for line in transcript if line.role == "system" and not line.blank]
    for place, text in enumerate(texts):
        if place >= len(view) or view[place].role != "system" or not view[place].text.startswith(text):
            yield f"system text {place} is not at the head, exactly as the user wrote it"


def _opening(view: Sequence[Line], transcript: Sequence[Line]) -> Iterator[str]:
    talk = [line for line in view if line.role != "system"]
    if talk and talk[0].role != "user" and any(line.role == "user" for line in transcript):
        yield f"the first message after the system text is from {talk[0].role}"


def _pairs(view: Sequence[Line]) -> Iterator[str]:
    place = 0
    while place < len(view):
        line = view[place]
        place += 1
        if line.role == "tool":
            yield f"message {place - 1} is a result without its call"
            continue
        if not line.calls:
            continue
        results = 0
        while place + results < len(view) and view[place + results].role == "tool":
            results += 1
        asked = Counter(call or "" for call in line.calls)
        got = Counter(answer or "" for r in view[place : place + results] for answer in r.answers)
        if asked != got and not (sum(asked.values()) == sum(got.values()) and "" in asked | got):
            yield f"message {place - 1} calls {sorted(asked.elements())} and gets {sorted(got.elements())}"
        place += results


def _blanks(view: Sequence[Line]) -> Iterator[str]:
    for place, line in enumerate(view):
        if line.blank:
            yield f"message {place} ({line.role}) is empty"


def _neighbours(view: Sequence[Line], transcript: Sequence[Line]) -> Iterator[str]:
    """Two messages of one role may follow each other only if they did so in the transcript."""
    places: dict[tuple[str, str], list[int]] = {}
    for place, line in enumerate(transcript):
        places.setdefault((line.role, line.text), []).append(place)
    together = {a.role for a, b in pairwise(transcript) if a.role == b.role}
    for place, (one, two) in enumerate(pairwise(view)):
        if one.role != two.role or one.role not in ("user", "assistant"):
            continue
        first, second = places.get((one.role, one.text)), places.get((two.role, two.text))
        known = bool(first and second)
        legal = any(a + 1 == b for a in first or () for b in second or ()) if known else one.role in together
        if not legal:
            yield f"messages {place} and {place + 1} are both from {one.role}, which they were not in the transcript"


def _request(view: Sequence[Line], transcript: Sequence[Line]) -> Iterator[str]:
    """The newest user message is there as user text, whole or shortened, and no other user message follows it."""
    asked = next((line for line in reversed(transcript) if line.role == "user"), None)
    if asked is None:
        return
    shown = [line for line in view if line.role == "user" and not line.text.startswith("[")]
    if asked.blank or asked.text.startswith("["):
        if not any(line.role == "user" for line in view):
            yield "there is no user message"
        return
    if not shown:
        yield "the current request is not in the view"
    elif shown[-1].text != asked.text and not _shortened(shown[-1].text, asked.text):
        yield f"the last user message is {shown[-1].text[:40]!r}, not the current request {asked.text[:40]!r}"


def _shortened(shown: str, asked: str) -> bool:
    start = shown.lstrip()[:4].rstrip("…").rstrip()
    return len(shown) <= len(asked) + 80 and (shown.strip() in ("…", "") or asked.lstrip().startswith(start[:1]))
