"""How one message looks at a rung, and what it costs. The only place where texts, numbers and host messages meet."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tiered_core.arguments import shorten_arguments
from tiered_core.codec import Codec
from tiered_core.compactors import Body, Compactor, Room, bare, classify, compact, stub
from tiered_core.compactors.shorten import ShortenCompactor
from tiered_core.counting import CallableCounter, FramedCounter, MemoCounter, TokenCounter
from tiered_core.errors import TieredError
from tiered_core.types import Change, Entry, Kind, Reading, Rung

_log = logging.getLogger("tiered_core")
BLANK = "[empty message]"
"""Shown where a message has nothing in it: providers refuse empty ones, without it two of one role would meet."""
DEAD_ANSWER = "[no result was recorded for this call]"
GAP = "[messages are left out here]"
_LEAST_TEXT = 24
_REMEMBERED = 4_096
_TRIES = 4
_PEOPLE: tuple[Compactor, ...] = (ShortenCompactor(),)


class Renderer:
    """Renders messages of one host with one counter.

    Args:
        codec: of the host.
        counter: whose tokens bound everything.
        compactors: for bodies made by machines, see `compactors.compact`.

    Attributes:
        failures: what went wrong in compactors, as sentences; the next one was asked instead.
    """

    def __init__(
        self, codec: Codec, counter: TokenCounter, compactors: Sequence[Compactor],
    ) -> None:  # fmt: skip
        self.codec = codec
        # Rendering asks for the same texts again and again; only counters that add texts up can be remembered by text.
        sums = isinstance(counter, FramedCounter) and type(counter).count_message is FramedCounter.count_message
        plain = sums and not isinstance(counter, CallableCounter)
        self.counter: TokenCounter = MemoCounter(counter, _REMEMBERED) if plain else counter
        self._compactors = tuple(compactors)
        self.failures: list[str] = []
        self._asks_host = isinstance(counter, CallableCounter)

    def count(self, message: Any, reading: Reading | None = None) -> int:
        """Tokens of a host message."""
        if self._asks_host and isinstance(self.counter, CallableCounter):
            try:
                return self.counter.count_host(message)
            except TieredError:
                raise
            except Exception as error:  # noqa: BLE001 - a message is not lost because a counter of the user's fails
                self._asks_host = False
                _log.info("the token counter can't count a message (%r): it is asked about texts from now on", error)
        return self.counter.count_message(reading or self.codec.read(message))

    def full(self, message: Any, reading: Reading) -> Change | None:
        """The change that makes a message legal at full size; None when it is legal as it is."""
        if reading.blank:
            return Change(texts=(BLANK, *("" for _ in reading.texts[1:])))
        if len(reading.texts) > 1 and not all(t.strip() for t in reading.texts):
            return Change(texts=tuple(t if t.strip() else "" for t in reading.texts))
        return None

    def entry(self, message: Any, reading: Reading, id: str) -> Entry:
        """The numbers and links of a message; position and turn are left at 0."""
        change = self.full(message, reading)
        tokens = self.count(message, reading) if change is None else self.count(self.codec.write(message, change))
        kind: Kind = classify(reading.texts[0]) if reading.role == "tool" and len(reading.texts) == 1 else "text"
        return Entry(
            id, reading.role, kind, tokens, fixed=min(tokens, self._fixed(reading)),
            calls=tuple(c.id for c in reading.calls), answers=reading.answers, signed=reading.signed,
            blank=reading.blank, digest=reading.digest(),
        )  # fmt: skip

    def _fixed(self, reading: Reading) -> int:
        """Tokens of a message that no rung takes away."""
        if self._asks_host:
            return 8
        calls = reading.calls if reading.signed else tuple(replace(c, arguments="{}") for c in reading.calls)
        return self.counter.count_message(replace(reading, texts=(), media=(), calls=calls))

    def lowered(
        self, message: Any, reading: Reading, entry: Entry, rung: Rung, handle: str, question: str | None
    ) -> Change:
        """The change that brings a message to a rung; within the rung's cap wherever the counter lets it."""
        if reading.blank:
            return Change(
                texts=(self.counter.truncate(BLANK, max(rung.cap, 1)) or "…", *("" for _ in reading.texts[1:]))
            )
        change = Change()
        slack = 0
        for _ in range(_TRIES):
            change = self._attempt(reading, entry, rung, handle, question, slack)
            tokens = self.count(self.codec.write(message, change))
            cap = rung.cap if rung.level == 1 else entry.fixed + rung.cap
            if tokens <= cap:
                break
            slack += tokens - cap
        return change

    def _attempt(
        self, reading: Reading, entry: Entry, rung: Rung, handle: str, question: str | None, slack: int
    ) -> Change:
        media, arguments = bool(reading.media), None
        room = rung.cap
        if rung.level == 1:
            room = rung.cap - self._envelope(reading, media, arguments) - slack
            if media and room < _LEAST_TEXT:
                media = False
                room = rung.cap - self._envelope(reading, media, arguments) - slack
            if reading.calls and not reading.signed and room < _LEAST_TEXT:
                arguments = self._arguments(reading, rung.cap // 2, handle)
                room = rung.cap - self._envelope(reading, media, arguments) - slack
        else:
            room -= slack
            media = False
            if reading.calls and not reading.signed:
                arguments = self._arguments(reading, rung.cap // 2, handle)
        appended: tuple[str, ...] = ()
        if reading.media and not media:
            appended = self._left_out(reading, handle, room)
            room -= sum(self.counter.count_text(t) + 2 for t in appended)
        silent = appended and not any(t.strip() for t in reading.texts)
        texts = self._texts(reading, entry, rung, handle, question, max(room, 0 if silent else 1))
        if not any(texts) and not reading.calls and not appended:
            texts = ("…", *texts[1:])
        return Change(texts=texts, arguments=arguments, without_media=not media, appended=appended)

    def _left_out(self, reading: Reading, handle: str, room: int) -> tuple[str, ...]:
        """The note about pictures and files; where there are words, it has to leave most of the room to them."""
        note = f"[{handle}: {len(reading.media)} file(s) left out]"
        if not any(t.strip() for t in reading.texts):
            return (self.counter.truncate(note, max(room, 1)) or "…",)
        return (note,) if 3 * self.counter.count_text(note) <= room else ()

    def _envelope(self, reading: Reading, media: bool, arguments: tuple[str, ...] | None) -> int:
        """Tokens of a message without its texts."""
        calls = reading.calls
        if arguments is not None:
            calls = tuple(replace(c, arguments=a) for c, a in zip(reading.calls, arguments, strict=True))
        bare_reading = replace(reading, texts=(), media=reading.media if media else (), calls=calls)
        return self.counter.count_message(bare_reading)

    def _arguments(self, reading: Reading, room: int, handle: str) -> tuple[str, ...]:
        share = max(1, room // max(1, len(reading.calls)))
        return tuple(shorten_arguments(c.arguments, share, self.counter, handle) for c in reading.calls)

    def _texts(
        self, reading: Reading, entry: Entry, rung: Rung, handle: str, question: str | None, room: int
    ) -> tuple[str, ...]:
        """The text blocks within a number of tokens; a stub of a machine's body stands in the first block."""
        texts = reading.texts or ("",)
        if entry.machine and rung.level >= 2:
            whole = reading.text
            body = Body(whole, entry.kind, max(0, entry.tokens - entry.fixed), handle, None)
            line = stub(body, self._room(room, rung)) if rung.level == 2 else self._bare(handle, room)
            return (line, *("" for _ in texts[1:]))
        return self._shared_out(texts, entry, rung, handle, question, room)

    def _bare(self, handle: str, room: int) -> str:
        return bare(handle) if self.counter.count_text(bare(handle)) <= room else "…"

    def _shared_out(
        self, texts: tuple[str, ...], entry: Entry, rung: Rung, handle: str, question: str | None, room: int
    ) -> tuple[str, ...]:
        """Water filling: blocks below the fair share stay whole, the others are compacted to it."""
        sizes = [self.counter.count_text(t) for t in texts]
        out = list(texts)
        left = len(texts)
        for index in sorted(range(len(texts)), key=lambda i: sizes[i]):
            share = room // left
            left -= 1
            if sizes[index] > share:
                kind = entry.kind if len(texts) == 1 else classify(texts[index]) if entry.machine else "text"
                body = Body(texts[index], kind, sizes[index], handle, question, entry.machine)
                rules = self._compactors if entry.machine else _PEOPLE
                out[index] = compact(body, self._room(share, rung), rules, self._failed).text
                room -= self.counter.count_text(out[index])
            else:
                room -= sizes[index]
        return tuple(out)

    def _failed(self, compactor: Compactor, error: Exception) -> None:
        self.failures.append(f"the compactor {compactor.name!r} raised {error!r}; the next one was asked")

    def _room(self, tokens: int, rung: Rung) -> Room:
        return Room(max(tokens, 0), rung.rows, self.counter.count_text, self.counter.truncate)


def change_to_json(change: Change) -> str:
    """A rendering as it is stored."""
    values = [change.texts, change.arguments, change.without_media, change.appended, change.prepended]
    return json.dumps(
        values, ensure_ascii=False
    )  # escaped, two lone surrogates side by side would become one character


def change_from_json(text: str) -> Change:
    """The rendering that was stored."""
    texts, arguments, without_media, appended, prepended = json.loads(text)
    return Change(
        None if texts is None else tuple(texts), None if arguments is None else tuple(arguments), without_media,
        tuple(appended), tuple(prepended),
    )  # fmt: skip
