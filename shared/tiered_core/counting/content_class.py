"""Which kind of content a text is, as far as it matters for estimating tokens."""

from __future__ import annotations

import re
from collections import Counter
from typing import Literal

from tiered_core.counting.pieces import script_of

ContentClass = Literal["prose", "foreign", "code", "json", "csv", "table", "log", "cjk", "script", "base64"]

_LOOKED_AT = 4_000
_UNBROKEN = re.compile(r"[A-Za-z0-9+/=_-]{32,}")
_OPAQUE = re.compile(r"(?=[A-Za-z0-9+/=_-]*[0-9+/])[A-Za-z0-9+/=_-]+")
_ALIGNED = re.compile(r"\S {2,}\S.* {2,}\S")
_RULED = re.compile(r"\s*[|│┃║+┌├└╔╠╚]")
_STAMPED = re.compile(
    r"[\[{\"]?(?:ts=|time=|level=|\"ts\"|\"time)"
    r"|.{0,40}?(?:\d\d:\d\d:\d\d|\d{4}-\d\d-\d\dT|\b(?:INFO|WARN|WARNING|ERROR|DEBUG|FATAL)\b)"
)
_CODE_MARKS = re.compile(r"[(){}\[\];=<>]|->|::|^\s{2,}\S", re.MULTILINE)
_WORD = re.compile(r"[^\W\d_]+")
_FREQUENT = frozenset(
    "the of and to in is for you that it with on be this are or as i a an at by not have has can from if was we".split()
)
_FOREIGN_LETTERS = 0.015
_FREQUENT_SHARE = 0.12


def classify(text: str) -> ContentClass:
    """The class of a text, from its first 4,000 characters."""
    head = text[:_LOOKED_AT]
    if not head.isascii():
        scripts: Counter[str] = Counter()
        for character, count in Counter(head).items():
            scripts[script_of(character)] += count
        visible = len(head) - head.count(" ") or 1
        if scripts["cjk"] > 0.15 * visible:
            return "cjk"
        if scripts["script"] > 0.2 * visible:
            return "script"
    if sum(len(run) for run in _UNBROKEN.findall(head) if _OPAQUE.fullmatch(run)) > len(head) / 2:
        return "base64"
    lines = [line for line in head.splitlines() if line.strip()]
    return _structured(head, lines) or _written(head)


def _structured(head: str, lines: list[str]) -> ContentClass | None:
    if not lines:
        return None
    few = lines[:30]
    if len(few) > 1 and sum(map(bool, map(_RULED.match, few))) > 0.7 * len(few):
        return "table"
    if sum(map(bool, map(_STAMPED.match, few))) > 0.5 * len(few):
        return "log"
    if head.lstrip()[:1] in ("{", "[") and head.count('"') > len(head) / 60:
        return "json"
    if len(few) > 1:
        for mark in ",\t;|":
            counts = Counter(line.count(mark) for line in few[:-1])
            usual, lines_with = counts.most_common(1)[0]
            if usual > 0 and lines_with > 0.7 * (len(few) - 1) and (usual > 1 or len(few) > 4):
                return "csv"
        if sum(map(bool, map(_ALIGNED.search, few))) > 0.7 * len(few):
            return "table"
    return None


def _written(head: str) -> ContentClass:
    if len(_CODE_MARKS.findall(head)) > len(head) / 40:
        return "code"
    if not head.isascii() and sum("\xbf" < c < "\u0250" for c in head) > _FOREIGN_LETTERS * len(head):
        return "foreign"
    words = _WORD.findall(head.lower())
    frequent = sum(word in _FREQUENT for word in words)
    return "foreign" if len(words) >= 12 and frequent < _FREQUENT_SHARE * len(words) else "prose"
