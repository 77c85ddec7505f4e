"""`TieredMemory`: a Runnable that remembers. It takes the place of `RunnableWithMessageHistory`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any

from langchain_core.messages import BaseMessage
from langchain_core.runnables import Runnable, RunnableConfig, RunnableSerializable
from langchain_core.runnables.base import RunnableLike, coerce_to_runnable
from langchain_core.runnables.config import get_config_list
from langchain_core.runnables.utils import ConfigurableFieldSpec, get_unique_config_specs
from langchain_core.utils.pydantic import create_model_v2
from pydantic import BaseModel, ConfigDict

from langchain_tiered.batching import arun_in_order, in_input_order, run_in_order
from langchain_tiered.bound_tools import bound_tools
from langchain_tiered.exchange import joined
from langchain_tiered.round_trip import Keys, RoundTrip
from langchain_tiered.sessions import SESSION_ID, history_of, session_key
from langchain_tiered.view_runnable import view_of

_ABANDONED = (GeneratorExit, asyncio.CancelledError, KeyboardInterrupt)
"""How a stream ends that its reader doesn't want to read on."""


class TieredMemory(RunnableSerializable[Any, Any]):
    """Puts the history of a session before the input of a Runnable, and stores what was said.

    Takes the same arguments and configs as `RunnableWithMessageHistory`, with any `BaseChatMessageHistory`. A
    `TieredChatMessageHistory` is asked for the view that fits beside the input. Stored is exactly what came in and what
    came out, through `add_messages`; when the Runnable raises, nothing is stored; when a stream isn't read to its end,
    the input and the answer so far are stored, marked with `additional_kwargs["tiered_partial"]`. In a batch, the
    inputs of one session are run one after the other, in their order.

    Args:
        runnable: takes messages or a dict with messages; gives a string, a message, a list, or a dict with one of them.
        get_session_history: gives the history of a session; called with the values of `history_factory_config`, one by
            position, several by name.
        input_messages_key: where the input is, when it is a dict.
        output_messages_key: where the answer is, when the output is a dict.
        history_messages_key: where the history goes; without it, it is put before the input.
        history_factory_config: which keys of `config["configurable"]` name a session; "session_id" by default.
    """

    runnable: Runnable[Any, Any]
    get_session_history: Callable[..., Any]
    input_messages_key: str | None = None
    output_messages_key: str | None = None
    history_messages_key: str | None = None
    history_factory_config: Sequence[ConfigurableFieldSpec] = (SESSION_ID,)

    model_config = ConfigDict(arbitrary_types_allowed=True)

    def __init__(
        self,
        runnable: RunnableLike[Any, Any],
        get_session_history: Callable[..., Any],
        *,
        input_messages_key: str | None = None,
        output_messages_key: str | None = None,
        history_messages_key: str | None = None,
        history_factory_config: Sequence[ConfigurableFieldSpec] | None = None,
        **kwargs: Any,
    ) -> None:
        fields: dict[str, Any] = {
            "runnable": coerce_to_runnable(runnable),
            "get_session_history": get_session_history,
            "input_messages_key": input_messages_key,
            "output_messages_key": output_messages_key,
            "history_messages_key": history_messages_key,
            "history_factory_config": tuple(history_factory_config or (SESSION_ID,)),
        }
        super().__init__(**fields, **kwargs)

    @staticmethod
    def view_of(history: Any) -> Runnable[Any, list[BaseMessage]]:
        """A Runnable from a question to the messages of the view, for `view | prompt | model`.

        The question is a string, a message, or a dict with "question" or "input". It isn't stored and isn't one of the
        messages: put it behind them, as in `{"history": view, "question": RunnablePassthrough()} | prompt | model`.

        Args:
            history: a `TieredChatMessageHistory`, a `TieredContext`, or any other chat history.
        """
        return view_of(history)

    # --- one input -------------------------------------------------------------------------------------------------

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Runs the Runnable with the session's history and stores what was said."""
        return self._call_with_config(self._invoke, input, config, **kwargs)  # type: ignore[arg-type]

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """See `invoke`."""
        return await self._acall_with_config(self._ainvoke, input, config, **kwargs)  # type: ignore[arg-type]

    def _invoke(self, value: Any, config: RunnableConfig, **kwargs: Any) -> Any:
        trip = self._begin(config)
        output = self.runnable.invoke(trip.enter(value), trip.config, **kwargs)
        trip.save(output)
        return output

    async def _ainvoke(self, value: Any, config: RunnableConfig, **kwargs: Any) -> Any:
        trip = self._begin(config)
        output = await self.runnable.ainvoke(await trip.aenter(value), trip.config, **kwargs)
        await trip.asave(output)
        return output

    def _begin(self, config: RunnableConfig) -> RoundTrip:
        history = history_of(self.get_session_history, self.history_factory_config, config, self.input_messages_key)
        keys = Keys(self.input_messages_key, self.output_messages_key, self.history_messages_key)
        return RoundTrip(history, keys, config, bound_tools(self.runnable))

    # --- streams ---------------------------------------------------------------------------------------------------

    def stream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any | None) -> Iterator[Any]:
        """Streams the Runnable's output; what was said is stored when the stream ends, or is given up."""
        yield from self.transform(iter([input]), config, **kwargs)

    async def astream(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any | None
    ) -> AsyncIterator[Any]:
        """See `stream`."""

        async def single() -> AsyncIterator[Any]:
            yield input

        stream = self.atransform(single(), config, **kwargs)
        try:
            async for chunk in stream:
                yield chunk
        finally:
            await stream.aclose()  # type: ignore[attr-defined]

    def transform(
        self, input: Iterator[Any], config: RunnableConfig | None = None, **kwargs: Any | None
    ) -> Iterator[Any]:
        """See `stream`; the input comes in chunks."""
        trips: list[RoundTrip] = []

        def run(inputs: Iterator[Any], config: RunnableConfig, **kwargs: Any) -> Iterator[Any]:
            trip = self._begin(config)
            sent = trip.enter(joined(list(inputs)))
            trips.append(trip)
            for chunk in self.runnable.stream(sent, trip.config, **kwargs):
                trip.chunks.append(chunk)
                yield chunk
            trip.save_stream()

        stream = self._transform_stream_with_config(input, run, config, **kwargs)  # type: ignore[arg-type]
        try:
            yield from stream
        except _ABANDONED:
            for trip in trips:
                trip.save_partial()
            raise

    async def atransform(
        self, input: AsyncIterator[Any], config: RunnableConfig | None = None, **kwargs: Any | None
    ) -> AsyncIterator[Any]:
        """See `transform`."""
        trips: list[RoundTrip] = []

        async def run(inputs: AsyncIterator[Any], config: RunnableConfig, **kwargs: Any) -> AsyncIterator[Any]:
            trip = self._begin(config)
            sent = await trip.aenter(joined([i async for i in inputs]))
            trips.append(trip)
            async for chunk in self.runnable.astream(sent, trip.config, **kwargs):
                trip.chunks.append(chunk)
                yield chunk
            await trip.asave_stream()

        stream = self._atransform_stream_with_config(input, run, config, **kwargs)  # type: ignore[arg-type]
        try:
            async for chunk in stream:
                yield chunk
        except _ABANDONED:
            for trip in trips:
                await trip.asave_partial()
            raise
        finally:
            await stream.aclose()  # type: ignore[attr-defined]

    # --- many inputs -----------------------------------------------------------------------------------------------

    def batch(
        self, inputs: list[Any], config: RunnableConfig | list[RunnableConfig] | None = None,
        *, return_exceptions: bool = False, **kwargs: Any,
    ) -> list[Any]:  # fmt: skip
        """Runs sessions side by side, and the inputs of one session one after the other, in their order."""
        return in_input_order(list(self._outcomes(inputs, config, kwargs)), return_exceptions)

    async def abatch(
        self, inputs: list[Any], config: RunnableConfig | list[RunnableConfig] | None = None,
        *, return_exceptions: bool = False, **kwargs: Any,
    ) -> list[Any]:  # fmt: skip
        """See `batch`."""
        return in_input_order([o async for o in self._aoutcomes(inputs, config, kwargs)], return_exceptions)

    def batch_as_completed(
        self, inputs: Sequence[Any], config: RunnableConfig | Sequence[RunnableConfig] | None = None,
        *, return_exceptions: bool = False, **kwargs: Any,
    ) -> Iterator[tuple[int, Any]]:  # fmt: skip
        """See `batch`; gives (index, output) as soon as one is there."""
        for outcome in self._outcomes(inputs, config, kwargs):
            in_input_order([outcome], return_exceptions)
            yield outcome

    async def abatch_as_completed(
        self, inputs: Sequence[Any], config: RunnableConfig | Sequence[RunnableConfig] | None = None,
        *, return_exceptions: bool = False, **kwargs: Any,
    ) -> AsyncIterator[tuple[int, Any]]:  # fmt: skip
        """See `batch_as_completed`."""
        async for outcome in self._aoutcomes(inputs, config, kwargs):
            in_input_order([outcome], return_exceptions)
            yield outcome

    def _outcomes(self, inputs: Sequence[Any], config: Any, kwargs: dict[str, Any]) -> Iterator[tuple[int, Any]]:
        configs = get_config_list(config, len(inputs)) if inputs else []
        keys = [session_key(self.history_factory_config, c) for c in configs]
        first = configs[0] if configs else None
        return run_in_order(keys, lambda i: self.invoke(inputs[i], configs[i], **kwargs), first)

    def _aoutcomes(self, inputs: Sequence[Any], config: Any, kwargs: dict[str, Any]) -> AsyncIterator[tuple[int, Any]]:
        configs = get_config_list(config, len(inputs)) if inputs else []
        keys = [session_key(self.history_factory_config, c) for c in configs]
        first = configs[0] if configs else None
        return arun_in_order(keys, lambda i: self.ainvoke(inputs[i], configs[i], **kwargs), first)

    # --- schemas ---------------------------------------------------------------------------------------------------

    @property
    def config_specs(self) -> list[ConfigurableFieldSpec]:
        """The keys of `config["configurable"]` that are understood: the session's, and the Runnable's own."""
        return get_unique_config_specs([*self.runnable.config_specs, *self.history_factory_config])

    def get_input_schema(self, config: RunnableConfig | None = None) -> type[BaseModel]:
        """What `invoke` takes."""
        root = Sequence[BaseMessage] if not self.history_messages_key else str | BaseMessage | Sequence[BaseMessage]
        fields: dict[str, Any] = {}
        if self.input_messages_key:
            fields[self.input_messages_key] = (root, ...)
            return create_model_v2("TieredMemoryInput", field_definitions=fields, module_name=type(self).__module__)
        return create_model_v2("TieredMemoryInput", root=(root, ...), module_name=type(self).__module__)

    def get_output_schema(self, config: RunnableConfig | None = None) -> type[BaseModel]:
        """What `invoke` gives: what the Runnable gives."""
        return self.runnable.get_output_schema(config)  # type: ignore[return-value]

    @property
    def InputType(self) -> Any:  # noqa: N802 - the host's name
        """A string, a message, messages, or a dict that holds one of these."""
        return str | BaseMessage | Sequence[BaseMessage] | dict[str, Any]

    @property
    def OutputType(self) -> Any:  # noqa: N802 - the host's name
        """That of the Runnable."""
        return self.runnable.OutputType
