"""The conversations that the benchmarks replay, as OpenAI-style dicts, from the files of the data folder."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.benchmarks.tokens import count_text, message_tokens

Message = dict[str, Any]
FILES = {"LoCoMo": "locomo_dev.json", "tau-bench": "tau_airline_dev.json", "InterCode": "intercode_sql_dev.json"}
LONG_OBSERVATION_TOKENS = 333_000
_SQL_AGENT = "You answer questions about a database. Look things up with the tool execute_sql before you answer."
_FRIEND = "You are a friend who knows the user for long. Answer from what was said in this conversation."


@dataclass(frozen=True, slots=True)
class Question:
    """A question on a conversation.

    Attributes:
        text: as it is asked.
        category: LoCoMo's: 1 multi-hop, 2 temporal, 3 open, 4 single-hop.
        gold: texts of the messages that hold the evidence.
    """

    text: str
    category: int
    gold: tuple[str, ...]


@dataclass(slots=True)
class Conversation:
    """One transcript; what a host makes of its messages is made once and kept in `forms`."""

    corpus: str
    name: str
    messages: list[Message]
    questions: tuple[Question, ...] = ()
    forms: dict[str, list[Any]] = field(default_factory=dict)

    def form(self, host: str, convert: Callable[[Message], Any]) -> list[Any]:
        """The messages in a host's form."""
        if host not in self.forms:
            self.forms[host] = [convert(message) for message in self.messages]
        return self.forms[host]

    @property
    def sums(self) -> list[int]:
        """Tokens of every prefix, the empty one first."""
        out = [0]
        for message in self.messages:
            out.append(out[-1] + message_tokens(message))
        return out

    def prefixes(self) -> list[int]:
        """Lengths of the prefixes at which a model may be called: with a user message, and no call unanswered."""
        out, asked, waiting = [], False, 0
        for length, message in enumerate(self.messages, 1):
            asked = asked or message["role"] == "user"
            waiting += len(message.get("tool_calls") or ()) - (message["role"] == "tool")
            if asked and waiting <= 0:
                out.append(length)
        return out


def missing_files(folder: Path | None, corpora: Sequence[str] = tuple(FILES)) -> list[str]:
    """Names of the files that a benchmark needs and the folder lacks."""
    return [FILES[c] for c in corpora if folder is None or not (folder / FILES[c]).is_file()]


def locomo(folder: Path) -> list[Conversation]:
    """Long talks of two people; the one who speaks first is the user. Each message starts with its date and speaker."""
    return [_talk(sample) for sample in _read(folder, "LoCoMo")]


def _talk(sample: dict[str, Any]) -> Conversation:
    talk = sample["conversation"]
    turns = [(n, turn) for n in range(1, 100) for turn in talk.get(f"session_{n}") or ()]
    first = turns[0][1]["speaker"]
    texts: dict[tuple[int, int], str] = {}
    messages: list[Message] = [{"role": "system", "content": _FRIEND}]
    for session, turn in turns:
        shared = f" [shares a picture: {turn['blip_caption']}]" if turn.get("blip_caption") else ""
        text = f"({talk[f'session_{session}_date_time']}) {turn['speaker']}: {turn['text']}{shared}"
        texts[next(_evidence([turn["dia_id"]]))] = text
        messages.append({"role": "user" if turn["speaker"] == first else "assistant", "content": text})
    asked = (_question(q, texts) for q in sample["qa"] if q["category"] in (1, 2, 3, 4))
    return Conversation("LoCoMo", sample["sample_id"], messages, tuple(q for q in asked if q.gold))


def _question(asked: dict[str, Any], texts: dict[tuple[int, int], str]) -> Question:
    gold = tuple(texts[e] for e in dict.fromkeys(_evidence(asked["evidence"])) if e in texts)
    return Question(asked["question"], asked["category"], gold)


def _evidence(ids: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Dialogue ids; a few are malformed ("D:11:26", two in one text, a lone "D")."""
    for text in ids:
        for session, turn in re.findall(r"D:?(\d+):0*(\d+)", text):
            yield int(session), int(turn)


def tau_bench(folder: Path) -> list[Conversation]:
    """Episodes of an airline agent that calls functions, as they were recorded."""
    return [
        Conversation("tau-bench", f"task {e['task_id']}, trial {e['trial']}, file position {k}", e["messages"])
        for k, e in enumerate(_read(folder, "tau-bench"))
    ]


def intercode(folder: Path) -> list[Conversation]:
    """SQL sessions: a question, then statements and what the database answered."""
    return [
        Conversation("InterCode", key, [{"role": "system", "content": _SQL_AGENT}, *_session(value)])
        for key, value in _read(folder, "InterCode").items()
    ]


def _session(session: dict[str, Any]) -> list[Message]:
    out: list[Message] = [{"role": "user", "content": session["query"]}]
    history = session["turn_history"]
    for number, (action, observation) in enumerate(zip(history["actions"], history["observations"], strict=True)):
        function = {"name": "execute_sql", "arguments": json.dumps({"sql": action})}
        call = {"id": f"call_{number}", "type": "function", "function": function}
        out += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": call["id"], "content": observation or "(no rows)"},
        ]
    return out


def intercode_chats(sessions: Sequence[Conversation], size: int = 20) -> list[Conversation]:
    """Chats of many turns: `size` sessions in a row, closed with an answer. Call ids repeat, as real ones do."""
    out = []
    for start in range(0, len(sessions) - size + 1, size):
        messages: list[Message] = [{"role": "system", "content": _SQL_AGENT}]
        for session in sessions[start : start + size]:
            messages += session.messages[1:]
            messages.append({"role": "assistant", "content": "That is the answer to your question."})
        out.append(Conversation("InterCode chats", f"sessions {start}-{start + size - 1}", messages))
    return out


def long_observation(sessions: Sequence[Conversation], tokens: int = LONG_OBSERVATION_TOKENS) -> Conversation:
    """A session with one observation of so many tokens: the rows of the largest one, again and again, numbered."""
    largest = max((m["content"] for s in sessions for m in s.messages if m["role"] == "tool"), key=len)
    rows = [row.strip("[()]") for row in largest.split("), (")]
    numbered = [f"({100_000 + k}, {row})" for k, row in enumerate(rows)]
    needed = int(tokens * len(rows) / count_text(", ".join(numbered)))
    many = [f"({100_000 + k}, {rows[k % len(rows)]})" for k in range(needed)]
    history = {"actions": ["SELECT *"], "observations": [f"[{', '.join(many)}]"]}
    made = {"query": "List everything.", "turn_history": history}
    messages: list[Message] = [{"role": "system", "content": _SQL_AGENT}, *_session(made)]
    messages += [
        {"role": "assistant", "content": "Here is everything."},
        {"role": "user", "content": "How many rows are that?"},
    ]
    return Conversation("one huge observation", "made", messages)


def sample(conversations: Sequence[Conversation], size: int, seed: str) -> list[Conversation]:
    """At most `size` of them, the same for the same seed, in their order."""
    chosen = sorted(random.Random(seed).sample(range(len(conversations)), min(size, len(conversations))))
    return [conversations[k] for k in chosen]


def sample_prefixes(conversation: Conversation, size: int) -> list[int]:
    """At most `size` prefix lengths, ascending, the whole conversation among them."""
    every = conversation.prefixes()
    if len(every) <= size:
        return every
    chosen = random.Random(f"prefixes of {conversation.corpus} {conversation.name}").sample(every[:-1], size - 1)
    return sorted([*chosen, every[-1]])


def _read(folder: Path, corpus: str) -> Any:
    return json.loads((folder / FILES[corpus]).read_text(encoding="utf-8"))
