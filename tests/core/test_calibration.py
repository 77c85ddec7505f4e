"""Calibration: what it learns from reported usage, and what it must not believe."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from dataclasses import replace
from statistics import mean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiered_core import StoreError
from tiered_core.calibration import CLASSES, HIDDEN, LEAST, MOST, Calibration

TRUE = {"text": 1.2, "table": 1.5, "json": 1.35}
SEEDS = range(25)
Mix = dict[str, int]


class Provider:
    """The oracle: a provider with its own tokens per counted token, a hidden overhead, and noise."""

    def __init__(self, seed: int, factors: Mapping[str, float] = TRUE, overhead: int = 350, noise: float = 0.0) -> None:
        self.random = random.Random(seed)
        self.factors = factors
        self.overhead = overhead
        self.noise = noise

    def mix(self) -> Mix:
        return {kind: self.random.randint(100, 6_000) for kind in self.factors}

    def truth(self, mix: Mix) -> float:
        return self.overhead + sum(self.factors[kind] * tokens for kind, tokens in mix.items())

    def report(self, mix: Mix) -> int:
        return round(self.truth(mix) * (1 + self.random.uniform(-self.noise, self.noise)))

    def teach(self, calibration: Calibration, reports: int) -> Calibration:
        for _ in range(reports):
            mix = self.mix()
            calibration = calibration.observe(mix, self.report(mix))
        return calibration

    def errors(self, calibration: Calibration, requests: int = 100) -> list[float]:
        """Relative errors of what is predicted for new requests, against the truth without noise."""
        mixes = [self.mix() for _ in range(requests)]
        return [calibration.predict(mix) / self.truth(mix) - 1 for mix in mixes]


def worst(errors: list[float]) -> float:
    return max(map(abs, errors))


@pytest.mark.parametrize("seed", SEEDS)
def test_one_percent_within_twenty_reports(seed: int) -> None:
    """After 20 reports every request is predicted to 1 %, whatever its mix (P13)."""
    provider = Provider(seed)
    learned = provider.teach(Calibration(), 20)
    assert worst(provider.errors(learned)) <= 0.01
    for kind, factor in TRUE.items():
        assert learned.factors[kind] == pytest.approx(factor, rel=0.01)


@pytest.mark.parametrize("seed", SEEDS)
def test_constant_overhead_is_learned_as_overhead(seed: int) -> None:
    """350 hidden tokens are found as overhead and don't leak into the factors, however long it goes on (P13)."""
    provider = Provider(seed)
    for reports in (20, 200):
        learned = provider.teach(Calibration(), reports)
        assert learned.overhead == pytest.approx(350, abs=60 if reports == 20 else 10)
        assert worst(provider.errors(learned)) <= 0.01


@pytest.mark.parametrize("seed", SEEDS)
def test_stays_within_one_percent_under_noise(seed: int) -> None:
    """With reports that are off by up to 2 %, totals stay within 1 % of the truth, early and late (P13)."""
    provider = Provider(seed, noise=0.02)
    learned = provider.teach(Calibration(), 20)
    for reports in (20, 60, 200):
        errors = provider.errors(learned)
        assert mean(map(abs, errors)) <= 0.01
        assert abs(mean(errors)) <= 0.01
        learned = provider.teach(learned, reports)
    assert learned.ignored == 0


@pytest.mark.parametrize("seed", SEEDS)
def test_growing_conversation(seed: int) -> None:
    """Requests of one conversation, each a little longer than the one before, are predicted to 1 % (P13)."""
    provider = Provider(seed)
    sums: Mix = dict.fromkeys(TRUE, 0)
    learned, drifts = Calibration(), []
    for _ in range(40):
        for kind in sums:
            sums[kind] += provider.random.choice([0, 0, provider.random.randint(20, 900)])
        sums["text"] += 60
        learned = learned.observe(dict(sums), provider.report(dict(sums)))
        drifts.append(learned.drift)
    assert worst(drifts[20:]) <= 0.01


def test_drift_is_signed() -> None:
    """`drift` is positive when more was reported than expected, negative when less (P13)."""
    assert Calibration().drift == 0.0
    assert Calibration().observe({"text": 1_000}, 1_250).drift == pytest.approx(0.2)
    assert Calibration().observe({"text": 1_000}, 800).drift == pytest.approx(-0.25)


@pytest.mark.parametrize(
    ("estimate", "reported"),
    [
        ({"text": 1_000}, 0), ({"text": 1_000}, -5), ({"text": 1_000}, 299), ({"text": 1_000}, 4_001),
        ({"text": 10}, 10 + HIDDEN + 1), ({}, 100), ({"text": 0}, 100), ({"text": -1}, 100),
        ({"text": 1_000}, None), ({"text": 1_000}, True), ({"text": 1_000}, float("nan")), ({"text": 1_000}, "900"),
        ({"text": None}, 900), ({"text": float("inf")}, 900), ({"text": True}, 2),
    ],
)  # fmt: skip
def test_impossible_reports_are_ignored_and_counted(estimate: dict[str, int], reported: int) -> None:
    """A report that can't be true changes nothing but the count of such reports (P13)."""
    learned = Provider(1).teach(Calibration(), 20)
    after = learned.observe(estimate, reported)
    assert after.ignored == 1
    assert (after.means, after.covariance, after.drift) == (learned.means, learned.covariance, learned.drift)
    assert after.observations == learned.observations


@pytest.mark.parametrize("seed", SEEDS)
def test_wild_reports_do_little_harm(seed: int) -> None:
    """One possible but wild report in eight, once something is known, leaves totals within 2 % (P13)."""
    provider = Provider(seed)
    learned = provider.teach(Calibration(), 20)
    for k in range(40):
        mix = provider.mix()
        wild = provider.random.choice([0.6, 2.0]) if k % 8 == 7 else 1.0
        learned = learned.observe(mix, round(provider.report(mix) * wild))
    assert mean(map(abs, provider.errors(learned))) <= 0.02


@pytest.mark.parametrize("seed", SEEDS)
def test_wild_start_is_overcome(seed: int) -> None:
    """A wild first report is forgotten after 30 good ones (P13)."""
    provider = Provider(seed)
    learned = Calibration().observe({"text": 2_000}, 7_500)
    assert mean(map(abs, provider.errors(provider.teach(learned, 30)))) <= 0.01


@pytest.mark.parametrize("seed", SEEDS)
def test_another_model_is_noticed(seed: int) -> None:
    """When all factors change for good, 25 reports bring the totals back within 1 % (P13)."""
    learned = Provider(seed).teach(Calibration(), 60)
    other = Provider(seed, {"text": 1.0, "table": 1.1, "json": 1.05}, overhead=0)
    assert mean(map(abs, other.errors(other.teach(learned, 25)))) <= 0.01


@pytest.mark.parametrize("seed", SEEDS)
def test_slow_change_is_followed(seed: int) -> None:
    """Factors that rise by 0.03 after 400 reports are found again within 60 (P13)."""
    learned = Provider(seed, noise=0.01).teach(Calibration(), 400)
    later = Provider(seed + 1_000, {kind: factor + 0.03 for kind, factor in TRUE.items()}, noise=0.01)
    assert mean(map(abs, later.errors(later.teach(learned, 60)))) <= 0.01


@pytest.mark.parametrize("seed", SEEDS)
def test_tiny_requests_teach_little(seed: int) -> None:
    """30 requests of a few words, each off by up to 3 tokens, don't spoil what 20 real ones teach (P13)."""
    provider = Provider(seed, overhead=0)
    learned = Calibration()
    for _ in range(30):
        tokens = provider.random.randint(5, 40)
        reported = max(1, round(1.2 * tokens) + provider.random.randint(-3, 3))
        learned = learned.observe({"text": tokens}, reported)
    assert worst(provider.errors(provider.teach(learned, 20))) <= 0.01


def test_factors_are_bounded() -> None:
    """A class that really costs eight times as much is corrected by the largest factor only (P13)."""
    provider = Provider(2)
    learned = Calibration()
    for _ in range(40):
        mix = {"text": provider.random.randint(2_000, 4_000), "table": provider.random.randint(100, 400)}
        learned = learned.observe(mix, mix["text"] + 8 * mix["table"])
    assert learned.factors["table"] == MOST


def test_only_surprises_in_one_direction_reopen_what_was_learned() -> None:
    """Wild reports that contradict each other are noise; three alike mean another model (P13)."""
    learned = Provider(6).teach(Calibration(), 60)
    certain = sum(learned.covariance)
    mix = {"text": 2_000, "table": 2_000}
    counts = []
    for ratio in (2.0, 0.6, 2.0, 0.6, 2.0):
        learned = learned.observe(mix, round(learned.predict(mix) * ratio))
        counts.append(learned.surprises)
    assert counts == [1, -1, 1, -1, 1]
    assert sum(learned.covariance) < certain + 1_000
    for _ in range(2):
        learned = learned.observe(mix, learned.predict(mix) * 2)
    assert learned.surprises == 0
    assert sum(learned.covariance) > certain + 10_000


def test_small_request_with_overhead() -> None:
    """A first request of 20 tokens under 350 hidden ones is believed, and isn't taken for a factor of 18 (P13)."""
    learned = Calibration().observe({"text": 20}, 374)
    assert learned.ignored == 0
    assert learned.overhead > 250
    assert learned.factors["text"] < 1.5


def test_unseen_class_follows_the_others() -> None:
    """A class that was never sent is expected to be off like those that were (P13)."""
    learned = Provider(3, {"text": 1.4}, overhead=0).teach(Calibration(), 20)
    assert 1.1 < learned.factors["table"] < 1.4


def test_unknown_class_is_other() -> None:
    """A kind without a factor of its own is counted and corrected as "other" (P13)."""
    learned = Provider(4, {"picture": 1.3}, overhead=0).teach(Calibration(), 20)
    assert learned.factors["other"] == pytest.approx(1.3, rel=0.01)
    assert learned.apply("picture", 1_000) == learned.apply("other", 1_000)


@pytest.mark.parametrize("seed", SEEDS)
def test_exact_counter_is_never_made_smaller(seed: int) -> None:
    """With `floor=1.0` no figure shrinks, whatever is reported (P13)."""
    provider = Provider(seed, {"text": 0.8, "table": 1.0, "json": 0.95}, overhead=0, noise=0.02)
    learned = provider.teach(Calibration(floor=1.0), 40)
    assert min(learned.factors.values()) >= 1.0
    learned_otherwise = replace(provider.teach(Calibration(), 40), floor=1.0)
    for kind in CLASSES:
        assert all(c.apply(kind, n) >= n for n in (0, 1, 7, 1_000) for c in (learned, learned_otherwise))


def test_exact_counter_learns_the_overhead() -> None:
    """An exact counter's factors stay at 1 and the hidden tokens are found (P13)."""
    provider = Provider(5, dict.fromkeys(TRUE, 1.0))
    learned = provider.teach(Calibration(floor=1.0), 30)
    assert learned.overhead == pytest.approx(350, abs=20)
    assert max(learned.factors[k] for k in TRUE) < 1.005


def test_apply_rounds_up() -> None:
    """Figures are rounded up without the noise of binary fractions; before any report they are the counter's (P13)."""
    assert [Calibration().apply("text", n) for n in (0, 1, 10)] == [0, 1, 10]
    learned = Calibration(means=(1.1, 1.0, 1.0, 1.0, 1.0, 0.0))
    assert [learned.apply("text", n) for n in (1, 10, 11, 50)] == [2, 11, 13, 55]


@given(st.lists(st.tuples(st.sampled_from(CLASSES), st.integers(0, 10**6), st.floats(0.01, 8)), max_size=60))
def test_bounded_whatever_comes(reports: list[tuple[str, int, float]]) -> None:
    """Factors and overhead stay finite and within their bounds, and the stored form gives the same value (P13)."""
    learned = Calibration()
    for kind, tokens, ratio in reports:
        learned = learned.observe({kind: tokens, "text": 5}, int(tokens * ratio))
    assert all(LEAST <= f <= MOST for f in learned.factors.values())
    assert 0 <= learned.overhead <= 50_000
    assert all(learned.covariance[i] > 0 for i in (0, 2, 5, 9, 14, 20))
    assert Calibration.from_dict(json.loads(json.dumps(learned.to_dict()))) == learned
    assert len(json.dumps(learned.to_dict())) < 800


def test_observe_changes_nothing() -> None:
    """Values are frozen: what was known before is still known (P13)."""
    before = Calibration()
    estimate = {"text": 1_000}
    after = before.observe(estimate, 1_200)
    assert before == Calibration() != after
    assert estimate == {"text": 1_000}


@pytest.mark.parametrize(
    "data", [{}, {"version": 1}, {**Calibration().to_dict(), "means": [1.0]}, {"version": "x"}, [], None,
             {**Calibration().to_dict(), "means": [float("nan")] * 6}],
)  # fmt: skip
def test_broken_stored_value(data: dict[str, object]) -> None:
    """What is no calibration is refused with a typed error (A17)."""
    with pytest.raises(StoreError, match="can't be read"):
        Calibration.from_dict(data)


def test_newer_stored_value() -> None:
    """A newer version is refused by name (A17)."""
    with pytest.raises(StoreError, match="version 2"):
        Calibration.from_dict({**Calibration().to_dict(), "version": 2})
