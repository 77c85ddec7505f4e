"""`TieredChatMessageHistory`: the conversation as LangChain's chat history interface sees it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Unpack

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, get_buffer_string

from langchain_tiered.options import ContextOptions, open_context
from tiered_core import ContextEvent, ContextReport, TieredContext

if TYPE_CHECKING:
    from langchain_core.chat_history import BaseChatMessageHistory as _Base
else:
    try:
        from langchain_core.chat_history import BaseChatMessageHistory as _Base
    except ImportError:  # deprecated since core 1.6.4, to be removed in 2.0: the same methods, without the base
        _Base = object


class TieredChatMessageHistory(_Base):
    """A chat history whose `messages` fit a token budget, and that keeps every message.

    Wherever LangChain takes a `BaseChatMessageHistory`. `messages` is the view for the model, `all_messages` the whole
    transcript. All messages that are handed out are copies.

    Args:
        session_id: name of the conversation in the store.
        options: as for `tiered_core.TieredContext`: `budget`, `store`, `token_counter`, `strategy`, `compactors`,
            `redact`, `hooks`, `codec`.

    Attributes:
        context: the `TieredContext` behind it.
    """

    def __init__(self, session_id: str = "default", **options: Unpack[ContextOptions]) -> None:
        self.context: TieredContext = open_context(session_id, options)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(session_id={self.session_id!r}, budget={self.context.budget.available})"

    def __str__(self) -> str:
        return get_buffer_string(self.messages)

    @property
    def session_id(self) -> str:
        """Name of the conversation in the store."""
        return self.context.session_id

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]
        """The view: what the model shall see now, oldest first. Reading changes nothing.

        Raises:
            ContextBudgetExceededError: what can't be reduced is larger than the budget.
        """
        return self.context.view()

    async def aget_messages(self) -> list[BaseMessage]:
        """See `messages`."""
        return await self.context.aview()

    @property
    def all_messages(self) -> list[BaseMessage]:
        """The whole transcript, oldest first, exactly as it was added."""
        return self.context.transcript()

    async def aall_messages(self) -> list[BaseMessage]:
        """See `all_messages`."""
        return await self.context.atranscript()

    def view(self, question: str | None = None, overhead_tokens: int = 0) -> list[BaseMessage]:
        """The view for a question, with so many tokens around it; see `TieredContext.view`."""
        return self.context.view(question=question, overhead_tokens=overhead_tokens)

    async def aview(self, question: str | None = None, overhead_tokens: int = 0) -> list[BaseMessage]:
        """See `view`."""
        return await self.context.aview(question=question, overhead_tokens=overhead_tokens)

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Appends messages; those that are stored already (an agent returns its whole history) are not stored twice."""
        self.context.add(list(messages))

    async def aadd_messages(self, messages: Sequence[BaseMessage]) -> None:
        """See `add_messages`."""
        await self.context.aadd(list(messages))

    def add_message(self, message: BaseMessage) -> None:
        """Appends one message."""
        self.add_messages([message])

    def add_user_message(self, message: HumanMessage | str) -> None:
        """Appends what the user said."""
        self.add_message(HumanMessage(content=message) if isinstance(message, str) else message)

    def add_ai_message(self, message: AIMessage | str) -> None:
        """Appends what the model said."""
        self.add_message(AIMessage(content=message) if isinstance(message, str) else message)

    def clear(self) -> None:
        """Deletes the conversation with all that is kept of it."""
        self.context.clear()

    async def aclear(self) -> None:
        """See `clear`."""
        await self.context.aclear()

    def report(self) -> ContextReport:
        """Usage by tier, pressure, and what was cut so far."""
        return self.context.report()

    def events(self) -> list[ContextEvent]:
        """Every cut, oldest first."""
        return self.context.events()
