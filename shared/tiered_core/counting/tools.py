"""Tool definitions as OpenAI's models see them: a TypeScript name space.

The form was found by asking the models and comparing with reported usage; see
https://github.com/hmarr/openai-chat-tokens (functions.ts, read 2026-11-30).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any


def as_typescript(tools: Iterable[Any]) -> str:
    """The name space `functions` with one type per tool; a definition that isn't a JSON object is shown as JSON."""
    lines = ["namespace functions {", ""]
    for tool in tools:
        lines.extend(_tool(tool))
    return "\n".join([*lines, "} // namespace functions"])


def _tool(tool: Any) -> Iterator[str]:
    function = tool.get("function", tool) if isinstance(tool, Mapping) else None
    if not isinstance(function, Mapping) or "name" not in function:
        yield json.dumps(tool, ensure_ascii=False, default=str)
        return
    yield from _comment(function.get("description"), 0)
    parameters = function.get("parameters")
    properties = parameters.get("properties") if isinstance(parameters, Mapping) else None
    if isinstance(properties, Mapping) and properties:
        yield f"type {function['name']} = (_: {{"
        yield from _properties(parameters, 0)
        yield "}) => any;"
    else:
        yield f"type {function['name']} = () => any;"
    yield ""


def _comment(text: object, indent: int) -> Iterator[str]:
    for line in str(text).split("\n") if text else ():
        yield f"{' ' * indent}// {line}"


def _properties(schema: Any, indent: int) -> Iterator[str]:
    required = schema.get("required") or ()
    for name, value in schema["properties"].items():
        described = value if isinstance(value, Mapping) else {}
        yield from _comment(described.get("description"), indent)
        optional = "" if name in required else "?"
        default = f" // default: {json.dumps(described['default'], default=str)}" if "default" in described else ""
        yield f"{' ' * indent}{name}{optional}: {_type(value, indent)},{default}"


def _type(schema: Any, indent: int) -> str:
    if not isinstance(schema, Mapping):
        return "any"
    if "enum" in schema:
        return " | ".join(json.dumps(value, ensure_ascii=False, default=str) for value in schema["enum"])
    for union in ("anyOf", "oneOf"):
        if isinstance(schema.get(union), list):
            return " | ".join(_type(option, indent) for option in schema[union])
    kind = schema.get("type")
    if isinstance(kind, list):
        return " | ".join(map(str, kind))
    if kind == "array":
        return f"{_type(schema.get('items'), indent)}[]"
    if kind == "object" or "properties" in schema:
        return _object(schema, indent)
    return {"integer": "number", "number": "number", None: "any"}.get(kind, str(kind))


def _object(schema: Mapping[str, Any], indent: int) -> str:
    if not isinstance(schema.get("properties"), Mapping):
        return "object"
    return "\n".join(["{", *_properties(schema, indent + 2), " " * indent + "}"])
