"""The README says what is there: its code parses, its names exist, its first example runs."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import tiered_core

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
FILES = re.findall(r"`([a-z_]+\.py)`|`([a-z_]+/)`", README[README.index("| idea | file") : README.index("## Budgets")])


@pytest.mark.parametrize("code", BLOCKS)
def test_code_parses(code: str) -> None:
    """Every Python example is Python."""
    ast.parse(code)


def test_names_exist() -> None:
    """Every method of a context that the README calls, and every constructor of a budget, exists."""
    for name in re.findall(r"\bcontext\.(\w+)\(", README):
        assert hasattr(tiered_core.TieredContext, name), name
    for name in re.findall(r"TokenBudget\.(\w+)\(", README):
        assert hasattr(tiered_core.TokenBudget, name), name


def test_files_exist() -> None:
    """Every file of the table of ideas is there."""
    folder = Path(tiered_core.__file__).parent
    assert len(FILES) > 15
    for file, sub in FILES:
        assert (folder / (file or sub)).exists(), file or sub


def test_the_example_without_a_framework_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The example on plain dicts gives a view."""
    monkeypatch.chdir(tmp_path)
    code = next(b for b in BLOCKS if b.startswith("from tiered_core import TieredContext"))
    names: dict[str, object] = {}
    exec(compile(code, "README", "exec"), names)
    assert names["messages"] == [{"role": "user", "content": "Which carrier is late most often?"}]
    context = names["context"]
    assert isinstance(context, tiered_core.TieredContext)
    context.close()
