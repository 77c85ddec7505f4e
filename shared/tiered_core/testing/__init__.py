"""The conformance kit: what any adapter and any store must satisfy, as classes that pytest collects.

    from tiered_core.testing import StoreConformance

    class TestMyStore(StoreConformance):
        def open_store(self, folder):
            return MyStore(folder / "file")

`oracle.problems` says what is wrong with a view; it never calls the engine.
"""

from tiered_core.testing.adapters import AdapterConformance
from tiered_core.testing.oracle import Line, problems
from tiered_core.testing.stores import StoreConformance

__all__ = ["AdapterConformance", "Line", "StoreConformance", "problems"]
