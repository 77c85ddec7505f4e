"""One `TieredContext` per LangGraph thread, brought to what the checkpoint at hand says before it is used."""

from __future__ import annotations

import threading
import uuid
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from langgraph.config import get_config

from langchain_tiered.options import ContextOptions, open_context
from tiered_core import ConversationStore, MemoryStore, TieredContext, open_store
from tiered_core.drive import Gate


@dataclass(frozen=True, slots=True)
class Address:
    """Which conversation a call belongs to.

    Attributes:
        thread: LangGraph's thread id; None where the graph runs without one.
        inside: name space of the graph that calls, "" for the outermost; an agent in an agent has its own messages.
        run: stands for the conversation where there is no thread.
    """

    thread: str | None
    inside: str = ""
    run: str = ""

    @property
    def session(self) -> str:
        """Name of the conversation in a store."""
        thread = None if self.thread is None else self.thread.replace("|", "||") or "|"
        return "|".join(filter(None, (thread, self.inside, self.run)))


@dataclass(slots=True)
class Thread:
    """A context with what was last written into a checkpoint of it.

    Attributes:
        context: the conversation.
        gate: lets one call at a time bring the context to its checkpoint and read the view.
        exported: the state that the context has, as text; "" when it has none yet.
        margin: tokens to leave free because a provider refused a request that our figures let pass.
    """

    context: TieredContext
    gate: Gate = field(default_factory=Gate)
    exported: str = ""
    margin: int = 0

    def enter(self, kept: Mapping[str, Any] | None, messages: Sequence[Any]) -> None:
        """Brings the context to a checkpoint: its messages, and the state that was kept beside them."""
        if kept and kept["state"] != self.exported:
            self.context.restore(kept["state"], messages)
            self.exported = kept["state"]
        else:
            self.context.replace(messages)

    async def aenter(self, kept: Mapping[str, Any] | None, messages: Sequence[Any]) -> None:
        """See `enter`."""
        if kept and kept["state"] != self.exported:
            await self.context.arestore(kept["state"], messages)
            self.exported = kept["state"]
        else:
            await self.context.areplace(messages)


class Threads:
    """The threads that this process has at hand, the most recently used ones.

    Args:
        options: of every context.
        most: how many are held.

    Raises:
        TieredError: an option can't be used.
    """

    def __init__(self, options: ContextOptions, most: int) -> None:
        self._options = options
        self._most = most
        self._lock = threading.Lock()
        self._held: OrderedDict[Address, Thread] = OrderedDict()
        # Raises here, not in the middle of a run, if an option can't be used.
        open_context("default", {**options, "store": None})
        store = options.get("store")
        # A store is opened once for all threads; a store in memory is one per thread, and goes with it.
        self.store: ConversationStore | None = None
        self._owns_store = False
        if store is not None:
            self.store, self._owns_store = open_store(store)

    def at(self, address: Address) -> Thread:
        """The thread at an address, opened if need be."""
        with self._lock:
            if address not in self._held:
                # What has no thread ends with its run: nobody could find it in a store again.
                shared = self.store if address.thread is not None else None
                store: ConversationStore = MemoryStore() if shared is None else shared
                options: ContextOptions = {**self._options, "store": store}
                self._held[address] = Thread(open_context(address.session, options))
            self._held.move_to_end(address)
            while len(self._held) > self._most:
                self._held.popitem(last=False)
            return self._held[address]

    def close(self) -> None:
        """Closes the store if it was opened here."""
        if self._owns_store and self.store is not None:
            self.store.close()


def address_of(runtime: Any, kept: Mapping[str, Any] | None) -> Address:
    """The address of the call that is running now.

    Args:
        runtime: of the graph node or tool; None outside of a graph.
        kept: what the checkpoint holds of us.
    """
    info = getattr(runtime, "execution_info", None)
    space = getattr(info, "checkpoint_ns", None) or _configured().get("checkpoint_ns") or ""
    inside = "|".join(map(_name, str(space).split("|")[:-1]))  # the last part is the node that runs
    thread = getattr(info, "thread_id", None) or _configured().get("thread_id")
    if thread is not None:
        return Address(str(thread), inside)
    return Address(None, run=kept["run"] if kept and kept.get("run") else uuid.uuid4().hex)


def _name(part: str) -> str:
    """A part of a name space that is the same in every run: a node's name without the id of its task.

    Agents that tools call keep the id: several of them may run at a time, each with a conversation of its own.
    """
    name = part.partition(":")[0]
    return part if name == "tools" else name


def _configured() -> Mapping[str, Any]:
    try:
        return get_config().get("configurable") or {}
    except RuntimeError:  # called outside of a graph
        return {}
