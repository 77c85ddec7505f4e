"""A store in one SQLite file, shared by any number of threads and processes of one machine."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tiered_core.errors import StoreError
from tiered_core.stores.protocol import Commit, NewRow, Row, StoredState
from tiered_core.stores.twins import AsyncTwins

SCHEMA_VERSION = 1
BUSY_SECONDS = 60
_CHUNK = 500  # SQLite accepts 999 variables in the oldest builds that are still around

_SCHEMA = """
CREATE TABLE log (session TEXT NOT NULL, seq INTEGER NOT NULL, kind TEXT NOT NULL, id TEXT NOT NULL, meta TEXT NOT NULL,
    keep INTEGER NOT NULL, PRIMARY KEY (session, seq)) WITHOUT ROWID;
CREATE TABLE body (session TEXT NOT NULL, seq INTEGER NOT NULL, text BLOB NOT NULL, PRIMARY KEY (session, seq));
CREATE TABLE state (session TEXT PRIMARY KEY, version INTEGER NOT NULL, text TEXT NOT NULL);
CREATE TABLE rendering (session TEXT NOT NULL, seq INTEGER NOT NULL, rung TEXT NOT NULL, text BLOB NOT NULL,
    PRIMARY KEY (session, seq, rung));
CREATE TABLE handle (session TEXT NOT NULL, number INTEGER NOT NULL, seq INTEGER NOT NULL,
    PRIMARY KEY (session, number));
CREATE TABLE event (session TEXT NOT NULL, number INTEGER PRIMARY KEY AUTOINCREMENT, text BLOB NOT NULL);
CREATE INDEX event_session ON event (session);
"""


def _blob(text: str) -> bytes:
    """Text as bytes that hold lone surrogates too, which SQLite's TEXT can't."""
    return text.encode("utf-8", "surrogatepass")


def _text(blob: bytes) -> str:
    return blob.decode("utf-8", "surrogatepass")


class SQLiteStore(AsyncTwins):
    """Keeps sessions in a SQLite file; see `ConversationStore`.

    What was acknowledged survives a killed process and a power failure (write-ahead log, synchronous=FULL).

    Args:
        path: of the file; made, with its folder, when it doesn't exist.

    Raises:
        StoreError: the file can't be opened, is no store, or is of a newer version.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = str(path)
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._process = os.getpid()
        self._closed = False
        with self._lock, self._errors():
            self._open()

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise StoreError(
                f"the SQLite store {self.path!r} failed: {error}; "
                "check that the path is writable and the file is not damaged"
            ) from error

    def _open(self) -> sqlite3.Connection:
        if self._closed:
            raise StoreError(f"the SQLite store {self.path!r} is closed; open a new one")
        if self._connection is None or self._process != os.getpid():
            path = self.path
            if path != ":memory:":
                path = str(Path(path).expanduser().resolve())
                Path(path).parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
            try:
                connection.execute("PRAGMA journal_mode=WAL")
                connection.execute("PRAGMA synchronous=FULL")
                self._prepare(connection)
            except BaseException:
                connection.close()
                raise
            self._connection, self._process = connection, os.getpid()
        return self._connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        if connection.execute("PRAGMA user_version").fetchone()[0] == SCHEMA_VERSION:
            return
        connection.execute("BEGIN IMMEDIATE")
        try:
            found = connection.execute("PRAGMA user_version").fetchone()[0]
            if found > SCHEMA_VERSION:
                raise StoreError(
                    f"the SQLite store {self.path!r} has version {found}, this tiered-context knows up to "
                    f"{SCHEMA_VERSION}: upgrade tiered-context to open it"
                )
            if found < SCHEMA_VERSION:
                if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                    raise StoreError(f"{self.path!r} is a SQLite file of something else; choose another path")
                for statement in _SCHEMA.split(";\n"):
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}")
            connection.execute("COMMIT")
        except BaseException:
            connection.execute("ROLLBACK")
            raise

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with self._lock, self._errors():
            yield self._open()

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._lock, self._errors():
            connection = self._open()
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")

    def read(self, session: str, after: int = 0) -> Sequence[Row]:
        """See `ConversationStore.read`."""
        with self._reading() as connection:
            query = "SELECT seq, kind, id, meta, keep FROM log WHERE session = ? AND seq > ? ORDER BY seq"
            return [Row(*row) for row in connection.execute(query, (session, after))]

    def bodies(self, session: str, seqs: Sequence[int]) -> dict[int, str]:
        """See `ConversationStore.bodies`."""
        with self._reading() as connection:
            out: dict[int, str] = {}
            for start in range(0, len(seqs), _CHUNK):
                part = list(seqs[start : start + _CHUNK])
                marks = ",".join("?" * len(part))
                query = f"SELECT seq, text FROM body WHERE session = ? AND seq IN ({marks})"  # noqa: S608 - marks only
                out.update((seq, _text(text)) for seq, text in connection.execute(query, (session, *part)))
            return out

    def append(self, session: str, after: int, rows: Sequence[NewRow]) -> bool:
        """See `ConversationStore.append`."""
        with self._writing() as connection:
            last = connection.execute("SELECT max(seq) FROM log WHERE session = ?", (session,)).fetchone()[0] or 0
            if last != after:
                return False
            numbered = list(enumerate(rows, after + 1))
            connection.executemany(
                "INSERT INTO log VALUES (?, ?, ?, ?, ?, ?)",
                [(session, seq, row.kind, row.id, row.meta, row.keep) for seq, row in numbered],
            )
            connection.executemany(
                "INSERT INTO body VALUES (?, ?, ?)",
                [(session, seq, _blob(row.body)) for seq, row in numbered if row.kind == "message"],
            )
            return True

    def state(self, session: str) -> StoredState:
        """See `ConversationStore.state`."""
        with self._reading() as connection:
            row = connection.execute("SELECT version, text FROM state WHERE session = ?", (session,)).fetchone()
            return StoredState(*row) if row else StoredState()

    def commit(self, session: str, commit: Commit) -> bool:
        """See `ConversationStore.commit`."""
        with self._writing() as connection:
            row = connection.execute("SELECT version FROM state WHERE session = ?", (session,)).fetchone()
            if (row[0] if row else 0) != commit.version:
                return False
            connection.execute(
                "INSERT OR REPLACE INTO state VALUES (?, ?, ?)", (session, commit.version + 1, commit.state)
            )
            connection.executemany(
                "INSERT OR REPLACE INTO rendering VALUES (?, ?, ?, ?)",
                [(session, seq, rung, _blob(text)) for seq, rung, text in commit.renderings],
            )
            connection.executemany(
                "INSERT OR REPLACE INTO handle VALUES (?, ?, ?)", [(session, n, seq) for n, seq in commit.handles]
            )
            connection.executemany(
                "INSERT INTO event (session, text) VALUES (?, ?)", [(session, _blob(text)) for text in commit.events]
            )
            return True

    def renderings(self, session: str, keys: Sequence[tuple[int, str]]) -> dict[tuple[int, str], str]:
        """See `ConversationStore.renderings`."""
        query = "SELECT text FROM rendering WHERE session = ? AND seq = ? AND rung = ?"
        with self._reading() as connection:
            found = ((key, connection.execute(query, (session, *key)).fetchone()) for key in keys)
            return {key: _text(row[0]) for key, row in found if row}

    def handle(self, session: str, number: int) -> int | None:
        """See `ConversationStore.handle`."""
        with self._reading() as connection:
            query = "SELECT seq FROM handle WHERE session = ? AND number = ?"
            row = connection.execute(query, (session, number)).fetchone()
            return int(row[0]) if row else None

    def events(self, session: str) -> Sequence[str]:
        """See `ConversationStore.events`."""
        with self._reading() as connection:
            query = "SELECT text FROM event WHERE session = ? ORDER BY number"
            return [_text(row[0]) for row in connection.execute(query, (session,))]

    def clear(self, session: str) -> None:
        """See `ConversationStore.clear`."""
        with self._writing() as connection:
            last = connection.execute("SELECT max(seq) FROM log WHERE session = ?", (session,)).fetchone()[0] or 0
            row = connection.execute("SELECT version FROM state WHERE session = ?", (session,)).fetchone()
            for table in ("log", "body", "state", "rendering", "handle", "event"):
                connection.execute(f"DELETE FROM {table} WHERE session = ?", (session,))  # noqa: S608 - our own names
            connection.execute("INSERT INTO log VALUES (?, ?, 'clear', '', '', 0)", (session, last + 1))
            connection.execute("INSERT INTO state VALUES (?, ?, '')", (session, (row[0] if row else 0) + 1))

    def sessions(self) -> Sequence[str]:
        """See `ConversationStore.sessions`."""
        with self._reading() as connection:
            return [row[0] for row in connection.execute("SELECT DISTINCT session FROM log ORDER BY session")]

    def close(self) -> None:
        """See `ConversationStore.close`."""
        with self._lock, self._errors():
            if self._connection is not None and self._process == os.getpid():
                self._connection.close()
            self._connection, self._closed = None, True

    def __del__(self) -> None:
        connection = getattr(self, "_connection", None)
        if connection is not None and self._process == os.getpid():
            connection.close()
