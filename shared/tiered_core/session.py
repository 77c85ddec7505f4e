"""`TieredContext`: a conversation that is kept whole, and the view of it that fits the budget."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any

from tiered_core.budget import TokenBudget
from tiered_core.codec import Codec
from tiered_core.compactors import DEFAULT_COMPACTORS, Compactor
from tiered_core.counting import FramedCounter, TokenCounter, get_token_counter
from tiered_core.drive import Gate, Program, T, arun, run
from tiered_core.engine import Fit
from tiered_core.errors import TieredError, TranscriptError
from tiered_core.events import ContextEvent
from tiered_core.explain import explain_message
from tiered_core.incoming import Incoming, Mirror, checked, take_in
from tiered_core.neutral import NeutralCodec
from tiered_core.programs import Programs, Settings
from tiered_core.recall import DEFAULT_LIMIT, number_of, original_text, piece
from tiered_core.redaction import Redact
from tiered_core.rendering import Renderer
from tiered_core.report import ContextReport, make_report
from tiered_core.state import ContextState
from tiered_core.stores import ConversationStore, MemoryStore, open_store
from tiered_core.strategies import CompactionStrategy, get_strategy
from tiered_core.types import Recalled
from tiered_core.usage import reported_input_tokens as reported_input_tokens_of

_KEPT_MESSAGES = 4_096
Hook = Callable[[ContextEvent], None]


class TieredContext:
    """A conversation and its view.

    All messages are stored; `view` gives those that a model shall see now, within the budget and always a legal
    sequence. Safe to use from several threads and tasks; instances in other processes may share a store.

    Args:
        budget: tokens of the view as a whole number (nothing is taken off for a response), or a `TokenBudget`.
        session_id: name of the conversation in the store.
        store: None for memory, "sqlite:///file.db", or a `ConversationStore` (which is not closed by `close`).
        token_counter: None for cl100k_base where its vocabulary is on disk, the name of a model or counter, or a
            callable that gets one host message or a string and returns tokens; its figure is final.
        strategy: name of a built-in strategy, or a `CompactionStrategy`.
        compactors: rules that make bodies made by tools smaller, asked together with the built-in ones, lowest
            `order` first.
        redact: applied to all words of a message (texts, call arguments, unsigned reasoning, unknown blocks) before
            anything is stored. What it removes is not kept.
        hooks: called with every event, in order, after it was stored.
        codec: of the host; None for OpenAI-style dicts.

    Raises:
        TieredError: an argument can't be used; the text says which and why.
    """

    def __init__(
        self,
        budget: int | TokenBudget | None = None,
        session_id: str = "default",
        store: str | ConversationStore | None = None,
        token_counter: Any = None,
        strategy: str | CompactionStrategy = "sticky",
        compactors: Sequence[Compactor] | None = None,
        redact: Redact | None = None,
        hooks: Iterable[Hook] = (),
        codec: Codec | None = None,
    ) -> None:
        if not isinstance(session_id, str) or not session_id or not _storable(session_id):
            raise TieredError(f"session_id must be a string with at least one character, got {session_id!r}")
        self.session_id = session_id
        self.budget = TokenBudget.of(budget)
        self.counter: TokenCounter = get_token_counter(token_counter)
        self.codec: Codec = codec or NeutralCodec()
        self._redact = redact
        self._strategy = get_strategy(strategy)
        renderer = Renderer(self.codec, self.counter, _ordered(compactors))
        reply = self.counter.framing.reply if isinstance(self.counter, FramedCounter) else 0
        self.store, self._owns_store = open_store(store)
        keep = None if isinstance(self.store, MemoryStore) else _KEPT_MESSAGES
        self._programs = Programs(Settings(self.budget, self._strategy, renderer, reply, tuple(hooks)), keep)
        self._mirror = Mirror(self._programs.conversation)
        self._gate = Gate()

    def _run(self, program: Program[T]) -> T:
        with self._gate.entered():
            return run(program, self.store, self.session_id)

    async def _arun(self, program: Program[T]) -> T:
        async with self._gate.aentered():
            return await arun(program, self.store, self.session_id)

    def _take_in(self, messages: Sequence[Any]) -> list[Incoming]:
        return take_in(messages, self.codec, self._redact)

    def add(self, messages: Sequence[Any]) -> None:
        """Appends messages; those that are stored already are recognised and not stored twice.

        The messages are copied; they are stored before anything else is done, and lack of budget never raises here.

        Raises:
            TranscriptError: a message can't be read; then none is stored.
            StoreError: the store failed.
        """
        self._run(self._programs.add(self._take_in(messages)))

    async def aadd(self, messages: Sequence[Any]) -> None:
        """See `add`."""
        await self._arun(self._programs.add(self._take_in(messages)))

    def replace(self, messages: Sequence[Any]) -> None:
        """Makes these messages the transcript: an edit, a regenerated answer, an undo.

        What they have in common with the transcript from its start stays as it is; the rest of the old branch
        leaves the transcript and stays recallable by handle.

        Raises:
            TranscriptError: a message can't be read; then nothing is changed.
            StoreError: the store failed.
        """
        checked(messages)
        with self._mirror.following(messages) as (known, at):
            if not self._run(self._programs.replace(self._take_in(messages[known:]), known, at)):
                self._run(self._programs.replace(self._take_in(messages)))

    async def areplace(self, messages: Sequence[Any]) -> None:
        """See `replace`."""
        checked(messages)
        with self._mirror.following(messages) as (known, at):
            if not await self._arun(self._programs.replace(self._take_in(messages[known:]), known, at)):
                await self._arun(self._programs.replace(self._take_in(messages)))

    def view(self, question: str | None = None, overhead_tokens: int = 0, *, upcoming_tokens: int = 0) -> list[Any]:
        """The messages for the model's next call: new objects, oldest first, at most the budget's tokens.

        Reading is idempotent and writes nothing.

        Args:
            question: what the user is about to ask, when it isn't added yet. It shapes only what enters now.
            overhead_tokens: tokens that stand around the view (tool definitions, a prompt), now and in calls to come:
                the next `add` plans for the largest seen.
            upcoming_tokens: tokens that stand beside the view in this call only (a question that is added later).

        Raises:
            ContextBudgetExceededError: what can't be reduced is larger than the budget; the text shows the sum.
        """
        del question  # nothing enters on a read in this version: passages are not recalled yet
        return self._run(self._programs.view(_overhead(overhead_tokens), _overhead(upcoming_tokens)))

    async def aview(
        self, question: str | None = None, overhead_tokens: int = 0, *, upcoming_tokens: int = 0
    ) -> list[Any]:
        """See `view`."""
        del question
        return await self._arun(self._programs.view(_overhead(overhead_tokens), _overhead(upcoming_tokens)))

    def plan_for(self, overhead_tokens: int) -> None:
        """Makes the next `add` or `replace` plan for at least this much around the view."""
        self._programs.note_overhead(_overhead(overhead_tokens))

    def calibrate(self, reported_input_tokens: Any, overhead_tokens: int | None = None) -> None:
        """Learns how far the counter is off from what a provider reported for the view that was read last.

        It takes effect at the next `add`. An exact counter's figures are never made smaller by it.

        Args:
            reported_input_tokens: input tokens of the whole request, cached ones included; or a provider's usage, a
                message or a response that carries it (see `reported_input_tokens`). What can't be read is passed over.
            overhead_tokens: what stood around the view in that request, where it isn't what `view` was told.
        """
        reported = reported_input_tokens_of(reported_input_tokens)
        if reported is not None:
            self._run(self._programs.calibrate(reported, overhead_tokens))

    async def acalibrate(self, reported_input_tokens: Any, overhead_tokens: int | None = None) -> None:
        """See `calibrate`."""
        reported = reported_input_tokens_of(reported_input_tokens)
        if reported is not None:
            await self._arun(self._programs.calibrate(reported, overhead_tokens))

    def transcript(self) -> list[Any]:
        """Copies of all messages of the current branch, oldest first, exactly as they were added."""
        return self._run(self._programs.transcript())

    async def atranscript(self) -> list[Any]:
        """See `transcript`."""
        return await self._arun(self._programs.transcript())

    def recall(self, handle: str, offset: int = 0, limit_tokens: int | None = DEFAULT_LIMIT) -> Recalled:
        """A piece of an original that was made smaller or left the view.

        Args:
            handle: as it stands in a rendering or an event, such as "r12".
            offset: characters to skip.
            limit_tokens: of the piece; None for all the rest.

        Raises:
            TranscriptError: there is no such handle in this session.
        """
        message = self._run(self._programs.original(number_of(handle)))
        return self._recalled(message, handle, offset, limit_tokens)

    async def arecall(self, handle: str, offset: int = 0, limit_tokens: int | None = DEFAULT_LIMIT) -> Recalled:
        """See `recall`."""
        message = await self._arun(self._programs.original(number_of(handle)))
        return self._recalled(message, handle, offset, limit_tokens)

    def _recalled(self, message: Any, handle: str, offset: int, limit_tokens: int | None) -> Recalled:
        if message is None:
            raise TranscriptError(
                f"session {self.session_id!r} has no handle {handle!r}; `events` lists those there are"
            )
        name = f"r{number_of(handle)}"
        return piece(original_text(self.codec, message), name, offset, limit_tokens, self.counter.truncate)

    def report(self) -> ContextReport:
        """Usage by tier, pressure, and what was cut so far."""
        return self._report(*self._run(self._programs.snapshot()))

    async def areport(self) -> ContextReport:
        """See `report`."""
        return self._report(*await self._arun(self._programs.snapshot()))

    def _report(self, state: ContextState, made: Fit, events: Sequence[ContextEvent]) -> ContextReport:
        held = self._programs.conversation
        entries = {s.entry: held.entry(held.find(s.entry) or 0) for s in made.slots if s.entry}
        return make_report(
            self.session_id, (self.counter.name, self.counter.exact), self.budget, state, made.limits, made.slots,
            entries, len(held), events,
        )  # fmt: skip

    def events(self) -> list[ContextEvent]:
        """All events of the session, oldest first."""
        return self._run(self._programs.snapshot())[2]

    async def aevents(self) -> list[ContextEvent]:
        """See `events`."""
        return (await self._arun(self._programs.snapshot()))[2]

    def state(self) -> ContextState:
        """What was decided so far, as it is stored."""
        return self._run(self._programs.snapshot())[0]

    async def astate(self) -> ContextState:
        """See `state`."""
        return (await self._arun(self._programs.snapshot()))[0]

    def explain(self, position: int) -> str:
        """In plain words, what became of the message at a position of the transcript.

        Raises:
            TranscriptError: there is no such position.
        """
        return self._explanation(position, *self._run(self._programs.snapshot()))

    async def aexplain(self, position: int) -> str:
        """See `explain`."""
        return self._explanation(position, *await self._arun(self._programs.snapshot()))

    def _explanation(self, position: int, state: ContextState, made: Fit, events: Sequence[ContextEvent]) -> str:
        del state
        held = self._programs.conversation
        if not 0 <= position < len(held):
            raise TranscriptError(f"there is no position {position}: the transcript has {len(held)} messages, from 0")
        entry = held.entry(position)
        slot = next((s for s in made.slots if s.entry == entry.id and s.kind in ("message", "opening")), None)
        return explain_message(entry, slot, events)

    def count_tools(self, definitions: Iterable[Mapping[str, Any]]) -> int:
        """Tokens of tool definitions in OpenAI's JSON form, by this context's counter."""
        return self.counter.count_tools(definitions)

    def count_message(self, message: Any) -> int:
        """Tokens of one host message, by this context's counter."""
        return self._programs.renderer.count(message)

    def export(self) -> str:
        """The state with the renderings of the view as JSON text, for a host that keeps transcript and state itself."""
        return self._run(self._programs.export())

    async def aexport(self) -> str:
        """See `export`."""
        return await self._arun(self._programs.export())

    def restore(self, exported: str, messages: Sequence[Any]) -> None:
        """Makes these messages the transcript and what `export` gave its state, so that the view is byte-equal again.

        What the export says of messages that have been altered since is dropped.

        Raises:
            StoreError: the text is no export, or one of a newer version.
            TranscriptError: a message can't be read; then nothing is changed.
        """
        self._run(self._programs.restore(exported, self._take_in(messages)))

    async def arestore(self, exported: str, messages: Sequence[Any]) -> None:
        """See `restore`."""
        await self._arun(self._programs.restore(exported, self._take_in(messages)))

    def clear(self) -> None:
        """Deletes the conversation: transcript, originals, state and events. This can't be undone."""
        self._run(self._programs.clear())

    async def aclear(self) -> None:
        """See `clear`."""
        await self._arun(self._programs.clear())

    def close(self) -> None:
        """Closes the store if this context opened it."""
        if self._owns_store:
            self.store.close()

    async def aclose(self) -> None:
        """See `close`."""
        if self._owns_store:
            await self.store.aclose()

    def __enter__(self) -> TieredContext:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> TieredContext:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


def _ordered(compactors: Sequence[Compactor] | None) -> tuple[Compactor, ...]:
    return tuple(sorted((*(compactors or ()), *DEFAULT_COMPACTORS), key=lambda c: c.order))


def _storable(name: str) -> bool:
    try:
        return bool(name.encode())
    except UnicodeEncodeError:
        return False


def _overhead(tokens: int) -> int:
    if isinstance(tokens, bool) or not isinstance(tokens, int) or tokens < 0:
        raise TieredError(f"overhead_tokens must be a whole number of tokens, at least 0, got {tokens!r}")
    return tokens
