"""What stands around the texts: roles, names, calls, tool definitions; and the counter base class that adds it up."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from tiered_core.counting.pictures import OPENAI_TILES, PictureRule, media_tokens
from tiered_core.counting.plain import compact_json, text_of
from tiered_core.counting.tools import as_typescript
from tiered_core.types import Call, Media, Reading, Side


@dataclass(frozen=True, slots=True)
class Framing:
    """What a provider adds, in tokens.

    OpenAI: 3 per message, 1 for the role, 1 with a name, 3 for the opening of the reply
    (https://cookbook.openai.com/examples/how_to_count_tokens_with_tiktoken, read 2026-11-30).

    Attributes:
        message: per message, without the role.
        role: per role name.
        name: with a speaker's name, beside the name itself.
        reply: once per request.
        tools: how the provider shows tool definitions to the model; "json" is an upper bound for "typescript".
        with_tools: once per request that has tools.
    """

    message: int = 3
    role: int = 1
    name: int = 1
    reply: int = 3
    tools: Literal["json", "typescript"] = "json"
    with_tools: int = 0


NEUTRAL = Framing()
OPENAI = Framing(tools="typescript", with_tools=12)


def call_text(call: Call) -> str:
    """A tool call as the JSON text that is sent: id, type, name, and the arguments as a JSON string."""
    function = {"name": call.name, "arguments": call.arguments}
    return compact_json({"id": call.id or "", "type": "function", "function": function})


class FramedCounter(ABC):
    """A `TokenCounter` from two abilities: counting one text and cutting one text.

    Attributes:
        name: identifies vocabulary and rules.
        exact: whether the figures are those of a vocabulary.
        framing: what stands around the texts.
        pictures: what a picture costs.
    """

    name: str
    exact: bool

    def __init__(
        self, name: str, exact: bool, framing: Framing = NEUTRAL, pictures: PictureRule = OPENAI_TILES
    ) -> None:
        self.name = name
        self.exact = exact
        self.framing = framing
        self.pictures = pictures

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}>"

    @abstractmethod
    def count_text(self, text: str) -> int:
        """Tokens of a text without any framing; 0 for "" and None."""

    @abstractmethod
    def truncate(self, text: str, max_tokens: int, side: Side = "head") -> str:
        """The longest head (or tail) of the text that has at most `max_tokens` tokens; no character is broken."""

    def count_data(self, data: Any) -> int:
        """Tokens of structured data, as the compact JSON text that would be sent."""
        return self.count_text(compact_json(data))

    def count_image(self, media: Media) -> int:
        """Tokens of a picture, recording or file; the same for every shape in which it is carried."""
        return media_tokens(media, self.pictures)

    def count_message(self, reading: Reading) -> int:
        """Tokens of one message: framing, role, name, texts, calls, reasoning, pictures and unknown blocks."""
        framing = self.framing
        total = framing.message + framing.role
        if reading.name:
            total += framing.name + self.count_text(reading.name)
        texts = (*reading.texts, *reading.reasoning, *reading.extra, *map(call_text, reading.calls))
        total += sum(self.count_text(text) for text in texts)
        return total + sum(self.count_image(media) for media in reading.media)

    def count_messages(self, readings: Sequence[Reading]) -> int:
        """Tokens of a request: the sum over its messages plus the opening of the reply; 0 for none."""
        if not readings:
            return 0
        return sum(self.count_message(reading) for reading in readings) + self.framing.reply

    def count_tools(self, tools: Iterable[Mapping[str, Any]]) -> int:
        """Tokens of tool definitions in OpenAI's JSON form, as the provider shows them to the model; 0 for none."""
        definitions = list(tools)
        if not definitions:
            return 0
        if self.framing.tools == "typescript":
            shown = as_typescript(definitions)
        else:
            shown = "\n".join(map(text_of, definitions))
        return self.framing.with_tools + self.count_text(shown)
