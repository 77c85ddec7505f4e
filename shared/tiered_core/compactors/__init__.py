"""Rules that make a body of text smaller, say what they hid and name the handle of the whole.

`classify` finds the kind of a text, `compact` asks the compactors, `stub` and `bare` give pointers of one line. All of
it is pure: no clock, no randomness, the same bytes in every process.
"""

from tiered_core.compactors.chain import DEFAULT_COMPACTORS, compact
from tiered_core.compactors.classify import classify
from tiered_core.compactors.facts import ColumnFacts, profile
from tiered_core.compactors.json_tree import JsonCompactor
from tiered_core.compactors.log import LogCompactor
from tiered_core.compactors.protocol import Body, Compacted, Compactor, Room
from tiered_core.compactors.shapes import Table
from tiered_core.compactors.shorten import ShortenCompactor
from tiered_core.compactors.stub import bare, stub
from tiered_core.compactors.table import TableCompactor
from tiered_core.compactors.tables import parse

__all__ = [
    "DEFAULT_COMPACTORS", "Body", "ColumnFacts", "Compacted", "Compactor", "JsonCompactor", "LogCompactor", "Room",
    "ShortenCompactor", "Table", "TableCompactor", "bare", "classify", "compact", "parse", "profile", "stub",
]  # fmt: skip
