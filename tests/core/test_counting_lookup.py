"""From a name, a model, a tokenizer or a function to a counter."""

from __future__ import annotations

import logging
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.core.counting_oracle import odd_texts, oracle
from tiered_core import TieredError
from tiered_core.counting import (
    ApproximateCounter,
    CallableCounter,
    HuggingFaceCounter,
    ScaledCounter,
    SeedCounter,
    TiktokenCounter,
    TokenCounter,
    get_token_counter,
)
from tiered_core.types import Call, Reading

TEXT = "Wörter, 12345 words and HTTPServer_codes\n"


@pytest.mark.parametrize(
    ("name", "vocabulary"),
    [
        (None, "cl100k_base"), ("tiktoken", "cl100k_base"), ("tiktoken:o200k_base", "o200k_base"),
        ("o200k_harmony", "o200k_harmony"), ("gpt-4o", "o200k_base"), ("gpt-4.1-mini", "o200k_base"), ("gpt-5",
        "o200k_base"),
        ("o3-mini", "o200k_base"), ("openai/gpt-4o-2024-08-06", "o200k_base"), ("model:gpt-4o", "o200k_base"),
        ("chatgpt-4o-latest", "o200k_base"), ("ft:gpt-4o-mini:acme::1", "o200k_base"), ("gpt-4", "cl100k_base"),
        ("gpt-4-turbo", "cl100k_base"), ("gpt-3.5-turbo", "cl100k_base"), ("gpt-35-turbo", "cl100k_base"),
        ("gpt-oss-120b", "o200k_harmony"), ("openai:gpt-5.2", "o200k_base"), ("GPT-4O", "o200k_base"),
    ],
)  # fmt: skip
def test_names_with_a_vocabulary_are_exact(name: str | None, vocabulary: str) -> None:
    """B5: OpenAI's models count with their own vocabulary, whatever stands around the name."""
    counter = get_token_counter(name)
    assert counter.exact
    assert counter.count_text(TEXT) == len(oracle(vocabulary).encode_ordinary(TEXT))


@pytest.mark.parametrize(
    ("name", "factor"),
    [
        ("claude-3-5-sonnet-20241022", 1.2), ("claude-opus-4-20250514", 1.2), ("claude-sonnet-4-6", 1.2),
        ("us.anthropic.claude-3-7-sonnet-20250219-v1:0", 1.2), ("claude-haiku-4-5-20251001", 1.2),
        ("claude-opus-4-7", 1.5),
        ("claude-opus-4.8", 1.5), ("claude-sonnet-5-5", 1.5), ("claude-fable-5", 1.5), ("gemini-2.5-pro", 1.1),
        ("models/gemini-3-pro", 1.1), ("meta-llama/Llama-3.1-8B", 1.3), ("mistral-large", 1.3), ("qwen2.5:7b", 1.3),
    ],
)  # fmt: skip
def test_other_models_are_marked_estimates(name: str, factor: float) -> None:
    """B5: models without a local vocabulary count o200k times a measured factor, marked as an estimate."""
    counter = get_token_counter(name)
    assert isinstance(counter, ScaledCounter)
    assert (counter.exact, counter.factor) == (False, factor)
    true = len(oracle("o200k_base").encode_ordinary(TEXT)) * factor
    assert true <= counter.count_text(TEXT) < true + 1.001


@pytest.mark.parametrize(
    "name", ["", "gtp-4", "tiktoken:p50k_base", "huggingface", "huggingface:/no/such", "model:x", "seed:x"]
)
def test_unknown_names_say_what_exists(name: str) -> None:
    """B5: an unknown name raises an error that gives the name and the way out."""
    with pytest.raises(TieredError, match=r"tokenizer\.json"):
        get_token_counter(name)


def test_presets() -> None:
    """B5: the names of the requirement give the counters of the requirement."""
    assert isinstance(get_token_counter("approximate"), ApproximateCounter)
    assert isinstance(get_token_counter("approximate:o200k_base"), ApproximateCounter)
    assert isinstance(get_token_counter("seed"), SeedCounter)
    assert isinstance(get_token_counter("tiktoken"), TiktokenCounter)


def test_a_counter_is_returned_as_it_is() -> None:
    """B2: whatever implements the protocol is used unchanged."""

    class Own:
        name = "own"
        exact = True

        def count_text(self, text: str) -> int:
            return len(text)

        count_data = count_image = count_message = count_messages = count_tools = count_text
        truncate = count_text

    own = Own()
    assert isinstance(own, TokenCounter)
    assert get_token_counter(own) is own


def test_models_of_either_host_are_known_by_their_name() -> None:
    """B5: LangChain's `model_name` or `model`, LlamaIndex's `metadata.model_name`, also behind a binding."""
    models: list[Any] = [
        SimpleNamespace(model_name="gpt-4o", invoke=print),
        SimpleNamespace(model="models/gpt-4o", invoke=print),
        SimpleNamespace(metadata=SimpleNamespace(model_name="gpt-4o"), chat=print),
        SimpleNamespace(bound=SimpleNamespace(model_name="gpt-4o"), invoke=print),
    ]
    expected = get_token_counter("gpt-4o").count_text(TEXT)
    assert [get_token_counter(model).count_text(TEXT) for model in models] == [expected] * 4


def test_models_of_unknown_or_no_name() -> None:
    """B5: a model of an unknown name is estimated, one without a name gets the default; no error, no warning."""
    named, bare = SimpleNamespace(model_name="my-deployment", invoke=print), SimpleNamespace(invoke=print)
    unknown = SimpleNamespace(metadata=SimpleNamespace(model_name="unknown"), complete=print)
    assert not get_token_counter(named).exact
    for model in (bare, unknown):
        assert get_token_counter(model).count_text(TEXT) == get_token_counter().count_text(TEXT)
    with pytest.raises(TieredError, match="int"):
        get_token_counter(5)


def test_host_models() -> None:
    """B5: the hosts' own offline models are taken."""
    core = pytest.importorskip("langchain_core.language_models")
    llms = pytest.importorskip("llama_index.core.llms")
    for model in (core.GenericFakeChatModel(messages=iter([])), llms.MockLLM()):
        assert get_token_counter(model).exact


def test_a_tiktoken_encoding() -> None:
    """B5: an encoding object of tiktoken is counted with as it is."""
    counter = get_token_counter(oracle("o200k_base"))
    assert counter.exact
    assert counter.count_text(TEXT) == get_token_counter("o200k_base").count_text(TEXT)


@pytest.mark.parametrize(
    "function", [len, lambda text: float(len(text)), lambda text: list(text), lambda text: tuple(text)]
)
def test_a_function_is_final(function: Any) -> None:
    """B5: a host's own counter gives a number or a list; nothing is added to its figures."""
    counter = get_token_counter(function)
    assert isinstance(counter, CallableCounter)
    reading = Reading("user", ("abc", "de"), name="f")
    assert counter.count_message(Reading("user", ("abc",))) == 3
    assert counter.count_message(reading) == 6
    assert counter.count_messages([reading, reading]) == 12
    assert counter.count_text("") == counter.count_messages([]) == 0
    assert counter.count_tools([{"a": 1}]) == len('{"a":1}')
    assert counter.count_host("abcd") == 4


def test_a_function_that_fails_on_a_text_does_not_stop_the_conversation(caplog: pytest.LogCaptureFixture) -> None:
    """B2: tiktoken's `encode` raises on special tokens; the text is estimated and the log says so once."""
    counter = get_token_counter(oracle("cl100k_base").encode)
    with caplog.at_level(logging.WARNING):
        assert counter.count_text("say <|endoftext|>") >= 7
        assert counter.count_text("<|endoftext|> again") >= 7
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    with pytest.raises(TieredError, match="None"):
        get_token_counter(lambda text: None).count_text("x")


def test_functions_are_told_apart_by_name() -> None:
    """B5: figures are kept under a counter's name, so two functions must not share one."""
    cl100k, o200k = oracle("cl100k_base"), oracle("o200k_base")
    functions = [
        len, str.split, lambda text: len(text) // 4, lambda text: len(text) // 3 + 1, cl100k.encode, o200k.encode,
        partial(cl100k.encode, allowed_special="all"), partial(o200k.encode, allowed_special="all"),
    ]  # fmt: skip
    names = [get_token_counter(function).name for function in functions]
    assert len(set(names)) == len(names)


class FakeTokenizer:
    """What `transformers` and `tokenizers` objects have in common."""

    def encode(self, text: str, add_special_tokens: bool = True) -> list[int]:
        text.encode("utf-8")
        return [0] * (len(text.split()) + 2 * add_special_tokens)

    def convert_tokens_to_ids(self, tokens: list[str]) -> list[int]:
        return [0 for _ in tokens]


def test_a_tokenizer_object_counts_without_its_special_tokens() -> None:
    """B5: tokenizer objects are recognised by what they can do; odd strings and long texts don't raise."""
    counter = get_token_counter(FakeTokenizer())
    assert isinstance(counter, HuggingFaceCounter)
    assert counter.count_text("one two three") == 3
    assert counter.count_text("one two " * 200_000) == 400_000
    for text in odd_texts(50):
        assert counter.count_text(text) == len(
            text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").split()
        )


def test_a_tokenizer_file(tmp_path: Path) -> None:
    """B5: `huggingface:<path>` reads a tokenizer.json, or the folder that holds it, without the network."""
    tokenizers = pytest.importorskip("tokenizers")
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel({"hello": 0, "world": 1, "?": 2}, unk_token="?"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    made.save(str(tmp_path / "tokenizer.json"))
    for source in (f"huggingface:{tmp_path}", f"huggingface:{tmp_path / 'tokenizer.json'}", made):
        counter = get_token_counter(source)
        assert counter.count_text("hello world, \ud800 hello") == 5
        assert counter.truncate("hello world hello", 2).strip() == "hello world"


def test_a_missing_library_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """B5: without the library the error gives the exact pip line."""
    (tmp_path / "tokenizer.json").write_text("{}")
    monkeypatch.setitem(__import__("sys").modules, "tokenizers", None)
    with pytest.raises(ImportError, match="pip install tokenizers"):
        get_token_counter(f"huggingface:{tmp_path}")


def test_calls_reach_a_function_as_text() -> None:
    """B2: a function sees a call's name and arguments."""
    seen: list[str] = []
    get_token_counter(lambda text: seen.append(text) or 1).count_message(
        Reading("assistant", calls=(Call("c1", "look_up", '{"q": 1}'),))
    )
    assert "look_up" in seen[0]
    assert '\\"q\\"' in seen[0]
