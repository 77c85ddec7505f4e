"""P13: how far token estimates without a vocabulary lie from the truth, and what counting costs. Data is optional.

python -m tests.benchmarks.p13_token_estimate [--data DIR] [--quick]
"""

from __future__ import annotations

import argparse
import json
import random
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, NoReturn
from unittest import mock

from tests.benchmarks.figures import Table
from tests.benchmarks.options import Options
from tests.core.counting_oracle import oracle
from tests.core.counting_samples import CLASSES, samples
from tiered_core.counting import ApproximateCounter, MemoCounter, get_token_counter

TITLE = "P13 token estimate"
VOCABULARIES = ("cl100k_base", "o200k_base")
_SIZES = (80, 6_000)  # characters of a window cut from real data
_LEAST = 10  # tokens below which a relative error says nothing


@dataclass(slots=True)
class Figures:
    """What was found on the texts of one class: (truth, middle figure, bound, characters / 4) of each."""

    found: list[tuple[int, int, int, float]] = field(default_factory=list)

    def row(self, name: str) -> list[str]:
        """The cells of a table."""
        errors = sorted(middle / true - 1 for true, middle, _, _ in self.found if true >= _LEAST)
        quarter = median(fourth / true - 1 for true, _, _, fourth in self.found if true >= _LEAST)
        over = median(bound / true - 1 for true, _, bound, _ in self.found if true >= _LEAST)
        under = sum(bound < true for true, _, bound, _ in self.found)
        spread = f"{errors[len(errors) // 20]:+.1%} … {errors[-1 - len(errors) // 20]:+.1%}"
        return [
            name, f"{len(self.found):,}", f"{median(errors):+.1%}", spread, f"{self.calibrated():+.1%}", f"{over:+.0%}",
            f"{under} ({under / len(self.found):.2%})", f"{quarter:+.1%}",
        ]  # fmt: skip

    def calibrated(self) -> float:
        """The error of the sum over the second half once the first half has set the ratio."""
        first, second = self.found[::2], self.found[1::2]
        ratio = sum(true for true, *_ in first) / sum(middle for _, middle, *_ in first)
        return ratio * sum(middle for _, middle, *_ in second) / sum(true for true, *_ in second) - 1


def run(options: Options) -> Iterator[Table]:
    """The tables; nothing in here may reach for the network."""
    with without_sockets():
        made = {name: list(samples(name, 60 if options.quick else 400, seed=9)) for name in CLASSES}
        for vocabulary in VOCABULARIES:
            yield accuracy(vocabulary, made, "made up by rule and from the standard library")
        if options.data is not None:
            real = real_texts(options.data, 100 if options.quick else 1_000)
            for vocabulary in VOCABULARIES:
                yield accuracy(vocabulary, real, "real data")
        yield speed()


def accuracy(vocabulary: str, texts: dict[str, list[str]], origin: str) -> Table:
    """Errors by class against the vocabulary, the baseline beside them."""
    columns = [
        "class",
        "texts",
        "median error",
        "5 … 95 %",
        "calibrated sum",
        "bound over truth",
        "bound under truth",
        "chars/4",
    ]
    table = Table(f"{TITLE}, {vocabulary}, {origin}", columns)
    counter = get_token_counter(f"approximate:{vocabulary}")
    assert isinstance(counter, ApproximateCounter)
    every = Figures()
    for name, members in texts.items():
        figures = Figures()
        for text in members:
            true = len(oracle(vocabulary).encode_ordinary(text))
            figures.found.append((true, counter.estimate_text(text), counter.count_text(text), len(text) / 4))
        table.rows.append(figures.row(name))
        every.found += figures.found
    random.Random(0).shuffle(every.found)
    table.rows.append(every.row("all"))
    table.notes.append(
        "Goals: median error within ±5 % in each class; bound under the truth for at most 0.1 % of all texts."
    )
    table.notes.append(
        "Calibrated sum: error of the sum over one half of the texts with the ratio found on the other half."
    )
    return table


def real_texts(folder: Path, number: int) -> dict[str, list[str]]:
    """Texts by class from the data folder, cut to windows of a message's or a tool result's size."""
    rng = random.Random("p13")
    sources: dict[str, Callable[[Path], Iterator[str]]] = {
        "prose (LoCoMo)": _locomo, "JSON (tau-bench)": _tau, "SQL (InterCode)": _sql,
        "results (InterCode)": _observations, "CSV (DABench)": _dabench, "Markdown tables (WTQ)": _wtq,
    }  # fmt: skip
    out = {}
    for name, read in sources.items():
        texts = [text for text in read(folder) if text.strip()]
        rng.shuffle(texts)
        windows = [_window(text, rng) for text in texts[:number]]
        out[name] = windows + [_window(rng.choice(texts), rng) for _ in range(number - len(windows))]
    return out


def _window(text: str, rng: random.Random) -> str:
    size = rng.randrange(*_SIZES)
    start = rng.randrange(max(1, len(text) - size))
    return text[start : start + size] if start else text[:size]


def _read(folder: Path, name: str) -> Any:
    return json.loads((folder / name).read_text(encoding="utf-8"))


def _locomo(folder: Path) -> Iterator[str]:
    for sample in _read(folder, "locomo_dev.json"):
        for session in sample["conversation"].values():
            if isinstance(session, list):
                yield "\n".join(f"{turn['speaker']}: {turn['text']}" for turn in session)
                yield from (turn["text"] for turn in session[:3])


def _tau(folder: Path) -> Iterator[str]:
    for episode in _read(folder, "tau_airline_dev.json"):
        messages = episode.get("traj") or episode.get("messages") or []
        yield from (
            m["content"] for m in messages if m.get("role") == "tool" and (m.get("content") or "")[:1] in ("{", "[")
        )


def _sql(folder: Path) -> Iterator[str]:
    for session in _read(folder, "intercode_sql_dev.json").values():
        yield "\n".join(session["turn_history"]["actions"])


def _observations(folder: Path) -> Iterator[str]:
    for session in _read(folder, "intercode_sql_dev.json").values():
        for seen in session["turn_history"]["observations"]:
            yield seen if isinstance(seen, str) else json.dumps(seen)


def _dabench(folder: Path) -> Iterator[str]:
    for file in sorted((folder / "dabench_dev" / "tables").glob("*.csv")):
        yield file.read_text(encoding="utf-8", errors="replace")


def _wtq(folder: Path) -> Iterator[str]:
    for rows in _read(folder, "wtq_dev.json")["tables"].values():
        yield "\n".join("| " + " | ".join(row) + " |" for row in (rows[0], ["---"] * len(rows[0]), *rows[1:]))


def speed() -> Table:
    """Time per text of each way to count, beside plain tiktoken."""
    message = next(text for text in samples("prose", 50, seed=5) if len(text) > 400)[:260]
    result = next(text for text in samples("csv", 400, seed=5) if len(text) > 4_000)
    result = (result * 6)[:20_000]
    plain = oracle("cl100k_base").encode_ordinary
    exact, estimate = get_token_counter("tiktoken"), get_token_counter("approximate")
    memo = MemoCounter(exact)
    ways: dict[str, Callable[[str], object]] = {
        "plain tiktoken": plain, "`TiktokenCounter`": exact.count_text, "`ApproximateCounter`": estimate.count_text,
        "`MemoCounter`, text known": memo.count_text,
        "`TiktokenCounter.truncate` to 50 tokens": lambda text: exact.truncate(text, 50),
    }  # fmt: skip
    tokens = [len(plain(text)) for text in (message, result)]
    table = Table(
        f"{TITLE}: time per text", ["way", f"message, {tokens[0]} tokens", f"20 KB result, {tokens[1]:,} tokens"]
    )
    base = [_microseconds(plain, text) for text in (message, result)]
    for name, way in ways.items():
        taken = base if way is plain else [_microseconds(way, text) for text in (message, result)]
        table.rows.append([name, *(f"{t:,.1f} µs ({t / b:.2f} ×)" for t, b in zip(taken, base, strict=True))])
    return table


def _microseconds(way: Callable[[str], object], text: str) -> float:
    way(text)
    times = []
    for _ in range(25):
        started = time.perf_counter()
        for _ in range(4):
            way(text)
        times.append((time.perf_counter() - started) / 4)
    return 1e6 * min(times)


@contextmanager
def without_sockets() -> Iterator[None]:
    """Any connection or name look-up raises."""

    def refuse(*args: object, **kwargs: object) -> NoReturn:
        raise RuntimeError("the benchmark must not use the network")

    with mock.patch.object(socket.socket, "connect", refuse), mock.patch.object(socket, "getaddrinfo", refuse):
        yield


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, metavar="DIR", help="the folder with the real data")
    parser.add_argument("--quick", action="store_true", help="small samples")
    found = parser.parse_args()
    for table in run(Options(data=found.data, quick=found.quick)):
        print(table.markdown(), end="\n\n")


if __name__ == "__main__":
    main()
