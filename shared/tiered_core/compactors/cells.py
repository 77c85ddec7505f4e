"""How single values are written inside our renderings, so that nothing shifts and nothing imitates our own lines."""

from __future__ import annotations

import json
import re

_BREAKS = re.compile("[\t\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_CUT = re.compile(r"…\+\d+$")
_MARKER = re.compile(r"\[(?=r\d)", re.ASCII)
_PLAIN = re.compile(r"-?[^\W_](?:[\w .\-/+%@#&'()]*[^\W\d]|[\w.\-/+%:]*)")


def quoted(text: str) -> str:
    """The text as a JSON string on one line; non-ASCII characters stay, line breaks of every kind are escaped."""
    raw = json.dumps(text, ensure_ascii=False)
    return _BREAKS.sub(lambda found: f"\\u{ord(found[0]):04x}", raw)


def cell(value: str | None, width: int) -> str:
    """A cell of a tab-separated row. Null is written as nothing, an empty text as `""`.

    A value that holds a tab or a line break, or begins with a quotation mark, is written as a JSON string; a value
    longer than `width` characters ends with `…+n`, n being the characters left out.
    """
    if value is None:
        return ""
    if len(value) > width:
        return cell(whole_prefix(value, width), width) + f"…+{len(value) - len(whole_prefix(value, width))}"
    if value == "" or value[0] == '"' or _BREAKS.search(value) or _CUT.search(value):
        return quoted(value)
    return value


def label(value: str, width: int = 32) -> str:
    """A value or a name inside a line of ours: plain where it can't be misread, else a JSON string; cut to `width`."""
    if len(value) > width:
        return quoted(whole_prefix(value, width - 1) + "…")
    return value if _PLAIN.fullmatch(value) else quoted(value)


def whole_prefix(text: str, length: int) -> str:
    """The first `length` characters, one fewer where a surrogate pair would be split."""
    if 0 < length < len(text) and "\ud800" <= text[length - 1] <= "\udbff" and "\udc00" <= text[length] <= "\udfff":
        length -= 1
    return text[:length]


def own_line(handle: str, text: str) -> str:
    """A line of ours: it begins with `[` and the handle, and nothing else in it does."""
    return f"[{handle}: {neutral(text, handle)}]"


def neutral(text: str, handle: str) -> str:
    """The text with whatever imitates a line of ours, under any handle, made unlike one; the length stays."""
    return _MARKER.sub("(", unlike(text, handle))


def unlike(text: str, handle: str) -> str:
    """The text with what imitates a line about this handle made unlike one; the length stays."""
    return text.replace(f"[{handle}", f"({handle}")


def one_line(text: str, width: int) -> str:
    """The text on one line, other line breaks than LF escaped, cut to `width` characters with `…+n` at the end."""
    kept = whole_prefix(text, width) if len(text) > width else text
    bare = _BREAKS.sub(lambda found: found[0] if found[0] == "\t" else f"\\u{ord(found[0]):04x}", kept)
    return bare + (f"…+{len(text) - len(kept)}" if len(kept) < len(text) else "")
