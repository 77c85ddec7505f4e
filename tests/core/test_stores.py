"""Both stores pass the conformance kit, and the SQLite store what only a file can be asked for."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from tests.core.histories import figure
from tiered_core import ConversationStore, MemoryStore, SQLiteStore, StoreError, TieredContext, open_store
from tiered_core.testing import StoreConformance


class TestMemoryStore(StoreConformance):
    """The store in memory."""

    durable = False

    def open_store(self, folder: Path) -> ConversationStore:
        del folder
        return MemoryStore()


class TestSQLiteStore(StoreConformance):
    """The store in a file."""

    def open_store(self, folder: Path) -> ConversationStore:
        return SQLiteStore(folder / "chat.db")


def test_unknown_address() -> None:
    """An address of no known kind is refused with the ones there are."""
    with pytest.raises(StoreError, match=r"sqlite:///file\.db"):
        open_store("mysql://host/db")


def test_foreign_and_newer_files_are_refused(tmp_path: Path) -> None:
    """A SQLite file of something else, a newer one, and no SQLite file are refused by name and left alone."""
    foreign, newer, text = tmp_path / "foreign.db", tmp_path / "newer.db", tmp_path / "text.db"
    with sqlite3.connect(foreign) as connection:
        connection.execute("CREATE TABLE mine (x)")
    connection.close()
    SQLiteStore(newer).close()
    with sqlite3.connect(newer) as connection:
        connection.execute("PRAGMA user_version=99")
    connection.close()
    text.write_text("not a database, but long enough to be looked at as one" * 40)
    for path, words in ((foreign, "something else"), (newer, "upgrade tiered-context"), (text, "not a database")):
        with pytest.raises(StoreError, match=words):
            SQLiteStore(path)
    assert text.read_text().startswith("not a database")


def test_closed_store_says_so(tmp_path: Path) -> None:
    """A closed store raises a StoreError, and closing twice is harmless."""
    store = SQLiteStore(tmp_path / "chat.db")
    store.close()
    store.close()
    with pytest.raises(StoreError, match="closed"):
        store.read("s")


_WRITER = """
import sys
from tiered_core import TieredContext
def characters(message):
    return len(message if isinstance(message, str) else message["content"])
address = "sqlite:///" + sys.argv[1]
context = TieredContext(300, session_id="s", store=address, token_counter=characters)
for k in range(100000):
    context.add([{"role": "user", "content": f"{sys.argv[2]} {k} " + "x" * 2000}])
    print(k, flush=True)
"""


def test_killed_writers_lose_nothing_acknowledged(tmp_path: Path) -> None:
    """Two killed writers of one session: all that was acknowledged is there once, in order (P7)."""
    path = str(tmp_path / "chat.db")
    writers = [
        subprocess.Popen([sys.executable, "-c", _WRITER, path, name], stdout=subprocess.PIPE, text=True)
        for name in ("a", "b")
    ]
    streams = [writer.stdout for writer in writers if writer.stdout is not None]
    read = [sum(1 for _ in zip(range(20), stream, strict=False)) for stream in streams]
    for writer in writers:
        writer.kill()
    acknowledged = [
        (name, count + stream.read().count("\n")) for name, count, stream in zip("ab", read, streams, strict=True)
    ]
    for writer, stream in zip(writers, streams, strict=True):
        writer.wait()
        stream.close()
    assert read == [20, 20]
    with TieredContext(300, session_id="s", store="sqlite:///" + path, token_counter=figure) as context:
        texts = [m["content"].split(" ")[:2] for m in context.transcript()]
        for name, count in acknowledged:
            mine = [int(k) for n, k in texts if n == name]
            assert mine == list(range(len(mine)))
            assert len(mine) in (count, count + 1)
        context.add([{"role": "user", "content": "after the crash"}])
        assert context.view()[-1]["content"] == "after the crash"
        for event in context.events():
            if event.handle:
                assert context.recall(event.handle, limit_tokens=None).total > 0


def test_reopened_session_gives_the_same_view(tmp_path: Path) -> None:
    """A session that is opened again, and another open instance, show the same bytes."""
    address = f"sqlite:///{tmp_path / 'chat.db'}"
    one = TieredContext(600, store=address, token_counter=figure)
    two = TieredContext(600, store=address, token_counter=figure)
    for k in range(12):
        one.add([{"role": "user", "content": f"question {k}"}])
        calls = [{"id": "c", "type": "function", "function": {"name": "q", "arguments": "{}"}}]
        two.add([{"role": "assistant", "content": "", "tool_calls": calls}])
        one.add([{"role": "tool", "tool_call_id": "c", "content": "a,b\n" + "1,2\n" * 300}])
        assert one.view() == two.view()
    view = one.view()
    one.close()
    two.close()
    with TieredContext(600, store=address, token_counter=figure) as again:
        assert again.view() == view
        assert len(again.transcript()) == 36
