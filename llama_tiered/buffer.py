"""`TieredChatMemoryBuffer`: a `ChatMemoryBuffer` that keeps the whole conversation and shows what fits."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Mapping
from typing import Any, Self

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.llms.llm import LLM
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.memory.types import DEFAULT_CHAT_STORE_KEY
from llama_index.core.storage.chat_store import BaseChatStore, SimpleChatStore
from pydantic import Field, PrivateAttr, field_serializer

from llama_tiered.arguments import Arguments, checked, chosen_budget
from llama_tiered.chat_store import ContextChatStore
from llama_tiered.headroom import headrooms, roomiest
from llama_tiered.literal import literal
from llama_tiered.snapshot import from_host, live, read_snapshot, register, take_snapshot
from llama_tiered.tokenizer import CountedTokens, TokenizerCounter
from llama_tiered.transcript import OwnTranscript, SharedTranscript, Transcript
from tiered_core import ContextEvent, ContextReport, TieredContext, TokenBudget


class TieredChatMemoryBuffer(ChatMemoryBuffer):
    """A chat memory inside a token budget that loses nothing; stands wherever `ChatMemoryBuffer` stands.

    `get` gives the view (system text always kept, tool results small, whole turns), `get_all` the whole transcript.
    Both give copies. Make one with `from_defaults`.

    Attributes:
        token_limit: tokens a view may have at most, together with `initial_token_count`. Setting it changes the budget.
        tokenizer_fn: as given, else one that counts with the context's counter.
        chat_store: as given, else a chat store over the context.
        chat_store_key: of the conversation.
        engine_overhead: tokens to leave for what a chat engine puts around the view without saying so (system prompt,
            retrieved text) when it asks with `input=`; None for what two retrieved chunks need, at most a quarter of
            the budget.
    """

    engine_overhead: int | None = Field(default=None, exclude=True)
    _context: TieredContext = PrivateAttr()
    _arguments: Arguments = PrivateAttr()
    _transcript: Transcript = PrivateAttr()
    _identity: str = PrivateAttr()

    def __init__(
        self, *, budget: int | TokenBudget | None = None, token_limit: int | None = None, llm: LLM | None = None,
        tokenizer_fn: Callable[[str], Any] | None = None, chat_store: BaseChatStore | None = None,
        chat_store_key: str = DEFAULT_CHAT_STORE_KEY, session_id: str | None = None, engine_overhead: int | None = None,
        **options: Any,
    ) -> None:  # fmt: skip
        options.pop("class_name", None)  # LlamaIndex writes it beside the arguments
        if tokenizer_fn is not None and options.get("token_counter") is None:
            options["token_counter"] = TokenizerCounter(tokenizer_fn)
        chosen = chosen_budget(budget, token_limit, llm)
        arguments = Arguments(chosen, session_id or chat_store_key, checked(options))
        context = arguments.open()
        fields: dict[str, Any] = {
            "token_limit": context.budget.available,
            "tokenizer_fn": tokenizer_fn or CountedTokens(context.counter),
            "chat_store": chat_store or ContextChatStore.over(context, chat_store_key),
            "chat_store_key": chat_store_key,
            "engine_overhead": engine_overhead,
        }
        super().__init__(**fields)
        self._attach(arguments, context)
        self._identity = register(self, uuid.uuid4().hex)

    def _attach(self, arguments: Arguments, context: TieredContext) -> None:
        self._arguments, self._context = arguments, context
        if isinstance(self.chat_store, ContextChatStore):
            self.chat_store.show(context)
            self._transcript = OwnTranscript(context)
        else:
            redact, alone = arguments.options.get("redact"), arguments.options.get("store") is None
            self._transcript = SharedTranscript(context, self.chat_store, self.chat_store_key, redact, alone=alone)

    def __setattr__(self, name: str, value: Any) -> None:
        """Sets an attribute; a new `token_limit` is the budget from then on."""
        if name == "token_limit":
            self._attach(*self._arguments.with_budget(chosen_budget(None, value, None), self._context))
        super().__setattr__(name, value)

    @classmethod
    def class_name(cls) -> str:
        """The name under which LlamaIndex knows it."""
        return "TieredChatMemoryBuffer"

    @classmethod
    def from_defaults(
        cls, chat_history: list[ChatMessage] | None = None, llm: LLM | None = None,
        chat_store: BaseChatStore | None = None, chat_store_key: str = DEFAULT_CHAT_STORE_KEY,
        token_limit: int | None = None, tokenizer_fn: Callable[[str], Any] | None = None, **options: Any,
    ) -> Self:  # fmt: skip
        """A memory.

        Args:
            chat_history: becomes the transcript. An empty list, which chat engines pass by default, leaves what is
                stored.
            llm: without `budget` and `token_limit`, views have three quarters of its window, as in `ChatMemoryBuffer`.
            chat_store: where the transcript lives; what others change there is seen. None keeps it in `store`.
            chat_store_key: of the conversation.
            token_limit: another spelling of `budget=` as a whole number. With neither of them nor an `llm` the budget
                is `TokenBudget()`, views of up to 49,000 tokens (`ChatMemoryBuffer`: 3,000).
            tokenizer_fn: text to list of tokens; counts texts, unless `token_counter` is given.
            options: `engine_overhead`, and all arguments of `TieredContext` but `codec`; `session_id` is
                `chat_store_key` by default.

        Raises:
            LlamaArgumentError: an argument can't be used; the text says which and why.
        """
        memory = cls(
            llm=llm, chat_store=chat_store, chat_store_key=chat_store_key, token_limit=token_limit,
            tokenizer_fn=tokenizer_fn, **options,
        )  # fmt: skip
        if chat_history:
            memory.set(chat_history)
        return memory

    @property
    def context(self) -> TieredContext:
        """The conversation behind the memory."""
        return self._context

    def private_context(self) -> TieredContext:
        """A new, empty context in memory with the same budget, counter and strategy."""
        return self._arguments.private().open()

    def view(self, question: str | None = None, overhead_tokens: int = 0) -> list[ChatMessage]:
        """See `TieredContext.view`."""
        self._transcript.settle()
        return self._context.view(question, overhead_tokens)

    async def aview(self, question: str | None = None, overhead_tokens: int = 0) -> list[ChatMessage]:
        """See `view`."""
        await self._transcript.asettle()
        return await self._context.aview(question, overhead_tokens)

    def report(self) -> ContextReport:
        """See `TieredContext.report`."""
        self._transcript.settle()
        return self._context.report()

    def events(self) -> list[ContextEvent]:
        """See `TieredContext.events`."""
        self._transcript.settle()
        return self._context.events()

    def get(self, input: str | None = None, initial_token_count: int = 0, **kwargs: Any) -> list[ChatMessage]:
        """The view for the model's next call, as copies that chat engines can't take for templates.

        Args:
            input: what the user is about to ask, where a chat engine asks before it puts the question. Then room is
                left for the question and for what engines put around the view (`engine_overhead`).
            initial_token_count: tokens of what stands around the view, a part of the budget.
            kwargs: taken for compatibility, without effect.

        Raises:
            LlamaContextBudgetExceededError: what can't be reduced is larger than the budget; the text shows the sum.
        """
        del kwargs
        around = max(0, int(initial_token_count))
        view = self.view(None, around)
        for more, last in headrooms(self._context, view, input, self.engine_overhead):
            with roomiest(last):
                view = self.view(input, around + more)
                break
        return literal(view)

    async def aget(self, input: str | None = None, initial_token_count: int = 0, **kwargs: Any) -> list[ChatMessage]:
        """See `get`."""
        del kwargs
        around = max(0, int(initial_token_count))
        view = await self.aview(None, around)
        for more, last in headrooms(self._context, view, input, self.engine_overhead):
            with roomiest(last):
                view = await self.aview(input, around + more)
                break
        return literal(view)

    def get_all(self) -> list[ChatMessage]:
        """Copies of all messages, oldest first, exactly as they were put."""
        return self._transcript.read()

    async def aget_all(self) -> list[ChatMessage]:
        """See `get_all`."""
        return await self._transcript.aread()

    def put(self, message: ChatMessage) -> None:
        """Adds a copy of a message; it is stored before anything else is done, and lack of budget never raises here."""
        self._transcript.append([message])

    async def aput(self, message: ChatMessage) -> None:
        """See `put`."""
        await self._transcript.aappend([message])

    def put_messages(self, messages: list[ChatMessage]) -> None:
        """Adds copies of messages; none if one of them can't be stored."""
        self._transcript.append(messages)

    async def aput_messages(self, messages: list[ChatMessage]) -> None:
        """See `put_messages`."""
        await self._transcript.aappend(messages)

    def set(self, messages: list[ChatMessage]) -> None:
        """Makes copies of these messages the transcript; what they share with it from its start is shown as before."""
        self._transcript.become(messages)

    async def aset(self, messages: list[ChatMessage]) -> None:
        """See `set`."""
        await self._transcript.abecome(messages)

    def reset(self) -> None:
        """Deletes the conversation with its state. This can't be undone."""
        self._transcript.clear()

    async def areset(self) -> None:
        """See `reset`."""
        await self._transcript.aclear()

    @field_serializer("chat_store")
    def serialize_courses_in_order(self, chat_store: BaseChatStore) -> dict[str, Any]:
        """The chat store's class and this conversation's messages; LlamaIndex's own method fails on pydantic 2.14."""
        messages = [message.model_dump(mode="json") for message in self._transcript.read()]
        return {"store": {self.chat_store_key: messages}, "class_name": chat_store.class_name()}

    def to_dict(self, **kwargs: Any) -> dict[str, Any]:
        """The memory as plain JSON: one restored from it gives the same view, byte for byte, in any process.

        With a store at an address only the address and the session's name travel. Callables and store objects don't;
        give them to `from_dict` again.
        """
        del kwargs
        given = None if isinstance(self.chat_store, ContextChatStore) else self.chat_store
        snapshot = take_snapshot(
            self._arguments,
            self._context,
            self.chat_store_key,
            self.engine_overhead,
            self._identity,
            given,
            self.get_all,
        )
        return {**snapshot.to_json(), "class_name": self.class_name()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], **kwargs: Any) -> Self:
        """The memory of which `to_dict` gave the value; also one that LlamaIndex's `ChatMemoryBuffer` wrote.

        If it is alive in this process and hasn't changed since, the memory itself is returned: a reused workflow
        `Context` writes and reads it between runs. `from_string` always gives a new one.

        Args:
            data: what `to_dict` gave; not altered.
            kwargs: arguments of `from_defaults` that can't be written down (`token_counter`, `redact`, `chat_store`,
                …).
        """
        held = None if kwargs else live(data)
        return held if isinstance(held, cls) else cls._restored(data, kwargs)

    @classmethod
    def _restored(cls, data: Mapping[str, Any], given: Mapping[str, Any]) -> Self:
        if "version" not in data:
            return cls.from_defaults(**{**from_host(data), **given})
        snapshot = read_snapshot(data, given)
        arguments = snapshot.constructor_arguments(given)
        memory = cls(**arguments)
        snapshot.fill(memory.context, arguments.get("chat_store"))
        memory._identity = register(memory, snapshot.identity)
        return memory

    def to_string(self) -> str:
        """`to_dict` as JSON text."""
        return json.dumps(self.to_dict())

    @classmethod
    def from_string(cls, json_str: str) -> Self:
        """A new memory from the text that `to_string` gave."""
        return cls._restored(json.loads(json_str), {})

    def __reduce__(self) -> tuple[Any, ...]:
        more: dict[str, Any] = {}
        if not isinstance(self.chat_store, ContextChatStore | SimpleChatStore):
            more["chat_store"] = self.chat_store
        if not isinstance(self.tokenizer_fn, CountedTokens):
            more["tokenizer_fn"] = self.tokenizer_fn
        return _unpickled, (type(self), self.to_dict(), self._arguments.unwritten(more))

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        """The memory itself: a conversation has one place; workflows copy their state before each edit."""
        return self


def _unpickled(
    cls: type[TieredChatMemoryBuffer], data: dict[str, Any], given: dict[str, Any]
) -> TieredChatMemoryBuffer:
    return cls._restored(data, given)
