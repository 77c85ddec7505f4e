"""`prepare`: components, their budget, compaction by priority, and the faults of the original that must not return."""

from __future__ import annotations

import ast
import copy
import inspect
import json
import textwrap
import threading
from dataclasses import FrozenInstanceError, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiered_core import (
    Body,
    Compacted,
    CompactionStrategy,
    ContextBudgetExceededError,
    Media,
    Room,
    TieredError,
    get_token_counter,
)
from tiered_core.components import DEFAULT_CONTEXT_CONFIG, Component, ComponentBudget, ContextConfig
from tiered_core.prepare import aprepare, prepare

ROWS = [{"id": k, "region": ["north", "south"][k % 2], "amount": k * 3} for k in range(400)]
PICTURE = Media("image", 1_024, 1_024, size=5_000, digest="d1")


def words(text: str) -> int:
    """The counter of these tests: one token per word."""
    return len(text.split())


def text(tokens: int, word: str = "word") -> str:
    return " ".join(f"{word}{k}" for k in range(tokens))


def config(window: int = 1_000, **options: Any) -> ContextConfig:
    """A window without reserve, counted in words, unless told otherwise."""
    return replace(ContextConfig(window, response_reserve=0.0, counter=words), **options)


def filled(*parts: tuple[str, int, float]) -> list[Component]:
    return [Component(name, text(tokens, name), priority) for name, tokens, priority in parts]


def sizes(components: Any) -> dict[str, int]:
    return {c.name: words(c.content) for c in components}


# --- values ----------------------------------------------------------------------------------------------------------


def test_defaults() -> None:
    """The configuration has the literal defaults (B9, B10)."""
    given = DEFAULT_CONTEXT_CONFIG
    assert (given.context_window, given.compaction_threshold, given.hard_limit) == (128_000, 0.75, 0.9)
    assert (given.response_reserve, given.counter, given.eviction) == (0.15, "approximate", "auto")
    assert (given.strategy, dict(given.strategy_options)) == ("proactive", {})
    assert (given.reserved, given.capacity, given.hard) == (19_200, 108_800, 97_920)


@pytest.mark.parametrize(
    ("options", "words_of_error"),
    [
        ({"context_window": 0}, "context_window"), ({"context_window": 1.5}, "context_window"),
        ({"compaction_threshold": 0.95}, "compaction_threshold <= hard_limit"), ({"hard_limit": 1.1}, "hard_limit"),
        ({"response_reserve": 1.0}, "response_reserve"), ({"eviction": "maybe"}, "eviction"),
    ],
)  # fmt: skip
def test_impossible_configuration(options: dict[str, Any], words_of_error: str) -> None:
    """A figure out of range is refused by name (B9)."""
    with pytest.raises(TieredError, match=words_of_error):
        ContextConfig(**options)


@pytest.mark.parametrize("arguments", [{"name": " "}, {"name": 3}, {"priority": float("nan")}, {"priority": "high"}])
def test_impossible_component(arguments: dict[str, Any]) -> None:
    """A component needs a name and a number for its importance (B6)."""
    with pytest.raises(TieredError):
        Component(**{"name": "a", "content": "x", **arguments})


def test_component_is_a_value() -> None:
    """A component can't be altered; it is compactable and of priority 0 unless told otherwise (B6)."""
    component = Component("a", "x")
    assert (component.priority, component.compactable, dict(component.metadata)) == (0, True, {})
    with pytest.raises(FrozenInstanceError):
        component.content = "y"  # type: ignore[misc]


def test_names_are_unique() -> None:
    """Two components of one name are refused, and the name is told (B6)."""
    with pytest.raises(TieredError, match=r"must be unique.*'a'"):
        prepare([Component("a", "x"), Component("b", "y"), Component("a", "z")])
    with pytest.raises(TieredError, match="expected Component"):
        prepare([{"name": "a"}])  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("used", "status"),
    [(0, "ok"), (749, "ok"), (750, "warning"), (899, "warning"), (900, "critical"), (999, "critical")],
)
def test_one_ratio_for_utilisation_and_status(used: int, status: str) -> None:
    """The status follows from the utilisation that is shown, with a reserve too (B7)."""
    for window, reserve in ((1_000, 0.0), (1_250, 0.2)):
        budget = ComponentBudget.of({"a": used}, config(window, response_reserve=reserve))
        assert (budget.status, budget.utilisation) == (status, used / 1_000)
        assert budget.total == window == budget.reserved + budget.used + budget.available


def test_budget_has_a_breakdown() -> None:
    """The breakdown names every component and adds up to what is used (B7)."""
    made = prepare([Component("a", text(30)), Component("b", ROWS[:2]), Component("c", PICTURE)], config(9_000))
    assert list(made.budget.breakdown) == ["a", "b", "c"]
    assert sum(made.budget.breakdown.values()) == made.budget.used
    counter = get_token_counter(words)
    assert made.budget.breakdown["b"] == counter.count_data(ROWS[:2])
    assert made.budget.breakdown["c"] == counter.count_image(PICTURE)


# --- what is done ----------------------------------------------------------------------------------------------------


def test_below_the_trigger_nothing_is_done() -> None:
    """What fits is returned as it is, the same objects in the same order (B8)."""
    components = filled(("b", 300, 1), ("a", 400, 0))
    made = prepare(components, config())
    assert all(x is y for x, y in zip(made.components, components, strict=True))
    assert (made.compacted, made.compaction.tokens_freed, made.log) == (False, 0, ())
    assert prepare([], config()).budget.used == 0


def test_lowest_priority_first() -> None:
    """A more important component is untouched while a less important one has something to give (A3, B6)."""
    made = prepare(filled(("high", 300, 9), ("low", 300, 1), ("middle", 300, 5)), config())
    assert sizes(made.components) == {"high": 300, "low": 60, "middle": 290}
    assert made.budget.used == 650


def test_goes_to_the_target_and_no_further() -> None:
    """Compaction ends at the strategy's target and takes no more than it needs (B14)."""
    for strategy, used, target in (("proactive", 760, 650), ("aggressive", 620, 500), ("lazy", 901, 850)):
        made = prepare(filled(("a", used, 0)), config(), strategy)
        assert target - 25 <= made.budget.used <= target


@pytest.mark.parametrize(
    ("strategy", "trigger"), [("proactive", 750), ("aggressive", 600), ("lazy", 900), ("sticky", 900), ("fill", 900)]
)
def test_trigger_of_the_strategy(strategy: str, trigger: int) -> None:
    """Compaction starts above the strategy's trigger, not at it (B14)."""
    assert not prepare(filled(("a", trigger, 0)), config(), strategy).compacted
    assert prepare(filled(("a", trigger + 1, 0)), config(), strategy).compacted


def test_threshold_moves_the_proactive_strategy() -> None:
    """The configured compaction threshold is the trigger of "proactive"; its target keeps the distance (B9)."""
    made = prepare(filled(("a", 560, 0)), config(compaction_threshold=0.5))
    assert 400 < made.budget.used <= 433
    assert not prepare(filled(("a", 560, 0)), config(compaction_threshold=0.6)).compacted


def test_strategy_options() -> None:
    """Options of the configuration win over the strategy's own figures; unknown ones are refused (B9)."""
    options = {"trigger": 0.5, "target": 0.4, "shares": (0.9,)}
    made = prepare(filled(("a", 600, 0)), config(strategy_options=options))
    assert sizes(made.components)["a"] in range(530, 541)
    for broken in ({"goal": 1}, {"shares": (0,)}, {"target": "low"}, {"trigger": 0.2, "target": 0.4}):
        with pytest.raises(TieredError):
            prepare(filled(("a", 600, 0)), config(strategy_options=broken))


def test_argument_wins_over_configuration() -> None:
    """A strategy given as an argument wins; a value works like a name (B14)."""
    own = CompactionStrategy("own", trigger=0.3, target=0.2)
    components = filled(("a", 400, 0))
    assert prepare(components, config(), own).budget.used <= 200
    assert prepare(components, config(strategy=own)).budget.used <= 200
    assert not prepare(components, config(strategy=own), "lazy").compacted


def test_unknown_strategy() -> None:
    """A strategy that isn't there is refused by the look-up's own error (B14)."""
    with pytest.raises(TieredError, match="no strategy 'no-such'"):
        prepare([], config(), "no-such")


def test_what_is_not_compactable_is_not_touched() -> None:
    """`compactable=False` holds whatever the priority (B6)."""
    fixed = Component("fixed", text(500), priority=-5, compactable=False)
    made = prepare([fixed, *filled(("a", 400, 0))], config())
    assert made.components[0] is fixed
    assert made.budget.used <= 650


def test_table_keeps_facts() -> None:
    """Data is made smaller as a table with exact facts, not cut off; type of text and log say so (A13, B11)."""
    made = prepare([Component("sales", ROWS)], ContextConfig(3_000, response_reserve=0.0))
    (small,), (event, batch) = made.components, made.log[-2:]
    assert "of 400 rows" in small.content
    assert "[sales: " in small.content
    assert (event.kind, event.ids, event.positions) == ("compressed", ("sales",), (0,))
    assert batch.kind == "batch"


def test_own_compactors_are_asked_first() -> None:
    """A compactor with a lower order comes before the built-in ones; one that fails is logged and passed over (B11)."""

    class Own:
        name, order = "own", 0

        def __init__(self, answer: str | None) -> None:
            self.answer = answer

        def can_compact(self, body: Body) -> bool:
            return True

        def estimate_savings(self, body: Body, room: Room) -> int:
            return 1

        def compact(self, body: Body, room: Room) -> Compacted | None:
            if self.answer is None:
                raise RuntimeError("no")
            return Compacted(self.answer, 1, 2)

    components = filled(("a", 800, 0))
    assert prepare(components, config(), compactors=[Own("tiny")]).components[0].content == "tiny"
    made = prepare(filled(("a", 8_000, 0)), config(), compactors=[Own(None)])
    assert made.compacted
    (failure,) = [e for e in made.log if e.kind == "failed"]
    assert "own" in failure.reason


def test_events() -> None:
    """The log tells of the pressure, of every component that was cut, and of the whole (B16)."""
    made = prepare(filled(("a", 500, 0), ("b", 450, 1)), config())
    assert [e.kind for e in made.log] == ["critical", "shortened", "batch"]
    cut = made.log[1]
    assert (cut.ids, cut.tokens_before, cut.tokens_after) == (("a",), 500, made.budget.breakdown["a"])
    assert (made.log[2].tokens_before, made.log[2].tokens_after) == (950, made.budget.used)
    assert [e.kind for e in prepare(filled(("a", 800, 0)), config(), "lazy").log] == ["warning"]
    json.dumps([e.to_dict() for e in made.log])


def test_last_resort_names_the_component() -> None:
    """When smaller isn't small enough, a line stays that names what is left out, pictures too (B17)."""
    fixed = Component("fixed", text(860), compactable=False)
    parts = [fixed, Component("my notes", text(500)), Component("chart", PICTURE)]
    made = prepare(parts, config())
    assert made.budget.used <= 900
    assert made.components[0] is fixed
    assert made.components[1].content.startswith("[my_notes: ")
    assert "500 tokens" in made.components[1].content
    assert made.components[2].content == "[chart: image 1024 x 1024, left out]"
    assert [e.kind for e in made.log] == ["critical", "offloaded", "offloaded", "batch"]
    with pytest.raises(ContextBudgetExceededError):
        prepare(parts, config(eviction="off"))


def test_a_line_that_would_be_longer_is_no_help() -> None:
    """What is smaller than the line that would name it stays as it is (B15)."""
    fixed = Component("fixed", text(860), compactable=False)
    tiny = [Component(f"tiny {k}", "just three words", -1) for k in range(5)]
    made = prepare([fixed, *tiny, Component("notes", text(500))], config())
    assert all(new is old for new, old in zip(made.components[1:6], tiny, strict=True))
    assert made.budget.used <= 900


def test_largest_first_at_equal_priority() -> None:
    """Of equally important components the largest gives first, in each stage (B14)."""
    made = prepare(filled(("small", 200, 0), ("large", 600, 0)), config())
    assert sizes(made.components) == {"small": 200, "large": 450}
    icon = Component("icon", replace(PICTURE, detail="low"))
    parts = [Component("fixed", text(700), compactable=False), icon, Component("chart", PICTURE)]
    assert prepare(parts, config()).components[1] is icon


@pytest.mark.parametrize("eviction", ["auto", "off"])
def test_deeper_cuts_come_before_names(eviction: Any) -> None:
    """Where the strategy's rounds don't reach the hard limit, components get smaller still, none is left out (B14)."""
    made = prepare(filled(("a", 3_000, 0)), config(eviction=eviction), "lazy")
    assert 850 < made.budget.used <= 900
    assert [e.kind for e in made.log] == ["critical", "shortened", "batch"]


def test_error_shows_the_sum() -> None:
    """What can't fit the hard limit raises a typed error with the arithmetic and the largest components (B18)."""
    components = [Component("fixed", text(900), compactable=False), Component("rest", text(400))]
    with pytest.raises(ContextBudgetExceededError) as caught:
        prepare(components, config(1_250, response_reserve=0.2, hard_limit=0.8))
    error = caught.value
    assert (error.window, error.reserve, error.available) == (1_250, 450, 800)
    assert error.needed > error.available
    assert error.biggest[0] == ("fixed", 900)
    assert "fixed 900" in str(error)
    assert "response reserve of 250" in error.__notes__[0]
    assert "1,300 tokens" in error.__notes__[0]


def test_fixed_at_the_hard_limit_fits() -> None:
    """The hard limit itself is allowed; one token more is not (B9)."""
    assert prepare([Component("a", text(900), compactable=False)], config()).budget.used == 900
    with pytest.raises(ContextBudgetExceededError):
        prepare([Component("a", text(901), compactable=False)], config())


# --- faults of the original ------------------------------------------------------------------------------------------


def test_fault_reports_compacted_and_frees_nothing() -> None:
    """`compacted` is true only if tokens were freed (B8, B14)."""
    fixed = Component("a", text(800), compactable=False)
    made = prepare([fixed, Component("b", "x")], config())
    assert (made.compacted, made.compaction.tokens_freed) == (False, 0)
    assert [e.kind for e in made.log] == ["warning"]


@pytest.mark.parametrize("used", range(740, 911, 10))
def test_fault_lazy_throws_between_75_and_85_percent(used: int) -> None:
    """Lazy returns what is there up to its trigger, and what fits above it (B14)."""
    made = prepare(filled(("a", used // 2, 0), ("b", used - used // 2, 1)), config(), "lazy")
    assert made.compacted is (used > 900)
    assert made.budget.used == used if used <= 900 else made.budget.used <= 850


@pytest.mark.parametrize("strategy", ["proactive", "aggressive", "lazy"])
def test_fault_freed_tokens_counted_twice(strategy: str) -> None:
    """Freed is before less after, counted on what is sent, though components go through several rounds (B14, B15)."""
    components = filled(("a", 900, 0), ("b", 800, 0), ("c", 700, 1))
    made = prepare(components, config(), strategy)
    before, after = sum(sizes(components).values()), sum(sizes(made.components).values())
    assert made.budget.used == after
    assert made.compaction.tokens_freed == before - after
    cuts = [e for e in made.log if e.ids]
    assert sum(e.tokens_before - e.tokens_after for e in cuts) == before - after
    assert len({e.ids for e in cuts}) == len(cuts)


@pytest.mark.parametrize("tokens", [60, 200, 900, 5_000])
@pytest.mark.parametrize("counter", [words, "approximate", "tiktoken"])
def test_fault_truncation_overshoots(tokens: int, counter: Any) -> None:
    """The result is at or below the target, markers included, for every counter (B13, B14)."""
    given = Component("a", text(tokens))
    size = given.count(get_token_counter(counter))
    window = size * 100 // 80
    made = prepare([given], config(window, counter=counter))
    assert made.budget.used <= int(0.65 * window)
    assert made.components[0].count(get_token_counter(counter)) == made.budget.used


def test_fault_callers_list_mutated() -> None:
    """Neither the list nor a component nor its data is altered (B14)."""
    data, note = copy.deepcopy(ROWS), {"owner": ["me"]}
    components = [Component("data", data, metadata=note), *filled(("a", 900, 1))]
    kept, list_before = list(components), copy.deepcopy(components)
    made = prepare(components, config())
    assert made.compacted
    assert all(x is y for x, y in zip(components, kept, strict=True))
    assert components == list_before
    assert data == ROWS
    assert note == {"owner": ["me"]}
    assert [c.metadata for c in made.components] == [c.metadata for c in components]
    assert [c.name for c in made.components] == [c.name for c in components]


def test_fault_strategy_ignores_tokens() -> None:
    """One huge component is cut by its tokens, however few components there are (B14)."""
    assert prepare(filled(("only", 50_000, 3)), config()).budget.used <= 650


# --- properties ------------------------------------------------------------------------------------------------------

contents: st.SearchStrategy[Any] = st.one_of(
    st.integers(0, 400).map(text),
    st.integers(0, 60).map(lambda n: ROWS[:n]),
    st.integers(0, 60).map(lambda n: json.dumps(ROWS[:n])),
    st.sampled_from(["", " ", "\x00", "日本語" * 200, "[a: imitates]", None, 3, True, {}, PICTURE]),
)
drawn = st.lists(st.tuples(contents, st.integers(-2, 2), st.booleans()), max_size=7)


@given(drawn, st.sampled_from(["proactive", "aggressive", "lazy", "sticky", "fill"]), st.integers(1, 1_200))
def test_whatever_comes(parts: list[tuple[Any, int, bool]], strategy: str, window: int) -> None:
    """What is returned fits, keeps order, names and fixed parts, and only shrinks; else the sum shows why not (B8)."""
    components = [Component(f"c{k}", content, rank, able) for k, (content, rank, able) in enumerate(parts)]
    given = config(window, counter="seed")
    counter = get_token_counter("seed")
    try:
        made = prepare(components, given, strategy)
    except ContextBudgetExceededError as error:
        refused = error.needed
        assert refused > given.hard
        return
    assert made.budget.used == sum(c.count(counter) for c in made.components) <= given.hard
    for old, new in zip(components, made.components, strict=True):
        assert (new.name, new.priority, new.compactable) == (old.name, old.priority, old.compactable)
        assert new is old or (old.compactable and new.count(counter) < old.count(counter))
    assert made == prepare(components, given, strategy)
    if made.compacted and strategy != "fill":
        lowest = {c.priority for c, n in zip(components, made.components, strict=True) if c is not n}
        assert min(lowest) == min(c.priority for c in components if c.compactable and c.count(counter) > 8)


# --- twins -----------------------------------------------------------------------------------------------------------


async def test_async_gives_the_same() -> None:
    """`aprepare` returns what `prepare` returns (B11)."""
    components = [Component("data", ROWS), *filled(("a", 900, 1))]
    assert await aprepare(components, config()) == prepare(components, config())
    with pytest.raises(ContextBudgetExceededError):
        await aprepare([Component("a", text(901), compactable=False)], config())


async def test_async_leaves_the_loop_free() -> None:
    """Compactors of `aprepare` run in a worker thread (B11)."""
    seen: list[threading.Thread] = []

    def counting(value: str) -> int:
        seen.append(threading.current_thread())
        return words(value)

    await aprepare(filled(("a", 900, 1)), config(counter=counting))
    assert {t is threading.main_thread() for t in seen} == {True, False}


def test_twins_differ_by_await_alone() -> None:
    """The asynchronous form has the body of the synchronous one but for `await` (B11)."""

    class Sync(ast.NodeTransformer):
        def visit_Await(self, node: ast.Await) -> ast.AST:
            changed: ast.AST = self.visit(node.value)
            return changed

        def visit_Name(self, node: ast.Name) -> ast.AST:
            return ast.Name(id={"_aanswer": "_answer"}.get(node.id, node.id), ctx=node.ctx)

    def body(function: Any) -> list[str]:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
        assert isinstance(tree, ast.FunctionDef | ast.AsyncFunctionDef)
        return [ast.dump(Sync().visit(s)) for s in tree.body[1:]]

    assert body(aprepare) == body(prepare)
