"""Groups and turns: which result belongs to which call."""

from __future__ import annotations

from tiered_core.turns import lay_out
from tiered_core.types import Entry, Group, Turn


def entries(*lines: str) -> list[Entry]:
    """One entry per line: "s", "u", "a", "a c1 c2" (calls) or "t c1" (result); "-" stands for a missing id."""
    roles = {"s": "system", "u": "user", "a": "assistant", "t": "tool"}
    out = []
    for position, line in enumerate(lines):
        letter, *ids = line.split()
        links = tuple(None if i == "-" else i for i in ids)
        out.append(
            Entry(
                f"m{position}", roles[letter], "text", 10, position=position,  # type: ignore[arg-type]
                calls=links if letter == "a" else (), answers=links if letter == "t" else (),
            )
        )  # fmt: skip
    return out


def test_parallel_and_reversed_results() -> None:
    """Results of parallel calls stay in transcript order, directly behind their call."""
    layout = lay_out(entries("s", "u", "a c1 c2", "t c2", "t c1", "a"))
    assert layout.systems == (0,)
    assert layout.turns == (Turn(1, (Group(2, (3, 4)), Group(5))),)
    assert layout.strays == layout.moved == ()


def test_interleaved_results() -> None:
    """A result that comes after the next call goes to its own call, and is reported as moved."""
    layout = lay_out(entries("u", "a c1", "a c2", "t c1", "t c2"))
    assert layout.turns == (Turn(0, (Group(1, (3,)), Group(2, (4,)))),)
    assert layout.moved == (3,)


def test_reused_ids_pair_with_the_nearest_open_call() -> None:
    """The same call id twice: each result answers the newest call of that id that has none yet."""
    layout = lay_out(entries("u", "a c1", "t c1", "a c1", "t c1", "t c1"))
    assert layout.turns == (Turn(0, (Group(1, (2,)), Group(3, (4,)))),)
    assert layout.strays == (5,)


def test_missing_ids_pair_by_position() -> None:
    """A result without an id answers the newest open call; a call without an id takes any result."""
    assert lay_out(entries("u", "a c1", "t -")).turns == (Turn(0, (Group(1, (2,)),)),)
    assert lay_out(entries("u", "a -", "t c7")).turns == (Turn(0, (Group(1, (2,)),)),)


def test_dead_and_pending_calls() -> None:
    """A call without result is pending while nothing follows it, and dead as soon as the talk goes on."""
    assert lay_out(entries("u", "a c1 c2", "t c1")).turns == (Turn(0, (Group(1, (2,), (), pending=True),)),)
    layout = lay_out(entries("u", "a c1 c2", "t c1", "u"))
    assert layout.turns == (Turn(0, (Group(1, (2,), ("c2",)),)), Turn(3))


def test_late_result_goes_to_its_call() -> None:
    """A result that comes after the next user message still belongs to its call's turn."""
    layout = lay_out(entries("u", "a c1", "u", "t c1", "a"))
    assert layout.turns == (Turn(0, (Group(1, (3,)),)), Turn(2, (Group(4),)))
    assert layout.moved == (3,)


def test_strays() -> None:
    """Results without any call stand nowhere."""
    layout = lay_out(entries("t c1", "u", "t c2", "a"))
    assert layout.strays == (0, 2)
    assert layout.turns == (Turn(1, (Group(3),)),)


def test_talk_before_the_first_user_message() -> None:
    """What the assistant says first is a turn without a user message."""
    assert lay_out(entries("a", "a", "u")).turns == (Turn(None, (Group(0), Group(1))), Turn(2))
