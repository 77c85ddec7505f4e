"""P2: how much of a question's evidence is still in view, the question being the current user message (LoCoMo)."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tests.benchmarks.corpora import Conversation, Question, locomo
from tests.benchmarks.figures import Table, mean_of
from tests.benchmarks.methods import FIT, SESSION, Seen, baselines, ours
from tests.benchmarks.options import Options
from tests.benchmarks.pool import spread
from tests.benchmarks.tokens import text_of, view_tokens

TITLE = "P2 evidence recall"
BUDGETS = (1_000, 2_000, 4_000, 8_000)
MULTI_HOP = 1
QUESTIONS = 30
_QUICK = (2, 3)  # conversations, questions of each


@dataclass(frozen=True, slots=True)
class Found:
    """One question at one budget.

    Attributes:
        method: whose view.
        conversation: its name.
        budget: in tokens.
        category: of the question.
        recall: share of the gold messages whose whole text stands in the view.
        chance: the same for any message of the conversation, that is the share of all of them in the view.
        over: 1 where the view exceeds the budget.
    """

    method: str
    conversation: str
    budget: int
    category: int
    recall: float
    chance: float
    over: float


def run(options: Options) -> Iterator[Table]:
    """The table."""
    count, each = _QUICK if options.quick else (5, QUESTIONS)
    jobs = [(talk, _chosen(talk, each)) for talk in locomo(options.folder)[:count]]
    found = [f for part in spread(measure, jobs, options.workers) for f in part]
    asked = sum(len(questions) for _, questions in jobs)
    columns = ["method", *(f"{b // 1000}k" for b in BUDGETS), "multi-hop at 2k", "views over budget"]
    title = f"P2 LoCoMo: % of gold messages in the view; {len(jobs)} conversations, {asked} questions of categories 1–4"
    table = Table(title, columns)
    for method in [*ours(), *baselines()]:
        mine = [f for f in found if f.method == method.name]
        table.rows.append([method.name, *_cells(mine, lambda f: f.recall), _cell(mine, lambda f: f.over)])
    for name in (FIT, SESSION):
        mine = [f for f in found if f.method == name]
        table.rows.append([f"*chance: any message, {name}*", *_cells(mine, lambda f: f.chance), ""])
    table.notes.append("Nothing is recalled for a question in this version: what a view holds is what is recent.")
    yield table


def _chosen(talk: Conversation, count: int) -> list[Question]:
    questions = list(talk.questions)
    return random.Random(f"P2 {talk.name}").sample(questions, min(count, len(questions)))


def _cells(found: Sequence[Found], figure: Callable[[Found], float]) -> list[str]:
    cells = [_cell([f for f in found if f.budget == budget], figure) for budget in BUDGETS]
    return [*cells, _cell([f for f in found if f.budget == 2_000 and f.category == MULTI_HOP], figure)]


def _cell(found: Sequence[Found], figure: Callable[[Found], float]) -> str:
    groups: dict[str, list[float]] = defaultdict(list)
    for f in found:
        groups[f.conversation].append(figure(f))
    mean = mean_of(groups)
    return mean.percent() if mean else "–"


def measure(talk: Conversation, questions: Sequence[Question]) -> list[Found]:
    """All methods at all budgets on one conversation."""
    texts = [question.text for question in questions]
    return [
        _found(method.name, talk, budget, question, seen)
        for method in [*ours(), *baselines()]
        for budget in BUDGETS
        for question, seen in zip(questions, method.asked(talk, budget, texts), strict=True)
    ]


def _found(method: str, talk: Conversation, budget: int, question: Question, seen: Seen) -> Found:
    shown = "\n".join(text_of(message) for message in seen.messages or ())
    there = [text in shown for text in question.gold]
    every = [text_of(message) in shown for message in talk.messages if message["role"] != "system"]
    recall, chance = sum(there) / len(there), sum(every) / len(every)
    over = float(view_tokens(seen.messages or ()) > budget)
    return Found(method, talk.name, budget, question.category, recall, chance, over)
