"""Estimates without a vocabulary: right in the middle, and a bound that holds."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from statistics import median
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.counting_oracle import odd_texts, oracle
from tests.core.counting_samples import CLASSES, samples
from tiered_core.counting import ApproximateCounter, SeedCounter, get_token_counter
from tiered_core.counting.content_class import classify
from tiered_core.types import Reading

VOCABULARIES: tuple[Literal["cl100k_base", "o200k_base"], ...] = ("cl100k_base", "o200k_base")


def true_count(name: str, text: str) -> int:
    return len(oracle(name).encode_ordinary(text))


@pytest.mark.parametrize("vocabulary", VOCABULARIES)
@pytest.mark.parametrize("name", CLASSES)
def test_median_error(name: str, vocabulary: Literal["cl100k_base", "o200k_base"]) -> None:
    """B3: by class the median of the signed error against the vocabulary is at most 5 %, far from chars/4 on data."""
    counter = ApproximateCounter(vocabulary)
    texts = list(samples(name, 60))
    assert abs(median(counter.estimate_text(t) / true_count(vocabulary, t) - 1 for t in texts)) <= 0.05


@pytest.mark.parametrize("vocabulary", VOCABULARIES)
def test_the_bound_holds(vocabulary: Literal["cl100k_base", "o200k_base"]) -> None:
    """B3: the padded bound lies under the truth for at most one of a thousand texts, short ones included."""
    counter = ApproximateCounter(vocabulary)
    texts = [text for name in CLASSES for text in samples(name, 60, seed=1)]
    texts += [line for text in texts[::7] for line in text.splitlines()[:8]]
    under = [text for text in texts if counter.count_text(text) < true_count(vocabulary, text)]
    assert len(under) <= len(texts) / 1_000


@given(st.text(st.characters(codec=None), max_size=300) | st.sampled_from(list(odd_texts(100, seed=8))))
def test_any_string(text: str) -> None:
    """B3: on any string the bound is at least the middle figure and at most the UTF-8 bytes; 0 only for nothing."""
    counter = ApproximateCounter()
    bound, middle = counter.count_text(text), counter.estimate_text(text)
    assert middle <= bound <= len(text.encode("utf-8", "surrogatepass"))
    assert (bound == 0) == (text == "")


@pytest.mark.parametrize("text", [" " * 1_000_000, "a" * 300_000, "漢" * 300_000, "\0" * 300_000, "=" * 300_000])
def test_hard_texts(text: str) -> None:
    """B3: a million equal spaces and 300,000 characters without a space are estimated like anything else."""
    figure = ApproximateCounter().count_text(text)
    assert 0 < figure <= len(text.encode())
    assert figure >= true_count("cl100k_base", text[:50_000])


def test_values_that_are_no_text() -> None:
    """B3: None and "" are 0, anything else counts as its JSON text."""
    counter = ApproximateCounter()
    assert counter.count_text(None) == counter.count_text("") == 0  # type: ignore[arg-type]
    assert counter.count_text(["a", {"b": None}]) == counter.count_text('["a",{"b":null}]')  # type: ignore[arg-type]


def test_it_is_marked_and_frames_like_the_others() -> None:
    """B3: an estimate says so, and its messages carry the same framing."""
    counter = get_token_counter("approximate")
    assert not counter.exact
    assert counter.count_message(Reading("user", ("hello there",))) == 4 + counter.count_text("hello there")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The seller said that it was shipped, and we have not heard of it for a week.", "prose"),
        ("def f(x):\n    return [y for y in x if y]\n\nclass A(B):\n    pass\n", "code"),
        ('[{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]', "json"), ("a,b,c\n1,2,3\n4,5,6\n7,8,9\n", "csv"),
        ("| a | b |\n|---|---|\n| 1 | 2 |", "table"), ("上个季度的销售数据显示增长", "cjk"),
        ("Продажи выросли за квартал", "script"),
        ("2024-05-03T10:00:00Z INFO started\n2024-05-03T10:00:01Z WARN slow", "log"), ("iVBORw0KGgo" * 40, "base64"),
        ("Die Umsätze sind im letzten Quartal in allen Regionen deutlich gestiegen, sagte Anna.", "foreign"),
    ],
)  # fmt: skip
def test_classes(text: str, expected: str) -> None:
    """B1: prose, code, JSON, CSV, tables, logs, CJK, other scripts, foreign Latin and base64 are told apart."""
    assert classify(text) == expected


def test_the_same_in_every_process() -> None:
    """B3: figures don't depend on the process or its hash seed."""
    code = (
        "from tests.core.counting_samples import samples\nfrom tiered_core.counting import ApproximateCounter\n"
        "print([ApproximateCounter().count_text(t) for t in samples('json', 5)])"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([os.curdir, *filter(None, sys.path)])}
    runs = {
        subprocess.run(
            [sys.executable, "-c", code], env={**environment, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(runs) == 1


@given(st.text(max_size=50))
def test_seed_ratios(text: str) -> None:
    """B3: the preset `seed` is ceil(characters / ratio) with 3 for code, 4 for prose, 3.5 for mixed and for data."""
    seed = get_token_counter("seed")
    assert isinstance(seed, SeedCounter)
    assert seed.count_text(text, "code") == SeedCounter("code").count_text(text) == math.ceil(len(text) / 3)
    assert seed.count_text(text) == seed.count_text(text, "prose") == math.ceil(len(text) / 4)
    assert seed.count_text(text, "mixed") == SeedCounter("mixed").count_text(text) == math.ceil(len(text) / 3.5)
    assert seed.count_data([text]) == math.ceil(len(__import__("json").dumps([text], ensure_ascii=False)) / 3.5)


def test_seed_of_nothing() -> None:
    """B3: empty is 0."""
    assert SeedCounter().count_text("") == 0
