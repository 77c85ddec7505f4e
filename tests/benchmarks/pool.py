"""The same function on many conversations, in several processes."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")


def spread(function: Callable[..., T], jobs: Sequence[tuple[Any, ...]], workers: int) -> list[T]:
    """The results in the order of the jobs; the largest conversations are begun first."""
    if workers <= 1:
        return [function(*job) for job in jobs]
    order = sorted(range(len(jobs)), key=lambda k: -len(jobs[k][0].messages))
    results: dict[int, T] = {}
    with ProcessPoolExecutor(workers, multiprocessing.get_context("spawn")) as pool:
        running = {k: pool.submit(function, *jobs[k]) for k in order}
        for k, future in running.items():
            results[k] = future.result()
    return [results[k] for k in range(len(jobs))]
