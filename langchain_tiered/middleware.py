"""`TieredContextMiddleware`: fits what an agent of `create_agent` sends to its model into a token budget."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, NotRequired, Unpack

from langchain.agents.middleware import (
    AgentMiddleware,
    AgentState,
    ExtendedModelResponse,
    ModelRequest,
    ModelResponse,
)
from langchain.agents.middleware.types import PrivateStateAttr
from langchain.tools import ToolRuntime
from langchain_core.messages import BaseMessage, SystemMessage
from langgraph.types import Command

from langchain_tiered.codec import LangChainCodec, is_ours
from langchain_tiered.errors import is_overflow
from langchain_tiered.options import ContextOptions
from langchain_tiered.overhead import Overhead
from langchain_tiered.recall_tool import recall_tool
from langchain_tiered.threads import Address, Thread, Threads, address_of
from tiered_core import Change, Codec, ContextBudgetExceededError, TieredContext

FIELD = "tiered_context"
_MOST_THREADS = 256


class TieredContextState(AgentState[Any]):
    """The agent's state, with what we keep in the checkpoint."""

    tiered_context: NotRequired[Annotated[dict[str, Any], PrivateStateAttr]]


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A request that fits, its overhead in tokens, and what to keep in the checkpoint."""

    request: ModelRequest[Any]
    thread: Thread
    overhead: int
    kept: dict[str, Any]


class TieredContextMiddleware(AgentMiddleware[TieredContextState, Any, Any]):
    """Sends the model a view of the messages that fits, and leaves the messages in the agent's state untouched.

    Counted are messages, system message, tool definitions and response format. What was decided is kept in LangGraph's
    checkpoint, so forks, time travel and regenerated turns see what was decided there, and what was sent stays the same
    byte for byte. When a provider says that a request is too long, it is compacted further and sent once more.

    Args:
        tools: whether the model gets the tool `recall_context`, which reads originals of what is shown in short.
        options: as for `tiered_core.TieredContext`: `budget`, `store`, `token_counter`, `strategy`, `compactors`,
            `redact`, `hooks`, `codec`. The session is named after the thread.
    """

    state_schema = TieredContextState

    def __init__(self, *, tools: bool = True, **options: Unpack[ContextOptions]) -> None:
        super().__init__()
        self._threads = Threads(options, _MOST_THREADS)
        self._overhead = Overhead()
        self._codec: Codec = options.get("codec") or LangChainCodec()
        self.tools = [recall_tool(self._context_of, self._acontext_of)] if tools else []

    def context_for(self, thread_id: str) -> TieredContext:
        """The conversation of a thread as this process knows it; empty before the first model call of the thread."""
        return self._threads.at(Address(str(thread_id))).context

    def close(self) -> None:
        """Closes the store if it was given as an address."""
        self._threads.close()

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ExtendedModelResponse[Any]:
        """Calls the model with a request that fits."""
        ready = self._prepare(request, None)
        try:
            response = handler(ready.request)
        except Exception as error:
            if not is_overflow(error):
                raise
            ready = self._prepare_again(request, ready, error)
            response = handler(ready.request)
        ready.thread.context.calibrate(_usage(response), ready.overhead)
        return _response(response, request, ready)

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ExtendedModelResponse[Any]:
        """See `wrap_model_call`."""
        ready = await self._aprepare(request, None)
        try:
            response = await handler(ready.request)
        except Exception as error:
            if not is_overflow(error):
                raise
            ready = await self._aprepare_again(request, ready, error)
            response = await handler(ready.request)
        await ready.thread.context.acalibrate(_usage(response), ready.overhead)
        return _response(response, request, ready)

    def _prepare(self, request: ModelRequest[Any], margin: int | None) -> _Prepared:
        """The request that fits; `margin` tokens are left free besides what is known to be needed."""
        kept = _kept(request.state)
        address = address_of(request.runtime, kept)
        thread = self._threads.at(address)
        with thread.gate.entered():
            around = self._overhead.of(request, thread.context)
            thread.margin = (kept or {}).get("margin", thread.margin) if margin is None else margin
            thread.context.plan_for(around + thread.margin)
            thread.enter(kept, request.messages)
            view = thread.context.view(overhead_tokens=around + thread.margin)
            thread.exported = thread.context.export()
            return self._fitted(request, thread, address, view, around)

    async def _aprepare(self, request: ModelRequest[Any], margin: int | None) -> _Prepared:
        """See `_prepare`."""
        kept = _kept(request.state)
        address = address_of(request.runtime, kept)
        thread = self._threads.at(address)
        async with thread.gate.aentered():
            around = self._overhead.of(request, thread.context)
            thread.margin = (kept or {}).get("margin", thread.margin) if margin is None else margin
            thread.context.plan_for(around + thread.margin)
            await thread.aenter(kept, request.messages)
            view = await thread.context.aview(overhead_tokens=around + thread.margin)
            thread.exported = await thread.context.aexport()
            return self._fitted(request, thread, address, view, around)

    def _prepare_again(self, request: ModelRequest[Any], ready: _Prepared, error: Exception) -> _Prepared:
        """The request a quarter smaller than what was too long; raises the provider's error if that can't be."""
        try:
            return self._prepare(request, _harder(ready))
        except ContextBudgetExceededError:
            raise error from None

    async def _aprepare_again(self, request: ModelRequest[Any], ready: _Prepared, error: Exception) -> _Prepared:
        """See `_prepare_again`."""
        try:
            return await self._aprepare(request, _harder(ready))
        except ContextBudgetExceededError:
            raise error from None

    def _fitted(
        self, request: ModelRequest[Any], thread: Thread, address: Address, view: list[Any], around: int
    ) -> _Prepared:
        messages, system = self._system_apart(view, request.system_message)
        kept = {"state": thread.exported, "margin": thread.margin, "run": address.run}
        return _Prepared(request.override(messages=messages, system_message=system), thread, around, kept)

    def _system_apart(self, view: list[Any], system: SystemMessage | None) -> tuple[list[Any], SystemMessage | None]:
        """A system message that holds nothing but blocks of ours goes behind the agent's own system text."""
        first: BaseMessage | None = view[0] if view else None
        if system is None or not isinstance(first, SystemMessage) or not is_ours(first):
            return view, system
        both: SystemMessage = self._codec.write(system, Change(appended=(str(first.text),)))
        return view[1:], both

    def _context_of(self, runtime: ToolRuntime) -> TieredContext:
        """The context of the thread for which a tool runs; after a restart it is rebuilt from the checkpoint."""
        kept = _kept(runtime.state)
        thread = self._threads.at(address_of(runtime, kept))
        with thread.gate.entered():
            if kept and kept["state"] != thread.exported:
                thread.enter(kept, runtime.state["messages"])
        return thread.context

    async def _acontext_of(self, runtime: ToolRuntime) -> TieredContext:
        """See `_context_of`."""
        kept = _kept(runtime.state)
        thread = self._threads.at(address_of(runtime, kept))
        async with thread.gate.aentered():
            if kept and kept["state"] != thread.exported:
                await thread.aenter(kept, runtime.state["messages"])
        return thread.context


def _kept(state: Any) -> Mapping[str, Any] | None:
    """What the checkpoint holds of us."""
    kept = state.get(FIELD) if isinstance(state, Mapping) else None
    return kept if isinstance(kept, Mapping) and "state" in kept else None


def _usage(response: Any) -> Any:
    """What the provider reported, None where it did not."""
    messages = getattr(response, "result", None) or [response]
    return next((m.usage_metadata for m in messages if getattr(m, "usage_metadata", None)), None)


def _harder(ready: _Prepared) -> int:
    """The margin with which a view is a quarter smaller than one that was too long."""
    context = ready.thread.context
    tokens = sum(map(context.count_message, ready.request.messages))
    return max(ready.thread.margin, context.budget.available - ready.overhead - tokens * 3 // 4)


def _response(response: ModelResponse[Any], request: ModelRequest[Any], ready: _Prepared) -> ExtendedModelResponse[Any]:
    if _kept(request.state) == ready.kept:
        return ExtendedModelResponse(response)
    return ExtendedModelResponse(response, Command(update={FIELD: ready.kept}))
