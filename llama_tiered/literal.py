"""A message whose text stays as it is when a chat engine uses it as a template.

`ContextChatEngine` and its relatives make a prompt template of the history, so `{query_str}` or `{context_str}` in what
somebody said long ago would be replaced by today's question or by retrieved text. LlamaIndex has no escape for that: of
`{{query_str}}` it replaces the inner part. It asks each message for its variables and lets it format itself, though;
this class has none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, TextBlock
from pydantic import BaseModel

from llama_tiered.cloning import clone_block


class LiteralMessage(ChatMessage):
    """Equal (==) to the `ChatMessage` with the same content; formatting it gives that `ChatMessage`, unaltered."""

    def get_template_vars(self) -> list[str]:
        """None."""
        return []

    def format_vars(self, **kwargs: Any) -> Any:
        """The message as it is."""
        del kwargs
        return clone_block(self).plain()

    def plain(self) -> ChatMessage:
        """A `ChatMessage` with the same blocks, which are shared."""
        return ChatMessage.model_construct(_fields_set={*self.model_fields_set}, **self.__dict__)

    def __eq__(self, other: Any) -> bool:
        if isinstance(other, ChatMessage) and type(other) in (ChatMessage, LiteralMessage):
            return self.__dict__ == other.__dict__
        return BaseModel.__eq__(self, other)

    def __repr_name__(self) -> str:
        return ChatMessage.__name__


def literal(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """The messages, those that could be taken for a template as `LiteralMessage`s with the same blocks."""
    return [_shielded(message) if _risky(message) else message for message in messages]


def _risky(message: ChatMessage) -> bool:
    """Whether a text holds a brace, or content is held as bytes, which LlamaIndex searches for variables as well."""
    return any("{" in b.text if isinstance(b, TextBlock) else bool(b.templatable_attributes) for b in message.blocks)


def _shielded(message: ChatMessage) -> LiteralMessage:
    return LiteralMessage.model_construct(_fields_set={*message.model_fields_set}, **message.__dict__)
