"""What a session does, step by step: programs that yield calls of the store (see `drive`).

known → deciding → reading | writing
"""

from tiered_core.programs.known import Settings
from tiered_core.programs.reading import Reading
from tiered_core.programs.writing import Writing


class Programs(Reading, Writing):
    """All programs of one session."""


__all__ = ["Programs", "Settings"]
