"""The engine of tiered-context: a conversation over data inside a token budget, without a framework.

context = TieredContext(budget=8_000)
context.add([{"role": "user", "content": "…"}])
messages = context.view()
"""

from importlib.metadata import version

from tiered_core.budget import PressureThresholds, TierPolicy, TokenBudget
from tiered_core.calibration import Calibration
from tiered_core.codec import Codec
from tiered_core.compactors.protocol import Body, Compacted, Compactor, Room
from tiered_core.components import (
    DEFAULT_CONTEXT_CONFIG,
    CompactionResult,
    Component,
    ComponentBudget,
    ContextConfig,
    PreparedContext,
)
from tiered_core.counting import TokenCounter, get_token_counter
from tiered_core.errors import (
    ContextBudgetExceededError,
    DataSourceError,
    QueryRejectedError,
    StoreError,
    TieredError,
    TranscriptError,
)
from tiered_core.events import ContextEvent
from tiered_core.models import ModelLimits, UnknownModelWarning
from tiered_core.neutral import NeutralCodec
from tiered_core.oneshot import FitResult, fit
from tiered_core.prepare import aprepare, prepare
from tiered_core.report import ContextReport
from tiered_core.session import TieredContext
from tiered_core.state import ContextState
from tiered_core.stores import ConversationStore, MemoryStore, SQLiteStore, open_store
from tiered_core.strategies import CompactionStrategy
from tiered_core.types import Call, Change, Media, Reading, Recalled, Tier
from tiered_core.usage import reported_input_tokens

__version__ = version("tiered-context")

__all__ = [
    "DEFAULT_CONTEXT_CONFIG",
    "Body",
    "Calibration",
    "Call",
    "Change",
    "Codec",
    "Compacted",
    "CompactionResult",
    "CompactionStrategy",
    "Compactor",
    "Component",
    "ComponentBudget",
    "ContextBudgetExceededError",
    "ContextConfig",
    "ContextEvent",
    "ContextReport",
    "ContextState",
    "ConversationStore",
    "DataSourceError",
    "FitResult",
    "Media",
    "MemoryStore",
    "ModelLimits",
    "NeutralCodec",
    "PreparedContext",
    "PressureThresholds",
    "QueryRejectedError",
    "Reading",
    "Recalled",
    "Room",
    "SQLiteStore",
    "StoreError",
    "Tier",
    "TierPolicy",
    "TieredContext",
    "TieredError",
    "TokenBudget",
    "TokenCounter",
    "TranscriptError",
    "UnknownModelWarning",
    "aprepare",
    "fit",
    "get_token_counter",
    "open_store",
    "prepare",
    "reported_input_tokens",
]
