"""The contract of `TieredContext`, by example."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.core.histories import Message, assistant, figure, line, result, user
from tiered_core import (
    Body,
    Compacted,
    ContextBudgetExceededError,
    ContextEvent,
    MemoryStore,
    Room,
    StoreError,
    TieredContext,
    TieredError,
    TokenBudget,
    TranscriptError,
    fit,
    get_token_counter,
)
from tiered_core.stores import Commit
from tiered_core.testing.oracle import problems

TABLE = "id,carrier,delay\n" + "\n".join(f"{k},{'AA' if k % 3 else 'UA'},{k * 7 % 50}" for k in range(500))


def talk(turns: int, body: str = TABLE) -> list[Message]:
    out: list[Message] = [{"role": "system", "content": "You are an analyst."}]
    for k in range(turns):
        call = assistant("", f"c{k}", arguments=json.dumps({"sql": f"SELECT {k}"}))
        out += [user(f"Question {k}?"), call, result(f"c{k}", body), assistant(f"Answer {k}.")]
    return out


def test_large_results_enter_small_and_stay_so() -> None:
    """A result over its cap is shown with facts on the whole and a handle, and keeps that rendering byte for byte."""
    context = TieredContext(TokenBudget(context_window=20_000))
    context.add(talk(1)[:4])
    shown = context.view()[-1]["content"]
    count = get_token_counter(None).count_text
    assert count(shown) <= 500 < count(TABLE)
    for words in ("500 rows", "carrier", "r1"):
        assert words in shown
    mean = sum(k * 7 % 50 for k in range(500)) / 500
    assert f"{mean:g}" in shown
    for message in talk(4)[4:]:
        context.add([message])
        assert context.view()[3]["content"] == shown
    (event,) = [e for e in context.events() if e.positions == (3,)]
    assert (event.kind, event.handle, event.tier) == ("rendered", "r1", "results")
    assert context.recall("r1", limit_tokens=None).text == TABLE


def test_recall_piece_by_piece() -> None:
    """An original comes back in pieces that join to the same bytes, each within its limit."""
    context = TieredContext(2_000)
    context.add(talk(1)[:4])
    count = get_token_counter(None).count_text
    pieces, offset = [], 0
    while offset is not None:
        got = context.recall("[r1]", offset, limit_tokens=300)
        assert count(got.text) <= 300
        assert got.total == len(TABLE)
        pieces.append(got.text)
        offset = got.next_offset  # type: ignore[assignment]
    assert "".join(pieces) == TABLE
    assert len(pieces) > 5


@pytest.mark.parametrize("handle", ["r99", "x1", "", "r0", "r1 OR 1=1", None])
def test_unknown_handles(handle: Any) -> None:
    """A handle that isn't there is answered with a typed error."""
    context = TieredContext(2_000)
    context.add(talk(1))
    with pytest.raises(TranscriptError, match="handle"):
        context.recall(handle)


def test_recall_outside_of_the_text() -> None:
    """An offset outside of the original, and a limit below 1, are refused."""
    context = TieredContext(2_000)
    context.add(talk(1))
    with pytest.raises(TranscriptError, match="outside"):
        context.recall("r1", offset=10**9)
    with pytest.raises(TranscriptError, match="at least 1"):
        context.recall("r1", limit_tokens=0)


def test_one_batch_goes_to_the_low_watermark() -> None:
    """Usage grows to the high watermark, then one batch brings it to the low one, oldest results first, then turns."""
    context = TieredContext(3_000, token_counter=figure)
    used = []
    for message in talk(40, "x" * 400):
        context.add([message])
        used.append(sum(map(figure, context.view())))
    batches = [e for e in context.events() if e.kind == "batch"]
    assert 1 <= len(batches) <= 4
    assert all(b.tokens_before > 0.9 * 3_000 - 200 and b.tokens_after <= 0.6 * 3_000 for b in batches)
    kinds = [e.kind for e in context.events()]
    assert kinds.index("offloaded") < kinds.index("evicted")


def test_overhead_is_planned_for_and_read_deeper() -> None:
    """A read with more around it goes deeper for that read only; the next add plans for it."""
    context = TieredContext(3_000, token_counter=figure)
    context.add(talk(12, "x" * 400)[:30])
    before = context.view()
    deep = context.view(overhead_tokens=1_500)
    assert sum(map(figure, deep)) + 1_500 <= 3_000
    assert context.view(overhead_tokens=1_490) == deep
    assert context.view() == before
    context.add([user("next")])
    assert context.state().overhead == 1_500
    assert sum(map(figure, context.view())) + 1_500 <= 3_000


def test_replace_edits_regenerates_and_undoes() -> None:
    """A replaced transcript keeps its common start; what left it stays recallable by its handle."""
    context = TieredContext(TokenBudget(context_window=20_000))
    messages = talk(3)
    context.add(messages)
    view = context.view()
    handle = next(e.handle for e in context.events() if e.positions == (11,))
    context.replace(messages[:9])
    assert context.transcript() == messages[:9]
    assert context.view() == view[:9]
    context.replace([*messages[:9], user("Something else?"), assistant("Yes.")])
    assert context.view() == [*view[:9], user("Something else?"), assistant("Yes.")]
    assert handle is not None
    assert context.recall(handle, limit_tokens=None).text == TABLE
    taken = [e for e in context.events() if e.reason == "an edit took it out of the transcript"]
    assert [e.positions for e in taken] == [(9,), (10,), (11,), (12,)]
    words = [context.recall(e.handle or "", limit_tokens=None).text for e in taken]
    assert words[0] == "Question 2?"
    assert words[2] == TABLE
    assert words[3] == "Answer 2."
    context.replace([])
    assert context.view() == context.transcript() == []
    assert len({e.handle for e in context.events() if e.handle}) == 15


def test_replace_by_an_edited_view() -> None:
    """A host that takes back the last turn of a compacted view takes back nothing else of the transcript."""
    for taken in (-4, None):
        context = TieredContext(1_200, token_counter=figure)
        messages = talk(12, "x" * 400)
        for message in messages:
            context.add([message])
        view = context.view()
        assert len(view) < len(messages)
        edited = view[:taken] if taken else view[:1]  # the system text with the notice is all that is left
        context.replace(edited)
        shown = len(view) - 1
        assert context.transcript() == (messages[:taken] if taken else messages[:-shown])


def test_replace_by_a_part_of_the_transcript_means_it() -> None:
    """A list that holds nothing of ours is the new transcript, also where it begins like the view."""
    context = TieredContext(90, token_counter=figure)
    messages = [
        m for k in range(4) for m in (user(f"question {k} " + "w " * 20), assistant(f"answer {k} " + "z " * 20))
    ]
    for message in messages:
        context.add([message])
    view = context.view()
    assert view == messages[-len(view) :]
    context.replace(messages[-len(view) :])
    assert context.transcript() == view


def test_messages_are_copied() -> None:
    """Neither the caller's objects nor those of a view reach what is stored."""
    context = TieredContext(1_000)
    message = {"role": "user", "content": [{"type": "text", "text": "hello"}]}
    context.add([message])
    message["content"][0]["text"] = "altered"  # type: ignore[index]
    context.view()[0]["content"][0]["text"] = "altered"
    context.transcript()[0]["content"].clear()
    assert context.view() == context.transcript() == [{"role": "user", "content": [{"type": "text", "text": "hello"}]}]


@pytest.mark.parametrize(
    "bad", ["text", {"role": "tool", "content": 1}, [None], [{"content": "x"}], [{"role": "wizard"}], [object()]]
)
def test_bad_input_stores_nothing(bad: Any) -> None:
    """What is no list of messages is refused by name; good messages beside a bad one are not stored either."""
    context = TieredContext(1_000)
    with pytest.raises(TranscriptError):
        context.add(bad)
    with pytest.raises(TranscriptError):
        context.add([user("good"), *(bad if isinstance(bad, list) else [bad, 7])])
    assert context.transcript() == []


def test_single_message_larger_than_the_budget() -> None:
    """In every role a single message that is larger than the budget is shortened to head and tail, with a marker."""
    words = " ".join(f"word{k}" for k in range(3_000))
    for messages in (
        [user(words)],
        [user("short"), assistant(words), user("go on")],
        [user("read it"), assistant("", "c1"), result("c1", words)],
        [user("write it"), assistant("", "c1", arguments=json.dumps({"text": words})), result("c1", "done")],
    ):
        context = TieredContext(400)
        context.add(messages)
        view = context.view()
        assert sum(get_token_counter(None).count_messages([context.codec.read(m)]) for m in view) <= 400 + 3 * len(view)
        assert problems([line(m) for m in view], [line(m) for m in messages]) == []
        assert context.transcript() == messages
    assert json.loads(view[1]["tool_calls"][0]["function"]["arguments"])["text"].startswith("word0 word1")


def test_explain_and_report() -> None:
    """The report adds up to the view, and explain tells what became of a message."""
    context = TieredContext(700, token_counter=figure)
    for message in talk(12, "x" * 400):
        context.add([message])
    report = context.report()
    tiers = dict(report.tiers)
    assert tiers.pop("buffer") == 0
    assert sum(tiers.values()) == report.used
    assert report.used - 8 <= sum(map(figure, context.view())) <= report.used
    assert report.messages == 49
    assert report.to_dict()["level"] == report.level
    assert "by tier" in str(report)
    assert "<table>" in report._repr_html_()
    assert "recall with r" in context.explain(3)
    assert "not in the view" in context.explain(1)
    with pytest.raises(TranscriptError, match="there is no position 99"):
        context.explain(99)


def test_hooks_get_every_event() -> None:
    """Hooks see the same events, in the same order, as are stored."""
    seen: list[ContextEvent] = []
    context = TieredContext(900, token_counter=figure, hooks=[seen.append])
    for message in talk(6):
        context.add([message])
    assert seen == context.events()
    assert seen


def test_redact_comes_before_everything() -> None:
    """What redact removes is in no view, no transcript and no original."""
    context = TieredContext(900, redact=lambda text: text.replace("secret", "***"))
    context.add(
        [user("my secret"), assistant("", "c1", arguments='{"key": "secret"}'), result("c1", "secret," * 3_000)]
    )
    held = json.dumps([context.view(), context.transcript(), context.recall("r1", limit_tokens=None).text])
    assert "secret" not in held
    assert "***" in held


class _Loud:
    name, order = "loud", 0

    def __init__(self, answer: Compacted | Exception | None) -> None:
        self.answer = answer

    def can_compact(self, body: Body) -> bool:
        return True

    def estimate_savings(self, body: Body, room: Room) -> int:
        return body.tokens

    def compact(self, body: Body, room: Room) -> Compacted | None:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def test_own_compactors() -> None:
    """An own compactor is asked first; one that fails or overshoots is passed over, and nothing is lost."""
    good = TieredContext(5_000, compactors=[_Loud(Compacted("[my rendering]", 1, 500))])
    good.add(talk(1)[:4])
    assert good.view()[-1]["content"] == "[my rendering]"
    for answer in (ValueError("broken"), None, Compacted(TABLE * 2, 1, 1), Compacted("", 0, 1)):
        context = TieredContext(5_000, compactors=[_Loud(answer)])
        context.add(talk(1)[:4])
        assert "500 rows" in context.view()[-1]["content"]
        failed = [e.reason for e in context.events() if e.kind == "failed"]
        assert (failed != []) == isinstance(answer, Exception)
        assert all("'loud' raised ValueError('broken')" in reason for reason in failed)


def test_a_failing_hook_breaks_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """What a hook does wrong is logged; the message is stored, and the other hooks are called."""
    seen: list[ContextEvent] = []

    def broken(event: ContextEvent) -> None:
        raise ValueError("my hook")

    context = TieredContext(900, token_counter=figure, hooks=[broken, seen.append])
    context.add(talk(2))
    assert len(context.transcript()) == 9
    assert seen == context.events()
    assert "my hook" in caplog.text


def test_a_hook_may_read_the_context() -> None:
    """A hook that asks the context for a report, or adds to it, does not hang."""
    reports = []
    context = TieredContext(900, token_counter=figure, hooks=[lambda event: reports.append(context.report())])
    context.add(talk(3))
    assert len(reports) == len(context.events())


def test_export_and_restore_give_the_same_bytes() -> None:
    """A view that was exported and restored elsewhere, with the transcript, is byte-equal, handles included."""
    one = TieredContext(1_200)
    messages = talk(10)
    for message in messages:
        one.add([message])
    other = TieredContext(1_200)
    other.restore(one.export(), messages)
    assert other.view() == one.view()
    assert other.export() == one.export()
    handle = next(m.handle for m in one.state().rungs.values())
    assert other.recall(f"r{handle}", limit_tokens=None).text == one.recall(f"r{handle}", limit_tokens=None).text
    more = [user("more?"), assistant("yes")]
    one.add(more)
    other.replace([*messages, *more])
    assert other.view() == one.view()
    with pytest.raises(StoreError, match="upgrade"):
        other.restore('{"version": 99}', messages)
    with pytest.raises(StoreError, match="can't be read"):
        other.restore("nonsense", messages)


def test_restore_of_a_fork() -> None:
    """An older export with its messages brings back the view of that time, and the fork goes its own way."""
    context = TieredContext(1_200)
    messages = talk(10)
    exports = []
    views = []
    for count, message in enumerate(messages, 1):
        context.replace(messages[:count])
        exports.append(context.export())
        views.append(context.view())
        del message
    context.restore(exports[20], messages[:21])
    assert context.view() == views[20]
    context.replace([*messages[:21], user("another way")])
    assert context.view()[-1] == user("another way")


def test_newer_state_is_refused(tmp_path: Path) -> None:
    """A state of a newer version is refused by name, and left as it is."""
    import sqlite3

    path = tmp_path / "chat.db"
    with TieredContext(1_000, store=f"sqlite:///{path}") as context:
        context.add([user("hello")])
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE state SET text = replace(text, '\"version\":1', '\"version\":99')")
    connection.close()
    with TieredContext(1_000, store=f"sqlite:///{path}") as context, pytest.raises(StoreError, match="upgrade"):
        context.view()


def test_another_counter_recounts(tmp_path: Path) -> None:
    """A session that is opened with another counter is counted anew, and fits by that one."""
    address = f"sqlite:///{tmp_path / 'chat.db'}"
    with TieredContext(2_000, store=address) as context:
        context.add(talk(3))
    with TieredContext(2_000, store=address, token_counter=lambda m: 3 * figure(m)) as context:
        context.add([user("next")])
        assert sum(3 * figure(m) for m in context.view()) <= 2_000


def test_clear_deletes(tmp_path: Path) -> None:
    """After a clear nothing of the conversation is there, also for another open instance, and a new one begins."""
    address = f"sqlite:///{tmp_path / 'chat.db'}"
    with TieredContext(2_000, store=address) as one, TieredContext(2_000, store=address) as two:
        one.add(talk(2))
        assert two.view()
        one.clear()
        assert two.view() == two.transcript() == []
        with pytest.raises(TranscriptError):
            two.recall("r1")
        two.add([user("new")])
        assert one.view() == [user("new")]


def test_threads_on_one_context() -> None:
    """Adds from many threads are all there once, and every view on the way is legal."""
    context = TieredContext(2_000, token_counter=figure)

    def work(name: str) -> None:
        for k in range(20):
            context.add([user(f"{name} {k}")])
            assert sum(map(figure, context.view())) <= 2_000

    threads = [threading.Thread(target=work, args=(f"t{k}",)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(m["content"] for m in context.transcript()) == sorted(
        f"t{k} {j}" for k in range(6) for j in range(20)
    )


@pytest.mark.parametrize("where", ["memory", "file"])
def test_concurrent_tasks(where: str, tmp_path: Path) -> None:
    """51 concurrent adds lose nothing, and a synchronous call from inside the loop does not hang."""
    store = None if where == "memory" else f"sqlite:///{tmp_path / 'chat.db'}"

    async def use() -> list[Message]:
        async with TieredContext(5_000, store=store, token_counter=figure) as context:
            tasks = [asyncio.create_task(context.aadd([user(f"n {k}")])) for k in range(51)]
            await asyncio.sleep(0)
            context.add([user("from inside the loop")])
            await asyncio.gather(*tasks)
            return await context.atranscript()

    texts = sorted(m["content"] for m in asyncio.run(use()))
    assert texts == sorted([*(f"n {k}" for k in range(51)), "from inside the loop"])


def test_one_call_without_a_session() -> None:
    """`fit` fills the budget, leaves the given messages alone, and says what it cut."""
    messages = talk(12, "x" * 400)
    found = fit(messages, 1_000, token_counter=figure)
    used = sum(map(figure, found.messages))
    assert 800 < used <= 1_000
    assert problems([line(m) for m in found.messages], [line(m) for m in messages]) == []
    assert found.report.used == used
    assert any(e.kind == "offloaded" for e in found.events)
    assert messages == talk(12, "x" * 400)


_SCRIPT = """
import json, sys
from tests.core.test_session import talk
from tiered_core import TieredContext
context = TieredContext(1_200)
for message in talk(10):
    context.add([message])
print(json.dumps([context.view(), context.export()]))
"""


def test_same_bytes_under_any_hash_seed() -> None:
    """Views and exported state are the same bytes in processes with different hash seeds."""
    outputs = {
        subprocess.run(
            [sys.executable, "-c", _SCRIPT],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "42")
    }  # fmt: skip
    assert len(outputs) == 1


def test_wrong_arguments() -> None:
    """Session names and overheads that can't be meant are refused."""
    with pytest.raises(TieredError, match="session_id"):
        TieredContext(100, session_id="")
    with pytest.raises(TieredError, match="overhead_tokens"):
        TieredContext(100).view(overhead_tokens=-1)


def _thinking(size: int, call: str) -> Message:
    thought = {"type": "thinking", "thinking": "hm " * size, "signature": "s"}
    calls = [{"id": call, "type": "function", "function": {"name": "q", "arguments": "{}"}}]
    return {"role": "assistant", "content": [thought], "tool_calls": calls}


def test_what_did_not_fit_is_shown_again_when_it_does() -> None:
    """While signed thoughts fill the window the view is refused; what it would have cost is not given up for ever."""
    request = user("Which carrier is late, and why is that so on Mondays? " + "word " * 40)
    context = TieredContext(600)
    context.add([request])
    for call in ("a", "b"):
        context.add([_thinking(300, call), result(call, "42")])
    with pytest.raises(ContextBudgetExceededError):
        context.view()
    context.add([assistant("UA")])
    assert request in context.view()


def test_note_about_a_picture_leaves_room_for_the_words() -> None:
    """Where little room is left, it goes to the words of the request and not to the note about its picture."""
    content = [{"type": "text", "text": "Which carrier is late? " + "please " * 90},
               {"type": "image_url", "image_url": {"url": "https://example.org/y.png"}}]  # fmt: skip
    context = TieredContext(600)
    context.add([{"role": "user", "content": content}])
    for call in ("a", "b"):
        context.add([_thinking(225, call), result(call, "42")])
    shown = context.view()[0]["content"]
    assert shown[0]["text"].startswith("Which carrier is late?")


def test_an_overhead_that_never_fits_bricks_nothing(tmp_path: Path) -> None:
    """After a read that was refused for what stood around it, reads with less around them work as before."""
    address = f"sqlite:///{tmp_path / 'chat.db'}"
    with TieredContext(1_000, store=address) as context:
        context.add([user("hi")])
        for overhead in (5_000, 997):
            with pytest.raises(ContextBudgetExceededError):
                context.view(overhead_tokens=overhead)
            context.add([user("next")])
            assert context.view()[-1] == user("next")
        context.plan_for(5_000)
        context.add([user("planned")])
        assert context.view()[-1] == user("planned")


class _FailingStore(MemoryStore):
    """A store whose method of a name fails while `failing` is set."""

    def __init__(self) -> None:
        super().__init__()
        self.failing = ""

    def commit(self, session: str, commit: Commit) -> bool:
        if self.failing == "commit":
            raise StoreError("the disk is gone")
        return self.failing != "refuse" and super().commit(session, commit)


def test_a_failing_commit_loses_and_doubles_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """When only the state can't be stored the message is there once, and the next call settles."""
    store = _FailingStore()
    context = TieredContext(500, store=store, token_counter=figure)
    context.add(talk(1)[:3])
    store.failing = "commit"
    context.add(talk(1)[3:4])
    assert "the messages are stored, the state is not" in caplog.text
    store.failing = ""
    context.add(talk(1)[4:])
    assert context.transcript() == talk(1)
    assert any(e.kind == "rendered" for e in context.events())
    store.failing = "refuse"
    context.add([user("more")])
    assert "refused to commit 1,000 times" in caplog.text


def test_redact_reaches_everything_unsigned() -> None:
    """Reasoning, refusals, unknown blocks and nested arguments are redacted; ids, roles and signed thoughts are not."""
    signed = {"type": "thinking", "thinking": "secret", "signature": "secret"}
    message = {
        "role": "assistant", "refusal": "secret", "reasoning_content": "my secret", "id": "secret",
        "content": [{"type": "odd", "deep": {"note": "secret"}}, {"type": "thinking", "thinking": "secret"}, signed],
        "tool_calls": [{"id": "secret", "type": "function", "function": {"name": "q", "arguments": '{"k":"secret"}'}}],
    }  # fmt: skip
    context = TieredContext(5_000, redact=lambda text: text.replace("secret", "***"))
    context.add([user("go"), message, {"role": "assistant", "content": None}])
    held = context.transcript()
    assert held[2] == {"role": "assistant", "content": None}
    assert held[1]["id"] == held[1]["tool_calls"][0]["id"] == "secret"
    assert held[1]["content"][2] == signed
    assert json.dumps(held[1]).count("secret") == 4
    for broken in (lambda text: None, lambda text: 5):
        with pytest.raises(TieredError, match="redact gave back"):
            TieredContext(500, redact=broken).add([user("x")])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "message",
    [
        {"role": "assistant", "content": "", "tool_calls": "abc"},
        {"role": "assistant", "content": "", "tool_calls": [None]},
        {"role": "assistant", "content": "", "tool_calls": [{"function": "f"}]},
        {"role": "user", "content": [{"type": ["text"]}]},
        {"role": "user", "content": [{"type": "image_url", "image_url": 5}]},
    ],
)
def test_malformed_messages_are_refused_by_name(message: Message) -> None:
    """A message of no known form is refused with its index, or read as an unknown block; never a bare error."""
    context = TieredContext(500)
    try:
        context.add([user("good"), message])
    except TranscriptError as error:
        assert "message 1 of 2" in str(error)  # noqa: PT017 - both ways are right
        assert context.transcript() == []
    else:
        assert context.transcript() == [user("good"), message]


@pytest.mark.parametrize("messages", [None, 5, {}, iter([])])
def test_replace_wants_a_list(messages: Any) -> None:
    """What is no list of messages is refused by name, by `replace` and `fit` as by `add`."""
    with pytest.raises(TranscriptError, match="expected a list of messages"):
        TieredContext(100).replace(messages)
    with pytest.raises(TranscriptError, match="expected a list of messages"):
        fit(messages, 100)


def test_deep_arguments_are_no_trouble() -> None:
    """Call arguments nested deeper than Python's stack are shortened like any text."""
    context = TieredContext(200)
    call = assistant("", "c1", arguments="[" * 3_000 + "]" * 3_000)
    context.add([user("go"), call, result("c1", "42")])
    assert [m["role"] for m in context.view()] == ["user", "assistant", "tool"]


def test_an_async_call_from_a_hook_does_not_hang() -> None:
    """A hook of a synchronous add may run an async read of the same context."""
    views: list[Any] = []
    context = TieredContext(
        900, token_counter=figure, hooks=[lambda event: views.append(asyncio.run(asyncio.wait_for(context.aview(), 5)))]
    )
    context.add(talk(2))
    assert views


def test_the_state_does_not_grow_with_the_session() -> None:
    """Calls without results in every turn leave no trace in the state once their turn has left the view."""
    context = TieredContext(600, token_counter=figure)
    sizes = []
    for k in range(120):
        context.add([user(f"question {k}"), assistant("", "c1"), user("go on"), assistant("well, " * 20)])
        sizes.append(len(context.state().to_json()))
    assert max(sizes[60:]) <= max(sizes[:60]) + 20
    repaired = [e.ids for e in context.events() if e.kind == "repaired"]
    assert len(repaired) == len(set(repaired)) == 120
