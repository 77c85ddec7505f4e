"""Which messages are new: agents, retries and wrappers add the same ones again."""

from __future__ import annotations

from tests.core.histories import assistant, figure, result, user
from tiered_core import TieredContext


def contents(context: TieredContext) -> list[str]:
    return [m["content"] for m in context.transcript()]


def test_two_equal_messages_both_stay() -> None:
    """A user who says "yes" twice said it twice."""
    context = TieredContext(1_000, token_counter=figure)
    for _ in range(2):
        context.add([user("yes")])
        context.add([user("yes"), assistant("ok")])
    assert contents(context) == ["yes", "yes", "ok", "yes", "yes", "ok"]


def test_whole_transcript_again() -> None:
    """An agent that returns the whole history adds only what is new."""
    context = TieredContext(1_000, token_counter=figure)
    first = [user("one"), assistant("1"), user("two"), assistant("2")]
    context.add(first)
    context.add([*first, user("three"), assistant("3")])
    assert contents(context) == ["one", "1", "two", "2", "three", "3"]


def test_question_before_and_inside_the_answer() -> None:
    """A wrapper adds the question, and the agent's answer holds history, question and answer: each is stored once."""
    context = TieredContext(1_000, token_counter=figure)
    context.add([user("one"), {**user("one"), "id": "m1"}, {**assistant("1"), "id": "m2"}])
    assert contents(context) == ["one", "1"]
    history = context.view()
    context.add([user("two"), *history, {**user("two"), "id": "m3"}, {**assistant("2"), "id": "m4"}])
    assert contents(context) == ["one", "1", "two", "2"]


def test_compacted_view_again() -> None:
    """An agent that saw a compacted view and returns it adds only what is new."""
    context = TieredContext(700, token_counter=figure)
    context.add([{"role": "system", "content": "Be brief."}])
    for k in range(8):
        table = "a,b\n" + "1,2\n" * 300
        context.add([user(f"q{k}"), assistant("", f"c{k}"), result(f"c{k}", table), assistant(f"a{k}")])
    view, before = context.view(), contents(context)
    assert len(view) < len(before)
    context.add([user("next"), *view, {**user("next"), "id": "n1"}, {**assistant("done"), "id": "n2"}])
    assert contents(context) == [*before, "next", "done"]


def test_the_same_exchange_twice() -> None:
    """A whole exchange that repeats all that was said so far was said twice, with other ids or without any."""
    for ids in ((None, None), ("1", "2")):
        context = TieredContext(1_000, token_counter=figure)
        for k in range(3):
            marks = [{} if i is None else {"id": f"{i}-{k}"} for i in ids]
            context.add([{**user("hi"), **marks[0]}, {**assistant("Hello!"), **marks[1]}])
        assert contents(context) == ["hi", "Hello!"] * 3


def test_known_id_is_not_stored_twice() -> None:
    """A retry of the last message is recognised by its id; the same id with other content is another message."""
    context = TieredContext(1_000, token_counter=figure)
    message = {"role": "user", "content": "one", "id": "m1"}
    context.add([message])
    context.add([message])
    assert contents(context) == ["one"]
    context.add([{**message, "content": "two"}])
    assert contents(context) == ["one", "two"]


def test_same_object_as_a_later_answer() -> None:
    """A model that gives the same object, with the same id, for two questions has answered twice."""
    context = TieredContext(1_000, token_counter=figure)
    answer = {"role": "assistant", "content": "ok", "id": "a1"}
    context.add([user("one"), answer])
    context.add([user("two"), answer])
    assert contents(context) == ["one", "ok", "two", "ok"]
