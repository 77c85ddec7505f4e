"""`bounded_llm`: a model whose every call is fitted just before it is made.

A memory can't bound an agent, because agents keep their tool loop outside of it and add it behind the memory's view.
The model sees all of it, so that is where it is fitted.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, overload

from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    ChatResponseAsyncGen,
    ChatResponseGen,
    CompletionResponse,
    CompletionResponseAsyncGen,
    CompletionResponseGen,
    LLMMetadata,
    MessageRole,
)
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import LLM, ToolSelection
from llama_index.core.tools.types import BaseTool
from pydantic import Field, PrivateAttr

from llama_tiered.buffer import TieredChatMemoryBuffer
from llama_tiered.fitter import Fitter
from tiered_core import Recalled
from tiered_core.recall import DEFAULT_LIMIT

_COPIED = (
    "callback_manager", "system_prompt", "messages_to_prompt", "completion_to_prompt", "output_parser",
    "pydantic_program_mode", "query_wrapper_prompt",
)  # fmt: skip


class BoundedLLM(LLM):
    """Hands every call on to the wrapped model, with as many tokens as the budget allows.

    Attributes:
        wrapped: the model that answers. Attributes this class doesn't know are looked up there.
        memory: whose budget holds.
    """

    wrapped: LLM = Field(exclude=True)
    memory: TieredChatMemoryBuffer = Field(exclude=True)
    _fitter: Fitter = PrivateAttr()

    @classmethod
    def around(cls, llm: LLM, memory: TieredChatMemoryBuffer) -> BoundedLLM:
        """The model, bounded by the memory's budget."""
        return cls(wrapped=llm, memory=memory, **{name: getattr(llm, name) for name in _COPIED})

    def model_post_init(self, context: Any, /) -> None:
        """Runs after each construction, unpickling included."""
        super().model_post_init(context)
        self._fitter = Fitter(self.memory)

    @classmethod
    def class_name(cls) -> str:
        """The name under which LlamaIndex knows it."""
        return cls.__name__

    @property
    def metadata(self) -> LLMMetadata:
        """Of the wrapped model."""
        return self.wrapped.metadata

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)  # type: ignore[misc]
        except AttributeError:
            if name.startswith("_") or "wrapped" not in self.__dict__:
                raise
            return getattr(self.wrapped, name)

    def recall(self, handle: str, offset: int = 0, limit_tokens: int | None = DEFAULT_LIMIT) -> Recalled:
        """A piece of an original that a call showed smaller.

        The handles of calls are above 100,000; those below are the memory's, see `TieredContext.recall`.

        Raises:
            TranscriptError: no call that is remembered has shown the handle.
        """
        return self._fitter.recall(handle, offset, limit_tokens)

    def _fit(self, messages: Sequence[ChatMessage], kwargs: dict[str, Any]) -> list[ChatMessage]:
        return self._fitter.fit(messages, kwargs.get("tools") or ())

    def _fit_prompt(self, prompt: str) -> str:
        fitted = self._fitter.fit([ChatMessage(role=MessageRole.USER, content=prompt)], ())
        return fitted[-1].content or ""

    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        """See `LLM.chat`."""
        return self.wrapped.chat(self._fit(messages, kwargs), **kwargs)

    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        """See `LLM.achat`."""
        return await self.wrapped.achat(await asyncio.to_thread(self._fit, messages, kwargs), **kwargs)

    def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseGen:
        """See `LLM.stream_chat`."""
        return self.wrapped.stream_chat(self._fit(messages, kwargs), **kwargs)

    async def astream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseAsyncGen:
        """See `LLM.astream_chat`."""
        return await self.wrapped.astream_chat(await asyncio.to_thread(self._fit, messages, kwargs), **kwargs)

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        """See `LLM.complete`."""
        return self.wrapped.complete(self._fit_prompt(prompt), formatted=formatted, **kwargs)

    async def acomplete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        """See `LLM.acomplete`."""
        fitted = await asyncio.to_thread(self._fit_prompt, prompt)
        return await self.wrapped.acomplete(fitted, formatted=formatted, **kwargs)

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseGen:
        """See `LLM.stream_complete`."""
        return self.wrapped.stream_complete(self._fit_prompt(prompt), formatted=formatted, **kwargs)

    async def astream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseAsyncGen:
        """See `LLM.astream_complete`."""
        fitted = await asyncio.to_thread(self._fit_prompt, prompt)
        return await self.wrapped.astream_complete(fitted, formatted=formatted, **kwargs)


class BoundedFunctionCallingLLM(BoundedLLM, FunctionCallingLLM):
    """See `BoundedLLM`; for models that call tools, whose definitions count as well. All arguments are handed on."""

    wrapped: FunctionCallingLLM = Field(exclude=True)

    def chat_with_tools(  # type: ignore[override]
        self, tools: Sequence[BaseTool], user_msg: str | ChatMessage | None = None,
        chat_history: list[ChatMessage] | None = None, **kwargs: Any,
    ) -> ChatResponse:  # fmt: skip
        """See `FunctionCallingLLM.chat_with_tools`."""
        fitted = self._fitter.fit(_together(chat_history, user_msg), tools)
        return self.wrapped.chat_with_tools(tools, chat_history=fitted, **kwargs)

    async def achat_with_tools(  # type: ignore[override]
        self, tools: Sequence[BaseTool], user_msg: str | ChatMessage | None = None,
        chat_history: list[ChatMessage] | None = None, **kwargs: Any,
    ) -> ChatResponse:  # fmt: skip
        """See `FunctionCallingLLM.achat_with_tools`."""
        fitted = await asyncio.to_thread(self._fitter.fit, _together(chat_history, user_msg), tools)
        return await self.wrapped.achat_with_tools(tools, chat_history=fitted, **kwargs)

    def stream_chat_with_tools(  # type: ignore[override]
        self, tools: Sequence[BaseTool], user_msg: str | ChatMessage | None = None,
        chat_history: list[ChatMessage] | None = None, **kwargs: Any,
    ) -> ChatResponseGen:  # fmt: skip
        """See `FunctionCallingLLM.stream_chat_with_tools`."""
        fitted = self._fitter.fit(_together(chat_history, user_msg), tools)
        return self.wrapped.stream_chat_with_tools(tools, chat_history=fitted, **kwargs)

    async def astream_chat_with_tools(  # type: ignore[override]
        self, tools: Sequence[BaseTool], user_msg: str | ChatMessage | None = None,
        chat_history: list[ChatMessage] | None = None, **kwargs: Any,
    ) -> ChatResponseAsyncGen:  # fmt: skip
        """See `FunctionCallingLLM.astream_chat_with_tools`."""
        fitted = await asyncio.to_thread(self._fitter.fit, _together(chat_history, user_msg), tools)
        return await self.wrapped.astream_chat_with_tools(tools, chat_history=fitted, **kwargs)

    def get_tool_calls_from_response(
        self, response: ChatResponse, error_on_no_tool_call: bool = True, **kwargs: Any
    ) -> list[ToolSelection]:
        """See `FunctionCallingLLM.get_tool_calls_from_response`."""
        kwargs["error_on_no_tool_call"] = error_on_no_tool_call
        return self.wrapped.get_tool_calls_from_response(response, **kwargs)

    def _prepare_chat_with_tools(  # type: ignore[override]
        self, tools: Sequence[BaseTool], **kwargs: Any
    ) -> dict[str, Any]:
        """The wrapped model's; the methods above don't use it, LlamaIndex demands it."""
        return self.wrapped._prepare_chat_with_tools(tools, **kwargs)


def _together(history: list[ChatMessage] | None, user_msg: str | ChatMessage | None) -> list[ChatMessage]:
    messages = list(history or ())
    if isinstance(user_msg, str):
        messages.append(ChatMessage(role=MessageRole.USER, content=user_msg))
    elif user_msg is not None:
        messages.append(user_msg)
    return messages


@overload
def bounded_llm(llm: FunctionCallingLLM, memory: TieredChatMemoryBuffer) -> FunctionCallingLLM: ...


@overload
def bounded_llm(llm: LLM, memory: TieredChatMemoryBuffer) -> LLM: ...


def bounded_llm(llm: LLM, memory: TieredChatMemoryBuffer) -> LLM:
    """A model that answers as the given one, and whose every call has at most the tokens of the memory's budget.

    Whatever an agent keeps outside of the memory (tool loops, reasoning), each call is fitted just before it is made:
    chat, streaming, with tools, completions, and all that LlamaIndex builds on them.

    Args:
        llm: not altered.
        memory: whose budget, counter and strategy hold; its messages aren't touched.

    Returns:
        A `FunctionCallingLLM` when the given model is one, with the same metadata.
    """
    kind = BoundedFunctionCallingLLM if isinstance(llm, FunctionCallingLLM) else BoundedLLM
    return kind.around(llm, memory)
