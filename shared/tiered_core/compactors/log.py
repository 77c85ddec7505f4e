"""Logs: how often each kind of line occurs, and the lines that matter."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tiered_core.compactors.cells import neutral, one_line, own_line
from tiered_core.compactors.lexical import best_matches, question_words
from tiered_core.compactors.log_lines import level_of
from tiered_core.compactors.protocol import Body, Compacted, Room
from tiered_core.compactors.tables import lines_of

_LEAST_TOKENS = 60
_ATTEMPTS = 6
_MARGIN = 0.95
_WIDTH = 240
_OWN_LINES = 150
_PATTERN_SHARE = 0.4
_MATCHES = 8
_READ_LINES = 200_000
_SEVERE = ("EMERG", "ALERT", "FATAL", "CRITICAL", "SEVERE", "ERROR", "WARNING")
_FAILURE = re.compile(r"Traceback|\b\w*(?:Exception|Error)\b\s*[:(]|\bpanic:")
_VARIES = re.compile(
    r"0x[0-9a-fA-F]+|\b(?=[0-9a-fA-F-]{0,40}\d)[0-9a-fA-F]{8,}(?:-[0-9a-fA-F]{4,})*\b|\d+(?:[.,:/T-]\d+)*Z?"
    r"|\"[^\"\n]{0,200}\"|'[^'\n]{0,200}'"
)
_RUN = re.compile(r"<\*>(?:[\s,:.+/-]*<\*>)+")


class LogCompactor:
    """Shows patterns of lines with their counts, then single lines with their numbers (from 1).

    Single lines are, in this order: the first and the last one, the first and last line of each pattern of failures
    (worst level first), lines that share words with the question, then more from both ends.
    """

    name = "log"
    order = 3

    def can_compact(self, body: Body) -> bool:
        """Whether the body is a log that a machine wrote."""
        return body.kind == "log" and body.machine

    def estimate_savings(self, body: Body, room: Room) -> int:
        """Tokens above the room; 0 for a room in which nothing can be rendered."""
        able = self.can_compact(body) and room.max_tokens >= _LEAST_TOKENS
        return max(0, body.tokens - room.max_tokens) if able else 0

    def compact(self, body: Body, room: Room) -> Compacted | None:
        """The patterns and lines that fit; None when the room is too small."""
        if room.max_tokens < _LEAST_TOKENS:
            return None
        log = _survey(body)
        sample = "\n".join(log.lines[:40])[:8_000]
        most = min(room.max_tokens, body.tokens - 1)
        characters = most * len(sample) / max(1, room.count(sample))
        for _ in range(_ATTEMPTS):
            result = _render(log, body.handle, characters)
            tokens = room.count(result.text)
            if tokens <= most:
                return result
            characters *= most / tokens * _MARGIN
        return None


@dataclass(frozen=True, slots=True)
class _Log:
    """A log that was read.

    Attributes:
        lines: all lines in order.
        levels: lines by level, the worst level first.
        patterns: (count, pattern), most frequent first; only those that occur more than once.
        different: number of different patterns.
        order: positions of the lines worth showing, the most telling first.
    """

    lines: Sequence[str]
    levels: Sequence[tuple[str, int]]
    patterns: Sequence[tuple[int, str]]
    different: int
    order: Sequence[int]


def _survey(body: Body) -> _Log:
    lines = lines_of(body.text.rstrip("\r\n"))
    counts: Counter[str] = Counter()
    levels: Counter[str] = Counter()
    failures: dict[tuple[int, str], list[int]] = {}
    for i, line in enumerate(lines):
        pattern = _pattern(line)
        counts[pattern] += 1
        level = level_of(line)
        if level is not None:
            levels[level] += 1
        if level in _SEVERE or _FAILURE.search(line[:_WIDTH]):
            rank = _SEVERE.index(level) if level in _SEVERE else _SEVERE.index("ERROR")
            failures.setdefault((rank, pattern), [i, i])[1] = i
    patterns = sorted(((n, pattern) for pattern, n in counts.items() if n > 1), key=lambda pair: (-pair[0], pair[1]))
    order = list(dict.fromkeys(_order(lines, failures, body.question)))
    known = sorted(levels.items(), key=lambda pair: (_SEVERE.index(pair[0]) if pair[0] in _SEVERE else 99, pair[0]))
    return _Log(lines, known, patterns, len(counts), order)


def _pattern(line: str) -> str:
    """The line with what varies from line to line replaced by `<*>`."""
    return _RUN.sub("<*>", _VARIES.sub("<*>", line[:_WIDTH]))


def _order(lines: Sequence[str], failures: dict[tuple[int, str], list[int]], question: str | None) -> Iterator[int]:
    yield from (0, len(lines) - 1)
    ranked = sorted(failures.items(), key=lambda pair: (pair[0][0], pair[1][0]))
    yield from (spot[0] for _, spot in ranked)
    wanted = question_words(question)
    if wanted and len(lines) <= _READ_LINES:
        yield from (i for _, i in best_matches(lines, wanted, _MATCHES))
    yield from (spot[1] for _, spot in ranked)
    for i in range(len(lines) // 2 + 1):
        yield from (i, len(lines) - 1 - i)


def _render(log: _Log, handle: str, characters: float) -> Compacted:
    total = len(log.lines)
    patterns, left = _patterns_within(log, (characters - _OWN_LINES) * _PATTERN_SHARE)
    left += (characters - _OWN_LINES) * (1 - _PATTERN_SHARE)
    shown: list[int] = []
    for i in log.order:
        left -= len(one_line(log.lines[i], _WIDTH)) + len(str(i)) + 3
        if left < 0:
            break
        shown.append(i)
    levels = "".join(f", {name} {n}" for name, n in log.levels)
    text = [own_line(handle, f"log, shown {len(shown)} of {total} lines; whole: recall {handle}")]
    text.append(own_line(handle, f"all {total} lines{levels}; {log.different} line patterns, <*> varies"))
    text += [neutral(line, handle) for line in patterns]
    if shown:
        text.append(own_line(handle, "lines by number"))
    text += [neutral(f"{i + 1}: {one_line(log.lines[i], _WIDTH)}", handle) for i in sorted(shown)]
    return Compacted("\n".join(text), len(shown), total)


def _patterns_within(log: _Log, characters: float) -> tuple[list[str], float]:
    """Lines such as `412x <*> INFO served in <*> ms`, and the characters that stay free."""
    kept: list[str] = []
    for n, pattern in log.patterns:
        line = f"{n}x {one_line(pattern, _WIDTH)}"
        if len(line) + 1 > characters:
            break
        characters -= len(line) + 1
        kept.append(line)
    return kept, max(0.0, characters)
