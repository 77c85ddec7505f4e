"""What a model can take: hosts, genai-prices, requirement A1's table, and the warning where nobody knows."""

from __future__ import annotations

import sys
import warnings
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from tiered_core import TieredError, TokenBudget
from tiered_core.models import DEFAULT_WINDOW, ModelLimits, UnknownModelWarning, limits_of


@pytest.fixture
def _no_prices(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the extra `prices` were not installed."""
    monkeypatch.setitem(sys.modules, "genai_prices", None)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str | None]]:
    """A stand-in for genai-prices that lists one model, and records what it is asked for."""
    calls: list[tuple[str, str | None]] = []

    def calc_price(usage: object, model_ref: str, *, provider_id: str | None = None) -> Any:
        calls.append((model_ref, provider_id))
        if model_ref == "listed-1" and provider_id in (None, "maker"):
            return SimpleNamespace(model=SimpleNamespace(context_window=77_000))
        if (model_ref, provider_id) == ("us.maker.cloud-v1:0", "aws"):
            return SimpleNamespace(model=SimpleNamespace(context_window=77_000))
        if model_ref == "gpt-4":
            return SimpleNamespace(model=SimpleNamespace(context_window=8_192))
        raise LookupError(model_ref)

    module = ModuleType("genai_prices")
    module.calc_price = calc_price  # type: ignore[attr-defined]
    module.Usage = SimpleNamespace  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "genai_prices", module)
    return calls


@pytest.mark.usefixtures("_no_prices")
@pytest.mark.parametrize(
    ("name", "window", "practical"),
    [
        ("GPT-4", 128_000, 40_000), ("gpt-4o", 128_000, 40_000), ("openai:gpt-4-turbo", 128_000, 40_000),
        ("ft:gpt-4o-mini-2024-07-18:org::abc", 128_000, 40_000), ("gpt-4-1106-preview", 128_000, 40_000),
        ("gpt-4-0613", 8_192, 40_000), ("gpt-4-32k-0613", 32_768, 40_000),
        ("Claude 3", 200_000, 50_000), ("claude-3-opus-20240229", 200_000, 50_000),
        ("Claude 3.5", 200_000, 60_000), ("anthropic/claude-3.5-sonnet", 200_000, 60_000),
        ("us.anthropic.claude-3-5-sonnet-20240620-v1:0", 200_000, 60_000),
    ],
)  # fmt: skip
def test_figures_of_the_requirement(name: str, window: int, practical: int) -> None:
    """The families of A1 have its windows, practical limits and latency thresholds."""
    budget = TokenBudget.for_model(name)
    figures = budget.context_window, budget.practical_limit, budget.latency_threshold
    assert figures == (window, practical, practical)
    assert budget.effective_window == min(window, practical)


@pytest.mark.usefixtures("_no_prices")
@pytest.mark.parametrize(
    "name", ["gpt-4.1", "gpt-41-mini", "gpt-4.5-preview", "claude-3-7-sonnet-20250219", "claude-3.7"]
)
def test_later_families_have_no_practical_limit(name: str) -> None:
    """What A1 doesn't name has no practical limit and no latency threshold."""
    limits = limits_of(name, 100_000)
    assert limits == ModelLimits(100_000, None, None, None, "explicit")


@pytest.mark.usefixtures("_no_prices")
def test_unknown_model_warns_once() -> None:
    """One warning says which figure is used, why, and how to set it; it points at the caller (A1)."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        budget = TokenBudget.for_model("house-model-7b")
    assert budget.context_window == DEFAULT_WINDOW
    assert budget.practical_limit is None
    (warning,) = caught
    assert warning.category is UnknownModelWarning
    assert issubclass(UnknownModelWarning, UserWarning)
    assert warning.filename == __file__
    for words in ("'house-model-7b' is not known", "8,192 tokens", "tiered-context[prices]", "context_window="):
        assert words in str(warning.message)


@pytest.mark.usefixtures("_no_prices")
@pytest.mark.parametrize(
    "model", [None, "", "  ", 7, object(), SimpleNamespace(model_name=None), SimpleNamespace(model="unknown")]
)
def test_what_is_no_model_gets_the_default(model: Any) -> None:
    """A value without a name is an unknown model, not a crash (A1)."""
    with pytest.warns(UnknownModelWarning, match="without a model name"):
        assert limits_of(model).source == "default"


@pytest.mark.usefixtures("_no_prices")
def test_explicit_figures_win() -> None:
    """What the caller sets wins over host and table, and silences the warning (A1)."""
    host = SimpleNamespace(profile={"max_input_tokens": 32_000}, model="gpt-4o")
    budget = TokenBudget.for_model(host, context_window=16_000, practical_limit=9_000, response_reserve=700)
    assert (budget.context_window, budget.practical_limit, budget.response_reserve) == (16_000, 9_000, 700)
    assert TokenBudget.for_model("house-model", context_window=16_000).context_window == 16_000
    assert TokenBudget.for_model("gpt-4o", practical_limit=128_000).effective_window == 128_000
    assert TokenBudget.for_model("gpt-4o", response_reserve=0).available == 40_000


@pytest.mark.usefixtures("_no_prices")
def test_reserve_is_that_of_the_window() -> None:
    """Without a reserve given, it is what `for_window` takes (A9)."""
    for name in ("gpt-4o", "gpt-4-0613"):
        budget = TokenBudget.for_model(name)
        same = TokenBudget.for_window(budget.context_window, budget.practical_limit)
        assert budget.response_reserve == same.response_reserve


@pytest.mark.parametrize("field", ["context_window", "practical_limit"])
@pytest.mark.parametrize("value", [0, -1, True, 1.5, "many"])
def test_impossible_figures_name_the_field(field: str, value: Any) -> None:
    """A figure that is none is refused by name (A1)."""
    with pytest.raises(TieredError, match=field):
        TokenBudget.for_model("gpt-4o", **{field: value})


def test_latency_threshold_is_checked() -> None:
    """The new field is a whole number of tokens like the others (A1)."""
    assert TokenBudget().latency_threshold is None
    with pytest.raises(TieredError, match="latency_threshold"):
        TokenBudget(latency_threshold=0)


# --- hosts -----------------------------------------------------------------------------------------------------------


def test_langchain_profile_comes_first(asked: list[tuple[str, str | None]]) -> None:
    """LangChain's profile is read before anything else, behind a binding too (A1)."""
    models = pytest.importorskip("langchain_core.language_models.fake_chat_models")
    profile = {"max_input_tokens": 32_000, "max_output_tokens": 4_096}
    model = models.GenericFakeChatModel(messages=iter([]), profile=profile)
    expected = ModelLimits(32_000, None, None, 4_096, "host")
    assert limits_of(model) == limits_of(model.bind(stop=["x"])) == limits_of(model.with_retry()) == expected
    assert asked == []


def test_host_gives_the_window_and_the_table_the_limits() -> None:
    """A1's practical limit holds for a host's model of that family, found by its name."""
    model = SimpleNamespace(profile={"max_input_tokens": 120_000}, model_name="gpt-4o")
    assert limits_of(model) == ModelLimits(120_000, 40_000, 40_000, None, "host")


class _Broken:
    """A model whose host can't say anything."""

    model = "listed-1"

    @property
    def profile(self) -> Any:
        raise RuntimeError("no profile")

    @property
    def metadata(self) -> Any:
        raise ValueError("unknown model")


@pytest.mark.usefixtures("asked")
@pytest.mark.parametrize(
    "model",
    [
        _Broken(), SimpleNamespace(model="listed-1"), SimpleNamespace(model_name="listed-1", profile=None),
        SimpleNamespace(model_id="listed-1", profile={}, metadata={"tag": 1}),
        SimpleNamespace(model="listed-1", profile={"max_input_tokens": None}),
        SimpleNamespace(model="listed-1", profile={"max_input_tokens": True}),
        SimpleNamespace(model="listed-1", metadata=SimpleNamespace(context_window=-1)),
        SimpleNamespace(metadata=SimpleNamespace(context_window=0, model_name="listed-1")),
        SimpleNamespace(bound=SimpleNamespace(bound=SimpleNamespace(model="listed-1"))),
    ],
)  # fmt: skip
def test_silent_host_falls_through(model: Any) -> None:
    """A profile that is missing, None, empty or raises is passed over (A1)."""
    assert limits_of(model) == ModelLimits(77_000, None, None, None, "genai-prices")


def test_a_wrapper_of_itself_ends() -> None:
    """A chain of wrappers that never ends is given up."""
    model = SimpleNamespace()
    model.bound = model
    assert limits_of(model, 5_000).context_window == 5_000


@pytest.mark.usefixtures("_no_prices")
def test_llama_index_metadata() -> None:
    """LlamaIndex's metadata give window and longest answer; -1 is no answer (A1)."""
    llms = pytest.importorskip("llama_index.core.llms")
    assert limits_of(llms.MockLLM(max_tokens=512)) == ModelLimits(3_900, None, None, 512, "host")
    assert limits_of(llms.MockLLM()).max_output is None


# --- genai-prices ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "listed-1", "Listed-1", "maker/listed-1", "maker:listed-1", "hub/maker/listed-1", "ft:listed-1:org::x",
        "us.maker.cloud-v1:0",
    ],
)  # fmt: skip
@pytest.mark.usefixtures("asked")
def test_prices_are_asked_by_every_spelling(name: str) -> None:
    """A provider's prefix doesn't hide a model that is listed (A1)."""
    assert limits_of(name).context_window == 77_000
    assert limits_of(name).source == "genai-prices"


@pytest.mark.usefixtures("asked")
def test_prices_come_before_the_table() -> None:
    """The list of models wins over the table's window; the table keeps its limits (A1)."""
    assert limits_of("gpt-4") == ModelLimits(8_192, 40_000, 40_000, None, "genai-prices")


def test_prices_are_the_last_to_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    """The optional package is imported only when it is asked (A1)."""
    monkeypatch.delitem(sys.modules, "genai_prices", raising=False)
    limits_of(SimpleNamespace(profile={"max_input_tokens": 9_000}))
    limits_of("house-model", 9_000)
    assert "genai_prices" not in sys.modules


@pytest.mark.usefixtures("asked")
def test_warning_with_prices_says_that_it_is_not_listed() -> None:
    """With the list installed, the warning doesn't tell to install it (A1)."""
    with pytest.warns(UnknownModelWarning, match="genai-prices doesn't list it"):
        limits_of("house-model")


@pytest.mark.parametrize(
    ("name", "window"),
    [
        ("gpt-4o", 128_000), ("openai:gpt-4o-mini", 128_000), ("claude-3-haiku-20240307", 200_000),
        ("anthropic.claude-3-5-sonnet-20240620-v1:0", 200_000), ("models/gemini-1.5-flash", 1_000_000),
    ],
)  # fmt: skip
def test_real_prices(name: str, window: int) -> None:
    """The installed genai-prices answers without a network (A1)."""
    pytest.importorskip("genai_prices", reason="the extra `prices` is not installed")
    limits = limits_of(name)
    assert (limits.context_window, limits.source) == (window, "genai-prices")
