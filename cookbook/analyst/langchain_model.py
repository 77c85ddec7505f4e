"""LangChain's side of the model: the scripted one, a real one, and how the meter reads what they receive."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult, LLMResult
from langchain_core.runnables import Runnable
from langchain_core.tools import StructuredTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from analyst.desk import Desk, NoModelError
from analyst.messages import Message, ToolCall, compact
from analyst.meter import Meter

_ROLES = {"system": "system", "human": "user", "ai": "assistant", "tool": "tool"}


def langchain_tool(method: Callable[..., str]) -> StructuredTool:
    """A tool of the toolbox as LangChain has it."""
    return StructuredTool.from_function(method, parse_docstring=True)


def definitions(tools: Sequence[Any]) -> list[dict[str, Any]]:
    """What a model receives of tools."""
    return [convert_to_openai_tool(tool) for tool in tools]


def neutral(message: BaseMessage) -> Message:
    """A LangChain message without LangChain."""
    calls = tuple(
        ToolCall(c["id"] or "", c["name"], compact(c["args"])) for c in getattr(message, "tool_calls", None) or ()
    )
    return Message(_ROLES[message.type], str(message.text), calls, getattr(message, "tool_call_id", None))


class ScriptedChatModel(BaseChatModel):
    """A chat model that replies by the script; the meter sees exactly what arrives."""

    mind: Any
    meter: Any

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[Any, AIMessage]:
        """The model with tools, whose definitions are part of what arrives."""
        return self.bind(tools=definitions(tools), **kwargs)

    def _generate(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        prompt = [neutral(message) for message in messages]
        self.meter.sees(prompt, kwargs.get("tools", ()))
        reply = self.mind.reply(prompt)
        self.meter.note(reply)
        calls = [{"id": c.id, "name": c.name, "args": c.parsed()} for c in reply.calls]
        return ChatResult(generations=[ChatGeneration(message=AIMessage(reply.text, tool_calls=calls))])


class MeterHandler(BaseCallbackHandler):
    """Lets the meter see what a real chat model receives and says."""

    raise_error = True

    def __init__(self, meter: Meter) -> None:
        self._meter = meter

    def on_chat_model_start(self, serialized: Any, messages: list[list[BaseMessage]], **kwargs: Any) -> None:
        """Before the model is called."""
        tools = (kwargs.get("invocation_params") or {}).get("tools") or ()
        self._meter.sees([neutral(message) for message in messages[0]], tools)

    def on_llm_end(self, response: LLMResult, **kwargs: Any) -> None:
        """When it has replied."""
        self._meter.note(neutral(response.generations[0][0].message))


def chat_model(desk: Desk) -> BaseChatModel:
    """The model of the session.

    Raises:
        NoModelError: the real model's package isn't installed, or it has no key.
    """
    if desk.model is None:
        return ScriptedChatModel(mind=desk.mind(), meter=desk.meter)
    from langchain.chat_models import init_chat_model

    provider = desk.model.partition(":")[0]
    try:
        return init_chat_model(desk.model, callbacks=[MeterHandler(desk.meter)], temperature=0)
    except ImportError:
        raise NoModelError(f"{desk.model} needs a package: pip install langchain-{provider}") from None
    except Exception as error:  # each provider's client has its own error for a missing key
        raise NoModelError(f"{desk.model} can't be used: {error}") from error
