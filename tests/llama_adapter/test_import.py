"""What the package says when LlamaIndex is missing."""

from __future__ import annotations

import os
import subprocess
import sys


def test_missing_llama_index() -> None:
    """Without llama-index-core the import fails with the exact line that installs it."""
    code = "import sys; sys.modules['llama_index'] = None; import llama_tiered"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    out = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)
    assert out.returncode == 1
    assert 'ImportError: llama_tiered needs llama-index-core: pip install "tiered-context[llamaindex]"' in out.stderr
