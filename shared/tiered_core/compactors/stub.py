"""One line that stands for a whole body."""

from __future__ import annotations

from collections.abc import Iterator

from tiered_core.compactors.cells import label, neutral, own_line, quoted, whole_prefix
from tiered_core.compactors.json_text import read_json
from tiered_core.compactors.protocol import Body, Room
from tiered_core.compactors.tables import parse

_MOST_TOKENS = 40
_READ_CHARACTERS = 1_000_000
_PREVIEW = 48
_NAMES = 6
_PAIRS = 3


def bare(handle: str) -> str:
    """The shortest pointer, `[r12]`."""
    return f"[{handle}]"


def stub(body: Body, room: Room) -> str:
    """One line with kind, size and handle, at most 40 tokens and at most the room.

    Such as `[r12: table 500 rows x 10 columns (id, name, …), 12,345 tokens, kept; recall r12]`. What doesn't fit is
    left out, down to `[r12]`, the handle alone and its beginning; never blank, even for a room of nothing.
    """
    most = min(_MOST_TOKENS, room.max_tokens)
    for text in _forms(body):
        if room.count(text) <= most:
            return text
    short = room.truncate(body.handle, max(1, most), "head")
    return short if short.strip() else body.handle[:1] or "…"


def _forms(body: Body) -> Iterator[str]:
    """Pointers, the most telling first."""
    size = f"{body.tokens:,} tokens"
    what, details = _describe(body)
    for detail in (*details, ""):
        yield own_line(body.handle, f"{what}{detail}, {size}, kept; recall {body.handle}")
    yield own_line(body.handle, f"{body.kind}, {size}; recall {body.handle}")
    yield own_line(body.handle, f"{body.kind}, {size}")
    yield own_line(body.handle, body.kind)
    yield bare(body.handle)
    yield body.handle


def _describe(body: Body) -> tuple[str, list[str]]:
    """What the body is, and details worth adding, longest first."""
    short = len(body.text) <= _READ_CHARACTERS
    table = parse(body.text) if body.kind == "table" and short else None
    if table is not None:
        names = [label(neutral(name, body.handle), 20) for name in table.columns[:_NAMES]]
        more = ", …" if len(table.columns) > _NAMES else ""
        told = f" ({', '.join(names)}{more})" if table.headed else ""
        some = f" ({', '.join(names[:3])}, …)" if table.headed and len(names) > 3 else ""
        return f"table {len(table.rows)} rows x {len(table.columns)} columns", [told, some] if told else []
    if body.kind == "json" and short:
        value = read_json(body.text)
        if value is not None:
            unit = "items" if isinstance(value, list) else "keys"
            pairs = _pairs(value, body.handle)
            return f"json {len(value)} {unit}", [f" ({', '.join(pairs[:n])}, …)" for n in range(len(pairs), 0, -1)]
    if body.kind == "log":
        lines = body.text.count("\n") + 1
        return f"log {lines:,} lines", []
    return body.kind, [_preview(body)]


def _pairs(value: object, handle: str) -> list[str]:
    """The first plain values of an object, or of the first object in an array, each with its key."""
    while isinstance(value, list) and value:
        value = value[0]
    if not isinstance(value, dict):
        return []
    plain = [(key, inner) for key, inner in value.items() if isinstance(inner, str) and inner]
    return [neutral(f"{label(key, 20)} {label(inner, 28)}", handle) for key, inner in plain[:_PAIRS]]


def _preview(body: Body) -> str:
    """The first words, quoted."""
    start = neutral(" ".join(body.text[: 4 * _PREVIEW].split()), body.handle)
    return f" {quoted(whole_prefix(start, _PREVIEW) + '…')}" if start else ""
