"""Fits the messages of single model calls, and remembers what each conversation was shown, so that its prefix stays."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Sequence
from typing import Any

from llama_index.core.base.llms.types import ChatMessage

from llama_tiered.buffer import TieredChatMemoryBuffer
from tiered_core import Recalled, TieredContext, TranscriptError
from tiered_core.recognise import common_prefix

_THREADS = 8
_HANDLES = 100_000


class _Thread:
    """One run of calls that extend each other."""

    def __init__(self, context: TieredContext) -> None:
        self.context = context
        self.digests: list[str] = []
        self.lock = threading.Lock()


class Fitter:
    """Fits calls; one that goes on where an earlier call stood is taken to belong to the same conversation.

    At most eight conversations are remembered, those of the latest calls; one that is forgotten is fitted anew.

    Args:
        memory: whose budget, counter and strategy hold.
    """

    def __init__(self, memory: TieredChatMemoryBuffer) -> None:
        self._memory = memory
        self._limit = memory.token_limit
        self._threads: list[_Thread] = []
        self._made = 0
        self._lock = threading.Lock()

    def fit(self, messages: Sequence[ChatMessage], tools: Iterable[Any]) -> list[ChatMessage]:
        """The messages that fit beside the tools' definitions, as new objects.

        Args:
            messages: of a call.
            tools: LlamaIndex tools, or definitions as dicts.

        Raises:
            ContextBudgetExceededError: what can't be reduced is larger than the budget.
            TranscriptError: a message can't be read.
        """
        if not messages:
            return []
        definitions = [_definition(tool) for tool in tools]
        thread = self._thread(messages)
        with thread.lock:
            context = thread.context
            overhead = context.count_tools(definitions)
            context.plan_for(overhead)
            context.replace(list(messages))
            return context.view(None, overhead)

    def recall(self, handle: str, offset: int, limit_tokens: int | None) -> Recalled:
        """A piece of an original that a call showed smaller.

        Raises:
            TranscriptError: no conversation that is remembered has the handle.
        """
        for thread in reversed(self._threads):
            try:
                return thread.context.recall(handle, offset, limit_tokens)
            except TranscriptError:
                continue
        raise TranscriptError(f"no call that is remembered has shown a handle {handle!r}")

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Fitter:
        """The same: a copy of a model goes on with what the model remembers."""
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return Fitter, (self._memory,)

    def _thread(self, messages: Sequence[ChatMessage]) -> _Thread:
        """The conversation that a call belongs to; from now on the call is its latest."""
        codec = self._memory.context.codec
        digests = [codec.read(message).digest() for message in messages]
        with self._lock:
            if self._limit != self._memory.token_limit:
                self._threads, self._limit = [], self._memory.token_limit
            found = [t for t in self._threads if _goes_on(digests, t.digests)]
            best = max(found, key=lambda t: common_prefix(digests, t.digests)) if found else self._start()
            best.digests = digests
            self._threads = [*(t for t in self._threads if t is not best), best][-_THREADS:]
            return best

    def _start(self) -> _Thread:
        """A new conversation; its handles are no other conversation's, and not the memory's own either."""
        context = self._memory.private_context()
        self._made += 1
        state = {**json.loads(context.export()), "next_handle": self._made * _HANDLES + 1}
        context.restore(json.dumps(state), [])
        return _Thread(context)


def _goes_on(digests: Sequence[str], known: Sequence[str]) -> bool:
    """Whether a call goes on where another stood: it repeats all of it, or at least half when its end was rewritten."""
    shared = common_prefix(digests, known)
    return shared == len(known) or (shared > 1 and 2 * shared >= len(known))


def _definition(tool: Any) -> dict[str, Any]:
    if isinstance(tool, dict):
        return tool
    definition: dict[str, Any] = tool.metadata.to_openai_tool(skip_length_check=True)
    return definition
