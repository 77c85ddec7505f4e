from __future__ import annotations

import pickle
import subprocess
import sys

import pytest

import langchain_tiered
from langchain_tiered import ContextBudgetExceededError
from langchain_tiered.errors import is_overflow
from tiered_core import ContextBudgetExceededError as CoreError


def python(script: str) -> None:
    subprocess.run([sys.executable, "-W", "error", "-c", script], check=True)


def test_importing_is_light() -> None:
    """Importing the package brings no langchain, no langgraph, no network."""
    python(
        "import sys, langchain_tiered\n"
        "loaded = {m.partition('.')[0] for m in sys.modules}\n"
        "assert not loaded & {'langchain', 'langgraph', 'llama_index', 'duckdb'}, loaded"
    )


def test_public_names() -> None:
    """Every public name can be had, the middleware too, and nothing else is taken for one."""
    pytest.importorskip("langchain.agents")
    for name in langchain_tiered.__all__:
        assert getattr(langchain_tiered, name) is not None
    assert dir(langchain_tiered) == langchain_tiered.__all__
    with pytest.raises(AttributeError, match="no attribute 'Nope'"):
        langchain_tiered.Nope  # noqa: B018


@pytest.mark.parametrize(
    ("missing", "wanted", "extra"),
    [
        ("langchain_core", "import langchain_tiered", "langchain"),
        ("langchain", "from langchain_tiered import TieredContextMiddleware", "langchain-agents"),
    ],
)
def test_missing_extra(missing: str, wanted: str, extra: str) -> None:
    """A missing library raises an ImportError with the line that installs it."""
    line = f'pip install "tiered-context[{extra}]"'
    python(
        f"import sys\nsys.modules[{missing!r}] = None\n"
        f"try:\n    {wanted}\nexcept ImportError as error:\n    assert {line!r} in str(error), error\n"
        "else:\n    raise SystemExit('no error')"
    )


def test_error_is_pickled() -> None:
    """The error keeps its figures when it goes to another process."""
    error = ContextBudgetExceededError(needed=9, window=5, biggest=[("message 0 (user)", 9)])
    back = pickle.loads(pickle.dumps(error))
    assert (type(back), back.needed, back.window, str(back)) == (type(error), 9, 5, str(error))


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (ValueError("Error code: 400 - type: exceed_context_size_error"), True),
        (RuntimeError("Prompt is too long: 9 > 8"), True),
        (ValueError("invalid api key"), False),
        (CoreError(needed=9, window=5), False),
    ],
)
def test_is_overflow(error: Exception, expected: bool) -> None:
    """A provider's refusal of a long request is told from other errors, and from our own."""
    assert is_overflow(error) is expected
