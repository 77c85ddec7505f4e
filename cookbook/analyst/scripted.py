"""What stands in for the model: it writes the script's query for a question, and the script's sentence for a result."""

from __future__ import annotations

from collections.abc import Sequence

from analyst.data import Warehouse
from analyst.messages import Message, ToolCall, compact
from analyst.script import Step


class ScriptedMind:
    """Replies to a prompt as a model would; all it knows of the conversation is the prompt."""

    def __init__(self, steps: Sequence[Step], warehouse: Warehouse) -> None:
        self._steps = {step.question: step for step in steps}
        self._warehouse = warehouse
        self._calls = 0

    def reply(self, prompt: Sequence[Message]) -> Message:
        """The next message of the assistant.

        Raises:
            LookupError: the prompt holds no question of the script.
        """
        asked = next((message.text for message in reversed(prompt) if message.role == "user"), "")
        step = self._steps.get(asked)
        if step is None:
            raise LookupError(f"the scripted model was asked something that isn't in the script: {asked[:80]!r}")
        if prompt[-1].role == "tool":
            return Message("assistant", step.answer(self._warehouse.query(step.sql)))
        self._calls += 1
        call = ToolCall(f"call_{self._calls}", "run_sql", compact({"sql": step.sql}))
        return Message("assistant", calls=(call,))
