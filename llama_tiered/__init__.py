"""The LlamaIndex adapter of tiered-context.

memory = TieredChatMemoryBuffer.from_defaults(token_limit=8_000)
agent = FunctionAgent(tools=[…], llm=bounded_llm(llm, memory))
await agent.run("…", memory=memory)
"""

try:
    import llama_index.core.memory  # noqa: F401 - looked for here, so that the error says what to install
except ImportError as error:
    raise ImportError('llama_tiered needs llama-index-core: pip install "tiered-context[llamaindex]"') from error

from llama_tiered.bounded import bounded_llm
from llama_tiered.buffer import TieredChatMemoryBuffer
from llama_tiered.codec import LlamaIndexCodec
from llama_tiered.errors import LlamaContextBudgetExceededError
from llama_tiered.memory_block import TieredMemoryBlock

__all__ = [
    "LlamaContextBudgetExceededError",
    "LlamaIndexCodec",
    "TieredChatMemoryBuffer",
    "TieredMemoryBlock",
    "bounded_llm",
]
