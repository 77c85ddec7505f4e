"""A data analyst's conversation of 42 turns inside a small token budget, on three ways in.

python cookbook/data_analyst.py                          all three, with a scripted model: no key, no network
python cookbook/data_analyst.py --way agent --quick      one way, the first 12 turns
python cookbook/data_analyst.py --model openai:gpt-4.1-mini --answers

Exits with 1 when a call of the model was illegal or over the budget, or when the first result can't be recalled byte
for byte; with 2 when it couldn't be run.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

from analyst.data import Warehouse
from analyst.desk import Desk, NoModelError
from analyst.display import Display
from analyst.meter import Meter
from analyst.script import read_script
from analyst.session import Outcome, play, sum_up
from analyst.ways import WAYS, open_way

from tiered_core import TieredError, TokenBudget

QUICK = 12
WINDOW = 16_000
RESERVE = 1_000


def arguments(given: Sequence[str] | None) -> argparse.Namespace:
    """What was asked for on the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--way", choices=[*WAYS, "all"], default="all", help="into which host (default: all three)")
    parser.add_argument("--model", help="openai:… or anthropic:… instead of the scripted model; needs a key")
    parser.add_argument("--turns", type=_positive, help="how many of the 42 turns (default: all)")
    parser.add_argument("--quick", action="store_true", help=f"the first {QUICK} turns")
    parser.add_argument("--budget", type=_positive, default=WINDOW, help=f"context window (default: {WINDOW:,} tokens)")
    parser.add_argument("--answers", action="store_true", help="show what the model answers")
    return parser.parse_args(given)


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


def run(name: str, desk: Desk, display: Display) -> Outcome:
    """Plays the session on one way in."""
    started = time.monotonic()
    way = open_way(name, desk)
    display.open(way.title)
    for turn in play(way, desk):
        display.turn(turn)
    return sum_up(way, desk, started)


def main(given: Sequence[str] | None = None) -> int:
    """Runs the demo; returns the exit code."""
    asked = arguments(given)
    display = Display(answers=asked.answers)
    steps = read_script(asked.turns or (QUICK if asked.quick else None))
    try:
        budget = TokenBudget(context_window=asked.budget, response_reserve=RESERVE)
        display.introduce(len(steps), budget, asked.model)
        with Warehouse() as warehouse:
            outcomes = [
                run(name, Desk(warehouse, steps, budget, Meter(budget.available), asked.model), display)
                for name in (WAYS if asked.way == "all" else [asked.way])
            ]
    except (NoModelError, TieredError) as error:
        print(error, file=sys.stderr)
        return 2
    display.summary(outcomes)
    display.verdict(outcomes)
    return int(any(outcome.failures for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main())
