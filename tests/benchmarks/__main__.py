"""Runs the benchmarks and prints their tables as Markdown.

python -m tests.benchmarks --data DIR [--only P1,P9] [--quick] [--every] [--json FILE] [--markdown FILE]
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tests.benchmarks.corpora import missing_files
from tests.benchmarks.figures import Table
from tests.benchmarks.options import Options
from tests.benchmarks.tokens import use_vocabulary_on_disk


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A benchmark of the list: its module, the corpora it needs, and what is always printed beside it."""

    module: str
    corpora: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()


BENCHMARKS = {
    "P1": Benchmark("p01_compliance", ("LoCoMo", "tau-bench", "InterCode"), ("P2", "P3")),
    "P2": Benchmark("p02_evidence", ("LoCoMo",)),
    "P3": Benchmark("p03_provenance", ("tau-bench",)),
    "P9": Benchmark("p09_cost_per_turn"),
    "P13": Benchmark("p13_token_estimate"),
}
_PACKAGES = ("tiered-context", "langchain-core", "llama-index-core", "tiktoken")


@dataclass(slots=True)
class Report:
    """What was measured, in which environment."""

    environment: dict[str, str]
    tables: dict[str, list[Table]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)

    def markdown(self) -> str:
        """The whole report."""
        parts = ["# Benchmarks", "", ", ".join(f"{k} {v}" for k, v in self.environment.items())]
        for name, tables in self.tables.items():
            parts += ["", f"## {name} ({self.seconds[name]:.0f} s)"]
            for table in tables:
                parts += ["", table.markdown()]
        return "\n".join(parts) + "\n"

    def json(self) -> str:
        """The whole report."""
        found = [
            {"name": name, "seconds": round(self.seconds[name], 1), "tables": [t.to_dict() for t in tables]}
            for name, tables in self.tables.items()
        ]
        return json.dumps({"environment": self.environment, "benchmarks": found}, indent=1, ensure_ascii=False)


def environment() -> dict[str, str]:
    """Versions of what is compared."""
    out = {"Python": platform.python_version()}
    for package in _PACKAGES:
        try:
            out[package] = version(package)
        except PackageNotFoundError:
            out[package] = "not installed"
    return out


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, metavar="DIR", help="the folder with the conversations")
    parser.add_argument("--only", default="", metavar="P1,P9", help=f"of {', '.join(BENCHMARKS)}")
    parser.add_argument("--quick", action="store_true", help="small samples: seconds instead of minutes")
    parser.add_argument("--every", action="store_true", help="P1: tiered also on every prefix of all conversations")
    parser.add_argument("--workers", type=int, default=Options().workers, help="processes at once (not for timings)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where the tables are written as JSON, too")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="where they are written as Markdown, too")
    found = parser.parse_args(given)
    found.only = [name.strip().upper() for name in found.only.split(",") if name.strip()]
    for name in found.only:
        if name not in BENCHMARKS:
            parser.error(f"--only knows {', '.join(BENCHMARKS)}, not {name!r}")
    return found


def chosen(only: Sequence[str]) -> list[str]:
    """Names of the benchmarks to run, with what stands beside them, in the order of the list."""
    wanted = {beside for name in only or BENCHMARKS for beside in (name, *BENCHMARKS[name].beside)}
    return [name for name in BENCHMARKS if name in wanted]


def runnable(names: Sequence[str], options: Options) -> Iterator[tuple[str, Any]]:
    """The modules of those that can run; says of each other one what it lacks."""
    for name in names:
        benchmark = BENCHMARKS[name]
        missing = missing_files(options.data, benchmark.corpora)
        module = f"{__package__}.{benchmark.module}"
        if missing:
            say(f"{name} is left out: it needs --data DIR, a folder with {', '.join(missing)}")
        elif find_spec(module) is None:
            say(f"{name} is left out: there is no {benchmark.module}.py")
        else:
            yield name, importlib.import_module(module)


def cpu_seconds() -> float:
    """CPU time of this process and those it started and waited for."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def say(text: str) -> None:
    """Progress, beside the tables."""
    print(text, file=sys.stderr, flush=True)


def main(given: Sequence[str] | None = None) -> int:
    """Runs what was asked for."""
    found = arguments(given)
    use_vocabulary_on_disk()
    options, report = Options(found.data, found.quick, found.every, found.workers), Report(environment())
    print("# Benchmarks\n\n" + ", ".join(f"{k} {v}" for k, v in report.environment.items()), flush=True)
    for name, module in runnable(chosen(found.only), options):
        started, busy = time.perf_counter(), cpu_seconds()
        say(f"{name} …")
        tables = []
        for table in module.run(options):
            print(f"\n{table.markdown()}", flush=True)
            tables.append(table)
        report.tables[name], report.seconds[name] = tables, time.perf_counter() - started
        say(f"{name}: {report.seconds[name]:.0f} s, {cpu_seconds() - busy:.0f} s of CPU time")
    if found.json:
        found.json.write_text(report.json(), encoding="utf-8")
    if found.markdown:
        found.markdown.write_text(report.markdown(), encoding="utf-8")
    return 0 if report.tables else 2


if __name__ == "__main__":
    sys.exit(main())
