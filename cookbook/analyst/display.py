"""The progress of a session and its figures as plain text, for a terminal or a file."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Callable, Sequence

from analyst.session import Outcome, Turn
from tiered_core import TokenBudget

_STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33"}
_COLUMNS = (
    ("turn", 4), ("rows", 6), ("without us", 11), ("with us", 8), ("kept", 5), ("level", 6),
    ("fixed", 6), ("talk", 6), ("results", 8), ("handles", 8),
)  # fmt: skip
_LEGEND = {
    "rows": "of the results that entered in the turn",
    "without us": "tokens of the turn's last prompt, if it held the whole conversation",
    "with us": "tokens of the prompt that the model really received, tool definitions included",
    "kept": "share of that prompt that is the unchanged beginning of the one before: a provider's cache has it already",
    "level": "pressure, from 0 (less than half of the window is used) to 3 (85 % and more)",
    "fixed": "tokens after the turn, by tier: system text and tool definitions",
    "talk": "what was said, and the calls of tools",
    "results": "results, as the model sees them: chosen rows under exact facts about all rows",
    "handles": "older results of which only a handle is left, by which the original can be recalled",
}


def colours() -> bool:
    """Whether to use them: on a terminal, unless NO_COLOR is set (https://no-color.org)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


class Display:
    """Prints to standard output.

    Args:
        width: of a line; None for the terminal's, or 120.
        answers: whether to show what the model answered.
    """

    def __init__(self, width: int | None = None, answers: bool = False) -> None:
        self._width = max(80, width or shutil.get_terminal_size((120, 24)).columns)
        self._answers = answers
        self._colours = colours()

    def _styled(self, text: str, style: str) -> str:
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if self._colours else text

    def _fitted(self, text: str) -> str:
        return text if len(text) <= self._width else text[: self._width - 1] + "…"

    def introduce(self, turns: int, budget: TokenBudget, model: str | None) -> None:
        """What is going to be shown."""
        who = "The model is scripted: it needs no key and no network." if model is None else f"The model is {model}."
        print(self._styled("A long conversation over data, in a small window", "bold"))
        text = (
            f"An analyst asks {turns} questions about all 336,776 flights that left New York in 2013. Every query runs "
            "in DuckDB, and its whole result, up to thousands of rows, becomes part of the conversation. The model has "
            f"a window of {budget.context_window:,} tokens, {budget.response_reserve:,} of them for its answer. {who}"
        )
        print(textwrap.fill(text, self._width), end="\n\n")
        for name, meaning in _LEGEND.items():
            print(self._styled(f"{name:<10}  {meaning}", "dim"))

    def open(self, title: str) -> None:
        """The head of a way's table."""
        print("\n" + self._styled(title, "bold"))
        names = "".join(name.rjust(width) for name, width in _COLUMNS)
        print(self._styled(f"{names}  question", "dim"))

    def turn(self, turn: Turn) -> None:
        """The line of a turn, with one more below it where something was rewritten."""
        report, sent = turn.report, turn.last.sent
        tiers = report.tiers
        cells = (
            f"{turn.number}", f"{turn.rows:,}", f"{turn.last.whole.total:,}", f"{sent.total:,}",
            f"{sent.kept / sent.total:.0%}", f"{report.level}", f"{report.overhead + tiers['system']:,}",
            f"{tiers['conversation']:,}", f"{tiers['results']:,}", f"{tiers['evictable']:,}",
        )  # fmt: skip
        figures = "".join(cell.rjust(width) for cell, (_, width) in zip(cells, _COLUMNS, strict=True))
        print(self._fitted(f"{figures}  {turn.question}"), flush=True)
        if self._answers:
            print(textwrap.indent(textwrap.fill(turn.answer, self._width - 6), " " * 6))
        if turn.batch:
            before, after = (call.sent.total for call in turn.batch)
            left = report.messages - report.shown
            out = f", {left} messages are out of the prompt" if left else ""
            text = f"batch {report.batches}: the oldest results became handles{out}; {before:,} tokens became {after:,}"
            print(self._styled(self._fitted(f"      {text}"), "yellow"))

    def summary(self, outcomes: Sequence[Outcome]) -> None:
        """The figures of all ways, side by side."""
        rows = [(label, [figure(outcome) for outcome in outcomes]) for label, figure in _FIGURES]
        label_width = max(len(label) for label, _ in rows) + 2
        print("\n" + self._styled("In total", "bold"))
        print(self._styled(" " * label_width + "".join(o.way.title.rjust(24) for o in outcomes), "dim"))
        for label, cells in rows:
            print(label.ljust(label_width) + "".join(cell.rjust(24) for cell in cells))

    def verdict(self, outcomes: Sequence[Outcome]) -> None:
        """What it comes to, in a few sentences."""
        print()
        meter = outcomes[0].meter
        over, over_128k = meter.first_turn_over(meter.limit), meter.first_turn_over(128_000)
        if over:
            later = f", and no longer into 128,000 tokens from turn {over_128k} on" if over_128k else ""
            print(f"Without us, the conversation doesn't fit this window from turn {over} on{later}.")
        if recalled := outcomes[0].recalled:
            print(
                f"At the end, the first result ({recalled.rows:,} rows, {recalled.tokens:,} tokens, {recalled.size:,} "
                f"bytes) was recalled by its handle {recalled.handle}: {_recalled(outcomes[0])}."
            )
        failures = [failure for outcome in outcomes for failure in outcome.failures]
        for failure in failures:
            print(self._styled(f"FAILED  {failure}", "red"))
        if not failures:
            calls = sum(len(o.meter.calls) for o in outcomes)
            text = f"All {calls} calls of the model were legal and within {meter.limit:,} tokens, overhead included."
            print(self._styled(text, "green"))


def _share(part: float, whole: float) -> str:
    return f"{part:,.0f} ({part / whole - 1:+.1%})" if whole else f"{part:,.0f}"


def _sent(outcome: Outcome) -> str:
    calls = outcome.meter.calls
    return _share(sum(c.sent.total for c in calls), sum(c.whole.total for c in calls))


def _price(outcome: Outcome) -> str:
    calls = outcome.meter.calls
    return _share(sum(c.sent.price for c in calls), sum(c.whole.price for c in calls))


def _recalled(outcome: Outcome) -> str:
    if outcome.recalled is None:
        return "none was large"
    return "byte-identical" if outcome.recalled.identical else "DIFFERENT"


def _of(good: int, all_: int) -> str:
    return f"{good} of {all_}"


_FIGURES: tuple[tuple[str, Callable[[Outcome], str]], ...] = (
    ("calls of the model", lambda o: f"{len(o.meter.calls)} in {o.meter.turn} turns"),
    ("  legal", lambda o: _of(len(o.meter.calls) - len(o.meter.illegal), len(o.meter.calls))),
    ("  within the budget, with overhead", lambda o: _of(len(o.meter.calls) - len(o.meter.over), len(o.meter.calls))),
    ("largest prompt, with overhead", lambda o: f"{max(c.sent.total for c in o.meter.calls):,} / {o.meter.limit:,}"),
    ("  tool definitions in it", lambda o: f"{max(c.overhead for c in o.meter.calls):,}"),
    ("batches (what was sent, rewritten)", lambda o: f"{o.report.batches}"),
    ("unchanged prefix, of all tokens", lambda o: f"{o.meter.prefix_share:.1%}"),
    ("tokens sent", _sent),
    ("  without us", lambda o: f"{sum(c.whole.total for c in o.meter.calls):,}"),
    ("price (cached 0.1, new 1.25)", _price),
    ("  without us", lambda o: f"{sum(c.whole.price for c in o.meter.calls):,.0f}"),
    ("results that entered small", lambda o: f"{o.cuts['rendered']:,}"),
    ("results that became handles later", lambda o: f"{o.cuts['offloaded']:,}"),
    ("messages that left the prompt", lambda o: f"{o.cuts['evicted']:,}"),
    ("first result, recalled", _recalled),
    ("seconds", lambda o: f"{o.seconds:.1f}"),
)
