"""What a line of a log looks like."""

from __future__ import annotations

import re
from collections.abc import Sequence

_STAMP = re.compile(
    r"""\W{0,2}(?:
        \d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d          # 2024-01-31 12:00, 2024/01/31 12:00
      | [A-Z][a-z]{2}\ {1,2}\d{1,2}\ \d\d:\d\d:\d\d  # Jan 31 12:00:00
      | \d\d[-/][A-Z][a-z]{2}[-/]\d{4}[ :]\d\d:\d\d  # 31/Jan/2024:12:00
      | \d\d:\d\d:\d\d[.,\ \]]                       # 12:00:00.000
      | [IWEF]\d{4}\ \d\d:\d\d:\d\d                  # I0131 12:00:00
      | \S+\ \S+\ \S+\ \[\d\d/[A-Z][a-z]{2}/\d{4}:   # 127.0.0.1 - - [31/Jan/2024:
    )""",
    re.VERBOSE,
)
_LEVEL = re.compile(
    r"\b(TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERR(?:OR)?|CRIT(?:ICAL)?|FATAL|SEVERE|ALERT|EMERG)\b"
    r"|\blevel=(\w+)|^\W{0,2}(trace|debug|info|notice|warn(?:ing)?|error|critical|fatal)\b[\]:]"
)
_LEVEL_WITHIN = 120
_SHORT = {"WARN": "WARNING", "ERR": "ERROR", "CRIT": "CRITICAL"}


def level_of(line: str) -> str | None:
    """The level that a log line names near its beginning, upper case, None where it names none."""
    found = _LEVEL.search(line[:_LEVEL_WITHIN])
    if found is None:
        return None
    name = (found[1] or found[2] or found[3]).upper()
    return _SHORT.get(name, name)


def is_stamped(line: str) -> bool:
    """Whether the line begins with a time as logs write it."""
    return _STAMP.match(line) is not None


def is_log(lines: Sequence[str], strict: bool = False) -> bool:
    """Whether the lines are a log; continuation lines (indented or blank) don't count.

    `strict` asks for a time and a level on most lines, the first one included: a table that has a column of times
    isn't taken for a log.
    """
    heads = [line for line in lines if line[:1].strip()]
    if len(heads) < 4:
        return False
    stamped = sum(map(is_stamped, heads))
    levelled = sum(level_of(line) is not None for line in heads)
    if strict:
        return is_stamped(heads[0]) and min(stamped, levelled) * 2 > len(heads)
    return max(stamped, levelled) * 5 >= 3 * len(heads)
