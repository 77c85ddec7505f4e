"""What a benchmark is told when it is run."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Options:
    """How to run.

    Attributes:
        data: the folder with the data, None when there is none.
        quick: a small sample, for a look within a minute.
        every: whether P1 also looks at every prefix of every conversation with the code under test.
        workers: processes at once, for what isn't timed.
    """

    data: Path | None = None
    quick: bool = False
    every: bool = False
    workers: int = max(1, min(os.cpu_count() or 1, 8))

    @property
    def folder(self) -> Path:
        """The folder with the data.

        Raises:
            ValueError: there is none.
        """
        if self.data is None:
            raise ValueError("this benchmark needs --data DIR")
        return self.data
