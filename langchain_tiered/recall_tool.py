"""The tool by which an agent reads an original that its view shows in short."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from langchain.tools import ToolRuntime
from langchain_core.tools import BaseTool, StructuredTool

from tiered_core import Recalled, Tier, TieredContext, TieredError
from tiered_core.compactors import classify

_FRAME = 48
"""Tokens left for the line that stands before a piece, and for the framing of the message."""

Find = Callable[[ToolRuntime], TieredContext]
AFind = Callable[[ToolRuntime], Awaitable[TieredContext]]


def recall_tool(find: Find, afind: AFind) -> BaseTool:
    """The tool `recall_context`.

    Args:
        find: the context of the thread for which a tool runs.
        afind: the same.
    """

    def recall_context(handle: str, runtime: ToolRuntime, offset: int = 0) -> str:  # noqa: D417 - the host's argument
        """Read the original of a shortened message, piece by piece.

        Args:
            handle: as shown in the message, such as r12.
            offset: where to go on; 0 for the start.
        """
        context = find(runtime)
        try:
            text = _shown(context.recall(handle, offset, _limit(context, Tier.CONVERSATION)), offset)
            if classify(text) in ("table", "json"):
                text = _shown(context.recall(handle, offset, _limit(context, Tier.RESULTS)), offset)
        except TieredError as error:
            return str(error)
        return text

    async def arecall_context(handle: str, runtime: ToolRuntime, offset: int = 0) -> str:
        """See `recall_context`."""
        context = await afind(runtime)
        try:
            text = _shown(await context.arecall(handle, offset, _limit(context, Tier.CONVERSATION)), offset)
            if classify(text) in ("table", "json"):
                text = _shown(await context.arecall(handle, offset, _limit(context, Tier.RESULTS)), offset)
        except TieredError as error:
            return str(error)
        return text

    return StructuredTool.from_function(recall_context, arecall_context, parse_docstring=True)


def _limit(context: TieredContext, tier: Tier) -> int:
    """A piece enters the view as it is: it stays below the size from which results enter small."""
    return max(_FRAME, context.budget.birth_cap(tier) - _FRAME)


def _shown(piece: Recalled, offset: int) -> str:
    end = offset + len(piece.text)
    more = "the end" if piece.next_offset is None else f"go on with offset={piece.next_offset}"
    return f"[{piece.handle}: characters {offset} to {end} of {piece.total}; {more}]\n{piece.text}"
