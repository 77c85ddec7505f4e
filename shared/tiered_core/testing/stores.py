"""What every store must satisfy. Needs pytest; the async checks run their own event loop."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any, ClassVar

from tiered_core.stores.protocol import Commit, ConversationStore, NewRow

ODD_TEXTS = [
    "",
    "plain",
    "\x00 NUL",
    "line\r\nend\u2028",
    "\ud800 lone",
    "😀 日本語",
    "'; DROP TABLE log; --",
    "a" * 100_000,
]


def _message(text: str, id: str = "") -> NewRow:
    return NewRow("message", id or f"id-{text[:8]!r}", "u[]", text)


class StoreConformance:
    """Subclass it, name the class `Test…`, and give `open_store`."""

    durable: ClassVar[bool] = True
    """Whether what was written is there for an instance that is opened later on the same folder."""

    def open_store(self, folder: Path) -> ConversationStore:
        """A store on a folder; called twice with one folder for two instances on the same data."""
        raise NotImplementedError(f"{type(self).__name__} has to give open_store(folder)")

    def test_rows_come_back_in_order(self, tmp_path: Path) -> None:
        """Rows are numbered from 1 in the order in which they were appended, and bodies come back exactly."""
        store = self.open_store(tmp_path)
        rows = [_message(text, f"m{k}") for k, text in enumerate(ODD_TEXTS)]
        assert store.append("s", 0, rows[:3])
        assert store.append("s", 3, rows[3:])
        assert [(r.seq, r.kind, r.id) for r in store.read("s")] == [
            (k + 1, "message", f"m{k}") for k in range(len(rows))
        ]
        assert [r.seq for r in store.read("s", 5)] == list(range(6, len(rows) + 1))
        assert store.bodies("s", [1, 2, 3, 99]) == {1: ODD_TEXTS[0], 2: ODD_TEXTS[1], 3: ODD_TEXTS[2]}
        assert list(store.bodies("s", range(1, len(rows) + 1)).values()) == ODD_TEXTS
        store.close()

    def test_append_compares_first(self, tmp_path: Path) -> None:
        """An append on top of a row that is no longer the last one does nothing and says so."""
        store = self.open_store(tmp_path)
        assert store.append("s", 0, [_message("one")])
        assert not store.append("s", 0, [_message("two")])
        assert not store.append("s", 2, [_message("two")])
        assert [r.seq for r in store.read("s")] == [1]
        store.close()

    def test_sessions_are_apart(self, tmp_path: Path) -> None:
        """Sessions share nothing, whatever their names are."""
        store = self.open_store(tmp_path)
        names = ["a", "A", "a'b", "a/b", "日本", " "]
        for name in names:
            assert store.append(name, 0, [_message(name)])
            assert store.commit(name, Commit(0, name, [(1, "1:5:5", name)], [(1, 1)], [name]))
        assert list(store.sessions()) == sorted(names)
        for name in names:
            assert store.bodies(name, [1]) == {1: name}
            assert store.state(name).text == name
            assert store.renderings(name, [(1, "1:5:5")]) == {(1, "1:5:5"): name}
            assert list(store.events(name)) == [name]
        store.close()

    def test_commit_compares_first_and_is_whole(self, tmp_path: Path) -> None:
        """A commit on an old version writes nothing at all; a good one writes everything."""
        store = self.open_store(tmp_path)
        store.append("s", 0, [_message("one"), _message("two")])
        assert store.state("s").version == 0
        assert store.commit("s", Commit(0, "first", [(1, "2:40:20", "r")], [(1, 1)], ["e1"]))
        assert not store.commit("s", Commit(0, "late", [(2, "2:40:20", "r")], [(2, 2)], ["e2"]))
        assert (store.state("s").version, store.state("s").text) == (1, "first")
        assert store.handle("s", 1) == 1
        assert store.handle("s", 2) is None
        assert store.renderings("s", [(1, "2:40:20"), (2, "2:40:20")]) == {(1, "2:40:20"): "r"}
        assert store.commit("s", Commit(1, "second", events=["e2"]))
        assert list(store.events("s")) == ["e1", "e2"]
        store.close()

    def test_rewind_keeps_bodies(self, tmp_path: Path) -> None:
        """After a rewind the rows and bodies before it are still there."""
        store = self.open_store(tmp_path)
        store.append("s", 0, [_message("one"), _message("two")])
        store.append("s", 2, [NewRow("rewind", keep=1), _message("other")])
        assert [(r.kind, r.keep) for r in store.read("s", 2)] == [("rewind", 1), ("message", 0)]
        assert store.bodies("s", [2, 4]) == {2: "two", 4: "other"}
        store.close()

    def test_clear_deletes_and_numbering_goes_on(self, tmp_path: Path) -> None:
        """A clear deletes all content; an instance that knew the old rows learns of it by the next row."""
        store = self.open_store(tmp_path)
        store.append("s", 0, [_message("one"), _message("two")])
        store.commit("s", Commit(0, "state", [(1, "2:40:20", "r")], [(1, 1)], ["e"]))
        store.append("other", 0, [_message("stays")])
        store.clear("s")
        assert [(r.seq, r.kind) for r in store.read("s", 2)] == [(3, "clear")]
        assert [(r.seq, r.kind) for r in store.read("s")] == [(3, "clear")]
        assert store.bodies("s", [1, 2]) == {}
        assert store.state("s").text == ""
        assert store.state("s").version == 2
        assert store.handle("s", 1) is None
        assert list(store.events("s")) == []
        assert store.append("s", 3, [_message("new")])
        assert store.bodies("other", [1]) == {1: "stays"}
        store.close()

    def test_threads_lose_nothing(self, tmp_path: Path) -> None:
        """Appends from many threads, each retried until it is acknowledged, are all there once."""
        store = self.open_store(tmp_path)

        def work(name: str) -> None:
            for k in range(10):
                while True:
                    rows = store.read("s")
                    if store.append("s", rows[-1].seq if rows else 0, [_message(f"{name}-{k}", f"{name}-{k}")]):
                        break

        threads = [threading.Thread(target=work, args=(f"t{k}",)) for k in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        rows = store.read("s")
        assert [r.seq for r in rows] == list(range(1, 61))
        assert len({r.id for r in rows}) == 60
        for name in ("t0", "t5"):
            mine = [r.id for r in rows if r.id.startswith(f"{name}-")]
            assert mine == [f"{name}-{k}" for k in range(10)]
        store.close()

    def test_two_instances_see_each_other(self, tmp_path: Path) -> None:
        """What one open instance appends is seen by another one; it is there after closing."""
        if not self.durable:
            return
        one, two = self.open_store(tmp_path), self.open_store(tmp_path)
        assert one.append("s", 0, [_message("one")])
        assert [r.seq for r in two.read("s")] == [1]
        assert two.append("s", 1, [_message("two")])
        assert not one.append("s", 1, [_message("three")])
        one.close()
        two.close()
        again = self.open_store(tmp_path)
        assert again.bodies("s", [1, 2]) == {1: "one", 2: "two"}
        again.close()

    def test_async_twins(self, tmp_path: Path) -> None:
        """Every async method does what its synchronous twin does."""
        store = self.open_store(tmp_path)

        async def use() -> list[Any]:
            assert await store.aappend("s", 0, [_message("one", "m")])
            assert await store.acommit("s", Commit(0, "st", [(1, "k", "r")], [(7, 1)], ["e"]))
            return [
                [r.id for r in await store.aread("s")], await store.abodies("s", [1]), (await store.astate("s")).text,
                await store.arenderings("s", [(1, "k")]), await store.ahandle("s", 7), list(await store.aevents("s")),
                list(await store.asessions()),
            ]  # fmt: skip

        expected = [["m"], {1: "one"}, "st", {(1, "k"): "r"}, 1, ["e"], ["s"]]
        assert asyncio.run(use()) == expected
        sync = [
            [r.id for r in store.read("s")], store.bodies("s", [1]), store.state("s").text,
            store.renderings("s", [(1, "k")]), store.handle("s", 7), list(store.events("s")), list(store.sessions()),
        ]  # fmt: skip
        assert sync == expected
        asyncio.run(store.aclear("s"))
        assert store.bodies("s", [1]) == {}
        asyncio.run(store.aclose())
