"""Token counting: exact with a vocabulary, estimated without, or a host's own.

get_token_counter("gpt-4o").count_text("…")
"""

from tiered_core.counting.callable import CallableCounter
from tiered_core.counting.download import TokenCountWarning
from tiered_core.counting.estimate import ApproximateCounter
from tiered_core.counting.exact import TiktokenCounter
from tiered_core.counting.framing import FramedCounter, Framing
from tiered_core.counting.huggingface import HuggingFaceCounter
from tiered_core.counting.lookup import get_token_counter
from tiered_core.counting.memo import MemoCounter
from tiered_core.counting.pictures import PictureRule, media_from_bytes, media_from_data_url, read_image_size
from tiered_core.counting.protocol import TokenCounter
from tiered_core.counting.scaled import ScaledCounter
from tiered_core.counting.seed import SeedCounter

__all__ = [
    "ApproximateCounter",
    "CallableCounter",
    "FramedCounter",
    "Framing",
    "HuggingFaceCounter",
    "MemoCounter",
    "PictureRule",
    "ScaledCounter",
    "SeedCounter",
    "TiktokenCounter",
    "TokenCountWarning",
    "TokenCounter",
    "get_token_counter",
    "media_from_bytes",
    "media_from_data_url",
    "read_image_size",
]
