"""P1: is every view within the budget and legal? A seeded sample of prefixes, at budgets from 1k to 32k."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from tests.benchmarks.corpora import (
    Conversation,
    intercode,
    intercode_chats,
    locomo,
    long_observation,
    sample,
    sample_prefixes,
    tau_bench,
)
from tests.benchmarks.figures import Mean, Table, mean_of
from tests.benchmarks.judging import judge, kinds, least_tokens, line_of
from tests.benchmarks.methods import SESSION, Session, Viewer, adapters, baselines, ours
from tests.benchmarks.options import Options
from tests.benchmarks.pool import spread

TITLE = "P1 compliance"
BUDGETS = (1_000, 2_000, 4_000, 8_000, 16_000, 32_000)
_SHOWN_FAILURES = 5


@dataclass(frozen=True, slots=True)
class Sampling:
    """How much of a corpus is measured: conversations, prefixes of each, messages of the longest; at most."""

    conversations: int
    prefixes: int
    longest: int = 10_000


WHOLE = {
    "LoCoMo": Sampling(5, 24),
    "tau-bench": Sampling(100, 12),
    "InterCode": Sampling(150, 12),
    "InterCode chats": Sampling(12, 20),
    "one huge observation": Sampling(1, 3),
}
QUICK = {
    "LoCoMo": Sampling(2, 3, 200),
    "tau-bench": Sampling(10, 4, 200),
    "InterCode": Sampling(20, 4, 200),
    "InterCode chats": Sampling(2, 4, 120),
    "one huge observation": Sampling(1, 1),
}


@dataclass(frozen=True, slots=True)
class Measured:
    """One view.

    Attributes:
        method: whose.
        corpus: of which conversation.
        conversation: its name.
        budget: in tokens.
        prefix: messages that were there.
        history: their tokens.
        possible: whether a legal view within the budget exists at all.
        tokens: of the view.
        faults: see `Verdict`.
    """

    method: str
    corpus: str
    conversation: str
    budget: int
    prefix: int
    history: int
    possible: bool
    tokens: int
    faults: tuple[str, ...]


def conversations(options: Options) -> list[Conversation]:
    """The sampled conversations of all corpora."""
    sizes = QUICK if options.quick else WHOLE
    sessions = intercode(options.folder)
    every = [
        locomo(options.folder), tau_bench(options.folder), sessions, intercode_chats(sessions),
        [long_observation(sessions)],
    ]  # fmt: skip
    return [talk for corpus in every for talk in _sampled(corpus, sizes[corpus[0].corpus])]


def _sampled(corpus: list[Conversation], size: Sampling) -> list[Conversation]:
    chosen = sample(corpus, size.conversations, f"P1 {corpus[0].corpus}")
    return [replace(talk, messages=talk.messages[: size.longest], forms={}) for talk in chosen]


def measure(talk: Conversation, prefixes: int) -> list[Measured]:
    """All methods at all budgets on a sample of one conversation's prefixes."""
    chosen, own = sample_prefixes(talk, prefixes), _own()
    methods = [*own, *baselines()]
    return [m for method in methods for m in _judged(method, talk, chosen, strict=method in own)]


def measure_every(talk: Conversation) -> list[Measured]:
    """A session at all budgets on every prefix of one conversation."""
    return list(_judged(Session(), talk, range(1, len(talk.messages) + 1), strict=True))


def _judged(method: Viewer, talk: Conversation, prefixes: Sequence[int], strict: bool) -> Iterator[Measured]:
    sums, lines = talk.sums, [line_of(message) for message in talk.messages]
    least = [least_tokens(talk.messages[:length]) for length in prefixes]
    for budget in BUDGETS:
        for length, needed, seen in zip(prefixes, least, method.views(talk, budget, prefixes), strict=True):
            verdict = judge(seen, lines[:length], budget, strict)
            what = (method.name, talk.corpus, talk.name, budget, length, sums[length], needed <= budget)
            yield Measured(*what, verdict.tokens, verdict.faults)


def run(options: Options) -> Iterator[Table]:
    """The tables."""
    sizes = QUICK if options.quick else WHOLE
    talks = conversations(options)
    jobs = [(talk, sizes[talk.corpus].prefixes) for talk in talks]
    measured = [m for part in spread(measure, jobs, options.workers) for m in part]
    own = [method.name for method in _own()]
    names = [*own, *(method.name for method in baselines())]
    for corpus in sizes:
        yield _compliance(corpus, names, own, [m for m in measured if m.corpus == corpus])
    yield _pressed(names, measured)
    yield _failures(own, measured)
    if options.every:
        yield _every_prefix(options)


def _every_prefix(options: Options) -> Table:
    """A session on all prefixes of all conversations, those that end between a call and its result among them."""
    sessions = intercode(options.folder)
    talks = [*locomo(options.folder), *tau_bench(options.folder), *sessions, *intercode_chats(sessions)]
    measured = [m for part in spread(measure_every, [(talk,) for talk in talks], options.workers) for m in part]
    failed = [m for m in measured if m.faults and m.possible]
    columns = ["corpus", "conversations", "views", "fail although a legal one exists"]
    table = Table(f"P1 {SESSION}: every prefix at all budgets", columns)
    for corpus in dict.fromkeys(m.corpus for m in measured):
        mine = [m for m in measured if m.corpus == corpus]
        talk_count = len({m.conversation for m in mine})
        table.rows.append([corpus, f"{talk_count:,}", f"{len(mine):,}", str(sum(m.corpus == corpus for m in failed))])
    table.notes += [
        f"{m.conversation}, {m.prefix} messages, {m.budget}: {m.faults[0]}" for m in failed[:_SHOWN_FAILURES]
    ]
    return table


def _own() -> list[Viewer]:
    return [*ours(), *adapters()]


def _compliance(corpus: str, names: list[str], own: list[str], measured: list[Measured]) -> Table:
    first = [m for m in measured if m.method == names[0]]
    talks = len({m.conversation for m in first})
    sizes = f"{talks} conversation{'s' * (talks > 1)}, {len(first)} views a method"
    columns = ["method", *(f"{b // 1000}k" for b in BUDGETS), "all"]
    table = Table(f"P1 {corpus}: % of views within budget and legal; {sizes}", columns)
    pressed = Counter(m.budget for m in first if m.history > m.budget and m.possible)
    row = [*(f"{pressed[b]} of {sum(m.budget == b for m in first)}" for b in BUDGETS), str(pressed.total())]
    table.rows.append(["*views whose history exceeds the budget*", *row])
    for name in names:
        mine = [m for m in measured if m.method == name and m.possible]
        cells = [_cell(_compliant(m for m in mine if m.budget == budget)) for budget in BUDGETS]
        table.rows.append([name, *cells, _cell(_compliant(mine))])
    impossible = sum(not m.possible for m in first)
    if impossible:
        table.notes.append(
            f"{impossible} views are left out for all methods: the system text alone exceeds the budget "
            f"({_typed(measured, own)})."
        )
    return table


def _typed(measured: list[Measured], own: list[str]) -> str:
    hopeless = [m for m in measured if not m.possible and m.method in own]
    raised = sum(any("BudgetExceeded" in fault for fault in m.faults) for m in hopeless)
    return f"tiered raises its typed error on {raised} of {len(hopeless)}"


def _compliant(measured: Iterable[Measured]) -> Mean | None:
    return _mean(measured, lambda m: float(not m.faults))


def _mean(measured: Iterable[Measured], figure: Callable[[Measured], float]) -> Mean | None:
    groups: dict[str, list[float]] = defaultdict(list)
    for m in measured:
        groups[f"{m.corpus} {m.conversation}"].append(figure(m))
    return mean_of(groups)


def _cell(mean: Mean | None) -> str:
    return mean.percent() if mean else "–"


def _pressed(names: list[str], measured: list[Measured]) -> Table:
    """All corpora together, only where the history exceeds the budget."""
    table = Table(
        "P1 where the history exceeds the budget, all corpora: %",
        ["method", "compliant", "budget used (mean)", "of compliant views", "over budget", "what is wrong otherwise"],
    )
    for name in names:
        mine = [m for m in measured if m.method == name and m.possible and m.history > m.budget]
        legal = [m for m in mine if not m.faults]
        table.rows.append(
            [
                name,
                _cell(_compliant(mine)),
                _cell(_mean(mine, lambda m: m.tokens / m.budget)),
                _cell(_mean(legal, lambda m: m.tokens / m.budget)),
                _cell(_mean(mine, lambda m: float(m.tokens > m.budget))),
                _kinds(mine),
            ]
        )
    table.notes.append("Every view weighs the same, so a corpus counts by its number of sampled views.")
    table.notes.append("Prefixes that end between a call and its result are left out: no model is called there.")
    table.notes.append("LangChain's SummarizationMiddleware is left out: it needs a model.")
    table.notes.append("Some tau-bench episodes hold an empty tool result: passing it on counts against tiered only.")
    return table


def _kinds(measured: list[Measured]) -> str:
    found = Counter(kind for m in measured for kind in kinds(m.faults) if kind != "over budget")
    return ", ".join(f"{kind} {100 * n / len(measured):.1f}" for kind, n in found.most_common()) or "–"


def _failures(own: list[str], measured: list[Measured]) -> Table:
    """Views of ours that fail although a legal one exists, with what is needed to make them again."""
    failed = [m for m in measured if m.method in own and m.possible and m.faults]
    columns = ["method", "conversation", "messages", "budget", "faults"]
    table = Table(f"P1 views of ours that fail although a legal one exists: {len(failed)}", columns)
    for name in own:
        mine = sorted((m for m in failed if m.method == name), key=lambda m: (m.prefix, m.budget))
        for m in mine[:_SHOWN_FAILURES]:
            where = f"{m.corpus}: {m.conversation}"
            table.rows.append([m.method, where, str(m.prefix), str(m.budget), "; ".join(m.faults[:2])])
    return table
