"""Token counting: exact with a vocabulary, estimated without, or a host's own.

    get_token_counter("gpt-4o").count_text("…")
"""

from tiered_core.counting.callable import CallableCounter
from tiered_core.counting.estimate import SeedCounter
from tiered_core.counting.exact import TiktokenCounter
from tiered_core.counting.framing import FramedCounter, Framing
from tiered_core.counting.lookup import get_token_counter
from tiered_core.counting.pictures import PictureRule
from tiered_core.counting.protocol import TokenCounter

__all__ = [
    "CallableCounter",
    "FramedCounter",
    "Framing",
    "PictureRule",
    "SeedCounter",
    "TiktokenCounter",
    "TokenCounter",
    "get_token_counter",
]
