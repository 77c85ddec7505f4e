"""P9: what a turn costs as the conversation grows, and what opening a long one costs. Needs no data.

Times are CPU time of this process: all of it is computation, and other processes on the machine shall not count.
"""

from __future__ import annotations

import gc
import random
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

from tests.benchmarks.corpora import Message
from tests.benchmarks.figures import Table
from tests.benchmarks.options import Options
from tests.benchmarks.tokens import text_of
from tiered_core import TieredContext, get_token_counter
from tiered_core.counting import TiktokenCounter
from tiered_core.counting.vocabulary import load_vocabulary

TITLE = "P9 cost per turn"
BUDGET = 4_000
SIZES = (100, 1_000, 10_000)
STORED = 20_000
_TURN = 4  # messages


class Tally(TiktokenCounter):
    """The exact counter, adding up the characters that are handed to the vocabulary."""

    characters = 0

    def encode(self, text: str) -> list[int]:
        self.characters += len(text)
        return super().encode(text)


def tally() -> Tally:
    """A counter of its own.

    Raises:
        RuntimeError: there is no vocabulary on this machine.
    """
    vocabulary = load_vocabulary("cl100k_base")
    if vocabulary is None:
        raise RuntimeError("P9 needs the vocabulary cl100k_base: pip install 'tiered-context[offline]'")
    return Tally(vocabulary)


def turn(number: int) -> list[Message]:
    """A question, a query, its result (every fifth one is large), an answer; different for each number."""
    chance = random.Random(number)
    rows = 60 if number % 5 == 0 else 8
    lines = [f"{k},{chance.choice('AUD')}A,{chance.randrange(900)},{chance.random() * 90:.2f}" for k in range(rows)]
    table = "\n".join(["day,carrier,flights,delay", *lines])
    sql = f"SELECT day, carrier, flights, delay FROM flights WHERE month = {number % 12} AND origin = 'A{number}'"
    call = {"id": f"c{number}", "type": "function", "function": {"name": "run", "arguments": f'{{"sql": "{sql}"}}'}}
    return [
        {"role": "user", "content": f"Question {number}: how late are flights from airport A{number}, by carrier?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": call["id"], "content": table},
        {"role": "assistant", "content": f"In month {number % 12} delays from A{number} differ little: see above."},
    ]


def talk(messages: int) -> list[Message]:
    """A conversation of so many messages."""
    return [message for number in range(messages // _TURN) for message in turn(number)]


def characters(message: Message) -> int:
    """Characters of a message that count: its text, names and arguments of its calls."""
    calls = message.get("tool_calls") or ()
    return len(text_of(message)) + sum(len(c["function"]["name"] + c["function"]["arguments"]) for c in calls)


@dataclass(slots=True)
class Running:
    """A conversation at some length, and what adding to it cost."""

    size: int
    counter: Tally
    context: TieredContext
    number: int
    seconds: list[float] = field(default_factory=list)
    stored: int = 0
    counted: int = 0


def _grown(size: int) -> Running:
    counter = tally()
    context = TieredContext(BUDGET, token_counter=counter)
    for number in range(size // _TURN):
        context.add(turn(number))
    return Running(size, counter, context, size // _TURN)


def _go_on(running: Running) -> None:
    """One more turn, message by message, each followed by a view."""
    messages = turn(running.number)
    running.number += 1
    before = running.counter.characters
    for message in messages:
        start = time.process_time()
        running.context.add([message])
        running.context.view()
        running.seconds.append(time.process_time() - start)
    running.counted += running.counter.characters - before
    running.stored += sum(map(characters, messages))


def run(options: Options) -> Iterator[Table]:
    """The tables."""
    grown = [_grown(size) for size in SIZES]
    for running in grown:
        _go_on(running)
        running.seconds.clear()
    for _ in range(50 if options.quick else 150):
        for running in grown:  # in turns, so that a busy moment of the machine meets all sizes
            _go_on(running)
    yield _flat(grown)
    yield _against({running.size: median(running.seconds) for running in grown[:2]}, 1 if options.quick else 3)
    yield _opening()


def _flat(grown: list[Running]) -> Table:
    columns = ["messages", "add + view, median", "ratio to 100", "mean", "p95", "characters counted per stored one"]
    table = Table(f"P9 one message more: CPU time of add + view, exact counting, budget {BUDGET:,}", columns)
    first = median(grown[0].seconds)
    for running in grown:
        ordered = sorted(running.seconds)
        half = median(ordered)
        table.rows.append(
            [
                f"{running.size:,}",
                _ms(half),
                _times(half / first),
                _ms(sum(ordered) / len(ordered)),
                _ms(ordered[len(ordered) * 95 // 100]),
                f"{running.counted / running.stored:.2f}",
            ]
        )
    table.notes.append(f"{len(grown[0].seconds)} messages at each size, in turns; store in memory.")
    table.notes.append(
        "Goals: 10,000 at most 1.5 × 100; each character counted once (the JSON around calls comes on top)."
    )
    return table


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:,.{0 if seconds > 0.1 else 2}f} ms"


def _times(ratio: float) -> str:
    return f"{ratio:,.{0 if ratio > 10 else 2}f}"


def _against(ours: dict[int, float], repeats: int) -> Table:
    """The built-in ones on the same messages at the same budget."""
    table = Table("P9 beside the built-in ones: time of one view, and × of tiered's add + view", ["method"])
    table.columns += [f"{size:,} messages" for size in ours]
    table.rows.append(["tiered `TieredContext` (median)", *map(_ms, ours.values())])
    for name, view in _built_in().items():
        cells = []
        for size, own in ours.items():
            call = view(talk(size))
            if size == SIZES[0]:
                call()  # what is loaded at first use isn't what a turn costs
            seconds = _median_time(call, repeats)
            cells.append(f"{_ms(seconds)} = {_times(seconds / own)} ×")
        table.rows.append([name, *cells])
    table.notes.append("Goal: ChatMemoryBuffer at 1,000 messages at least 1,000 ×.")
    return table


def _built_in() -> dict[str, Callable[[list[Message]], Callable[[], Any]]]:
    """By name: from messages to the call that is timed, each with plain tiktoken as its users have it."""
    from tests.benchmarks.tokens import encoding

    out: dict[str, Callable[[list[Message]], Callable[[], Any]]] = {}
    if find_spec("llama_index"):
        from llama_index.core.memory import ChatMemoryBuffer

        from tests.benchmarks.llama_methods import to_llama

        def buffer(messages: list[Message]) -> Callable[[], Any]:
            history = [to_llama(m) for m in messages]
            tokenizer = encoding().encode_ordinary
            return ChatMemoryBuffer.from_defaults(history, token_limit=BUDGET, tokenizer_fn=tokenizer).get

        out["`ChatMemoryBuffer.get`"] = buffer
    if find_spec("langchain_core"):
        out["`trim_messages`, tiktoken, recommended"] = _trim
    return out


def _trim(messages: list[Message]) -> Callable[[], Any]:
    from langchain_core.messages import trim_messages

    from tests.benchmarks.langchain_methods import to_langchain
    from tests.benchmarks.tokens import PER_MESSAGE, encoding

    history = [to_langchain(m) for m in messages]

    def count(given: Any) -> int:
        texts = (f"{m.text} {m.tool_calls}" if getattr(m, "tool_calls", None) else m.text for m in given)
        return sum(PER_MESSAGE + len(encoding().encode_ordinary(text)) for text in texts)

    return lambda: trim_messages(
        history, max_tokens=BUDGET, token_counter=count, strategy="last", include_system=True, start_on="human"
    )


def _median_time(call: Callable[[], Any], repeats: int) -> float:
    seconds = []
    for _ in range(repeats):
        gc.collect()
        start = time.process_time()
        call()
        seconds.append(time.process_time() - start)
    return median(seconds)


def _opening() -> Table:
    title = f"P9 opening a SQLite store of {STORED:,} messages; CPU time, file in the cache"
    table = Table(title, ["what", "time", "ratio"])
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "store.db"
        messages = talk(STORED)
        with TieredContext(BUDGET, store=f"sqlite:///{file}") as context:
            for start in range(0, STORED, 400):
                context.add(messages[start : start + 400])
        alone = _median_time(lambda: _read_everything(file), 7)
        log = _median_time(lambda: _opened(file, view=False), 7)
        seen = _median_time(lambda: _opened(file, view=True), 7)
    table.rows.append(["`sqlite3` alone: open, read every row of every table", _ms(alone), "1"])
    table.rows.append(["`TieredContext(store=…)`", _ms(log), _times(log / alone)])
    table.rows.append(["`TieredContext(store=…)` and its first view", _ms(seen), _times(seen / alone)])
    table.notes.append("Goal: under 200 ms.")
    return table


def _read_everything(file: Path) -> int:
    with closing(sqlite3.connect(file)) as connection:
        tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return sum(len(connection.execute(f'SELECT * FROM "{name}"').fetchall()) for name in tables)


def _opened(file: Path, view: bool) -> None:
    with TieredContext(BUDGET, store=f"sqlite:///{file}", token_counter=get_token_counter("cl100k_base")) as context:
        if view:
            context.view()
