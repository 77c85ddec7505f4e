"""Where conversations are kept: one Protocol, one file per store."""

from __future__ import annotations

from tiered_core.errors import StoreError
from tiered_core.stores.memory import MemoryStore
from tiered_core.stores.protocol import Commit, ConversationStore, NewRow, Row, StoredState
from tiered_core.stores.sqlite import SQLiteStore

__all__ = ["Commit", "ConversationStore", "MemoryStore", "NewRow", "Row", "SQLiteStore", "StoredState", "open_store"]

_SQLITE = "sqlite:///"


def open_store(store: str | ConversationStore | None) -> tuple[ConversationStore, bool]:
    """The store that was asked for, and whether it was opened here (and so has to be closed here).

    Args:
        store: None for a store in memory, "sqlite:///relative.db" or "sqlite:////absolute.db", or a store.

    Raises:
        StoreError: the address is of no known kind, or the store can't be opened.
    """
    if store is None:
        return MemoryStore(), True
    if not isinstance(store, str):
        return store, False
    if store.startswith(_SQLITE) and len(store) > len(_SQLITE):
        return SQLiteStore(store[len(_SQLITE) :]), True
    raise StoreError(
        f"no store for {store!r}; this version knows None (memory), 'sqlite:///file.db' and a store object"
    )
