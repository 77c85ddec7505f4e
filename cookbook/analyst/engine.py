"""Third way in: a LlamaIndex chat engine. Results are put into its memory, a `TieredChatMemoryBuffer`, as messages."""

from __future__ import annotations

from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.llms import ChatMessage
from llama_index.core.tools import FunctionTool

from analyst.desk import MOST_ROUNDS, Desk
from analyst.llama_model import ToolLLM, chat_llm, neutral, result_message
from analyst.messages import Message, message_tokens, tool_tokens
from analyst.script import SYSTEM
from llama_tiered import TieredChatMemoryBuffer
from tiered_core import TieredContext


class Engine:
    """A `SimpleChatEngine` whose model may call `run_sql`.

    The engine stores the call as the model's answer; whoever asked runs the tool, puts the result into the memory, and
    lets the model go on from there.
    """

    title = "LlamaIndex chat engine"

    def __init__(self, desk: Desk) -> None:
        self._meter = desk.meter
        self._run_sql = desk.toolbox.run_sql
        tool = FunctionTool.from_defaults(self._run_sql)
        self._system = [ChatMessage(role="system", content=SYSTEM)]
        # An engine tells its memory of its system prompt only: what else stands in each prompt has to be planned for.
        self._around = tool_tokens([tool.metadata.to_openai_tool()]) + message_tokens(Message("system", SYSTEM))
        self.memory = TieredChatMemoryBuffer.from_defaults(budget=desk.budget)
        self.memory.context.plan_for(self._around)
        self.llm: ToolLLM = chat_llm(desk, [tool])
        self.engine = SimpleChatEngine.from_defaults(llm=self.llm, memory=self.memory, prefix_messages=self._system)
        self._meter.note(Message("system", SYSTEM))

    @property
    def context(self) -> TieredContext:
        """See `Way.context`."""
        return self.memory.context

    def ask(self, question: str) -> str:
        """See `Way.ask`."""
        self._meter.note(Message("user", question))
        self.engine.chat(question)
        reply = neutral(self.memory.get_all()[-1])
        for _ in range(MOST_ROUNDS):
            if not reply.calls:
                break
            reply = self._go_on(reply)
        return reply.text

    def _go_on(self, reply: Message) -> Message:
        """Runs the tools that the model has called, and asks it again."""
        for call in reply.calls:
            result = result_message(call, self._run_sql(**call.parsed()))
            self._meter.note(neutral(result))
            self.memory.put(result)
        response = self.llm.chat([*self._system, *self.memory.get(initial_token_count=self._around)])
        self.memory.put(response.message)
        return neutral(response.message)
