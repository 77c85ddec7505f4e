"""LangChain messages for property tests, odd ones included."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    HumanMessageChunk,
    SystemMessage,
    ToolMessage,
    ToolMessageChunk,
)

texts = st.text(max_size=30)
surrogates = st.text(st.characters(min_codepoint=0xD7F0, max_codepoint=0xE010), max_size=5)
any_text = st.one_of(texts, surrogates)
ids = st.one_of(st.none(), st.text("abc123-", min_size=1, max_size=8))
leaves = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), any_text)
json_values = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(any_text, inner, max_size=3), max_leaves=8
)
arguments = st.dictionaries(texts, json_values, max_size=3)
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def _block(kind: str, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({"type": st.just(kind), **fields})


blocks = st.one_of(
    any_text,
    _block("text", text=any_text),
    _block("text", text=st.none()),
    _block("image_url", image_url=st.fixed_dictionaries({"url": st.just(f"data:image/png;base64,{PIXEL}")})),
    _block("image_url", image_url=st.one_of(st.none(), texts)),
    _block("image", base64=st.just(PIXEL), mime_type=st.just("image/png")),
    _block("image", source_type=st.just("url"), url=texts),
    _block("image", source=st.fixed_dictionaries({"type": st.just("base64"), "data": st.just(PIXEL)})),
    _block("audio", base64=texts, mime_type=st.just("audio/wav")),
    _block("file", file_id=texts),
    _block("document", source=json_values),
    _block("thinking", thinking=any_text, signature=texts),
    _block("redacted_thinking", data=texts),
    _block("reasoning", summary=st.lists(json_values, max_size=2)),
    _block("tool_use", id=ids, name=texts, input=st.one_of(arguments, texts)),
    _block("function_call", call_id=ids, name=texts, arguments=texts),
    _block("tool_result", tool_use_id=ids, content=any_text),
    _block("tool_result", tool_use_id=ids, content=st.lists(_block("text", text=any_text), max_size=2)),
    _block("tool_result", tool_use_id=ids),
    st.dictionaries(any_text, json_values, max_size=3),
)  # fmt: skip
contents = st.one_of(any_text, st.lists(blocks, max_size=4))
raw_calls = st.lists(
    st.fixed_dictionaries(
        {"id": ids, "type": st.just("function"), "function": st.fixed_dictionaries({"name": texts, "arguments": texts})}
    ),
    max_size=2,
)
kwargs = st.one_of(
    st.just({}),
    st.dictionaries(texts, json_values, max_size=2),
    st.fixed_dictionaries({"reasoning_content": any_text}),
    st.fixed_dictionaries({"tool_calls": raw_calls}),
    st.fixed_dictionaries({"function_call": st.fixed_dictionaries({"name": texts, "arguments": texts})}),
)
calls = st.lists(st.fixed_dictionaries({"name": texts, "args": arguments, "id": ids}), max_size=3)
invalid_calls = st.lists(
    st.fixed_dictionaries({"name": st.none() | texts, "args": st.none() | texts, "id": ids, "error": st.none()}),
    max_size=2,
)
usage = st.none() | st.just({"input_tokens": 3, "output_tokens": 2, "total_tokens": 5})
metadata = st.dictionaries(texts, json_values, max_size=2)
shared = {"content": contents, "id": ids, "name": ids, "response_metadata": metadata}
assistant: dict[str, st.SearchStrategy[Any]] = {
    **shared, "additional_kwargs": kwargs, "tool_calls": calls, "invalid_tool_calls": invalid_calls,
    "usage_metadata": usage,
}  # fmt: skip
results = {**shared, "tool_call_id": texts, "artifact": json_values, "status": st.sampled_from(["success", "error"])}
some_text = st.none() | texts
some_index = st.none() | st.integers(0, 3)
chunks = st.lists(
    st.fixed_dictionaries({"name": some_text, "args": some_text, "id": ids, "index": some_index}), max_size=2
)

messages: st.SearchStrategy[BaseMessage] = st.one_of(
    st.builds(HumanMessage, **shared, additional_kwargs=kwargs),
    st.builds(HumanMessageChunk, **shared),
    st.builds(SystemMessage, **shared),
    st.builds(AIMessage, **assistant),
    st.builds(AIMessageChunk, **{k: v for k, v in assistant.items() if "tool_calls" not in k}, tool_call_chunks=chunks),
    st.builds(ToolMessage, **results),
    st.builds(ToolMessageChunk, **results),
    st.builds(FunctionMessage, **{**shared, "name": st.text("abc", min_size=1)}),
    st.builds(ChatMessage, **shared, role=st.sampled_from(["developer", "user", "assistant", "tool", "critic"])),
)


def picture_blocks() -> dict[str, dict[str, Any]]:
    """One picture in every shape that carries it."""
    url = f"data:image/png;base64,{PIXEL}"
    return {
        "openai": {"type": "image_url", "image_url": {"url": url}},
        "openai string": {"type": "image_url", "image_url": url},
        "openai responses": {"type": "input_image", "image_url": url},
        "standard": {"type": "image", "base64": PIXEL, "mime_type": "image/png"},
        "standard url": {"type": "image", "url": url},
        "standard of core 0.3": {"type": "image", "source_type": "base64", "data": PIXEL, "mime_type": "image/png"},
        "anthropic": {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}},
        "google": {"type": "media", "mime_type": "image/png", "data": PIXEL},
        "a file": {"type": "file", "base64": PIXEL, "mime_type": "image/png"},
    }
