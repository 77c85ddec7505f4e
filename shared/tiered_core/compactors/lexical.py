"""Which pieces of a text answer to a question, by their words alone."""

from __future__ import annotations

import heapq
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence

_STOP = frozenset(
    "a about after all also an and any are as at be been before below above between both but by can could did do does "
    "each either find for from get give had has have how i if in into is it its just list many me more much my next no "
    "not of on only or other our out over please previous same see should show so some such tell than that the their "
    "them then there these they this those to too under up us was we were what when where which while who whom whose "
    "why will with would you your".split()
)
_IDEOGRAPHS = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_WORD = re.compile(rf"[{_IDEOGRAPHS}]+|[^\W_{_IDEOGRAPHS}]+(?:[.\-'’][^\W_{_IDEOGRAPHS}]+)*")
_MAX_WORDS = 24


def _pieces(token: str) -> Iterator[str]:
    if re.match(f"[{_IDEOGRAPHS}]", token):
        yield from (token[i : i + 2] for i in range(max(1, len(token) - 1)))
        return
    yield _stem(token)
    parts = re.split(r"[.\-'’]", token)
    if len(parts) > 1:
        yield from (_stem(part) for part in parts if len(part) > 1)


def _stem(word: str) -> str:
    """The word without an English plural ending."""
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3]
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def words(text: str) -> list[str]:
    """The telling words of a text in order, lower case, without plural endings; runs of ideographs as pairs."""
    found = (piece for token in _WORD.findall(text.lower()) for piece in _pieces(token))
    return [word for word in found if word not in _STOP]


def question_words(question: str | None) -> tuple[str, ...]:
    """The different telling words of a question, at most 24, in the order in which they stand."""
    return tuple(dict.fromkeys(words(question[:4000])))[:_MAX_WORDS] if question else ()


def best_matches(texts: Sequence[str], wanted: Sequence[str], limit: int) -> list[tuple[float, int]]:
    """(score, position) of the texts that share words with the question, best first, at most `limit`.

    Rare words weigh more. All texts are passed over once by substring, only the best are then read word by word.
    """
    masks = _masks(texts, wanted)
    found = Counter(masks)
    found.pop(0, None)
    if not found:
        return []
    frequency = [sum(n for mask, n in found.items() if mask >> i & 1) for i in range(len(wanted))]
    weights = [math.log(1 + len(texts) / (0.5 + n)) for n in frequency]
    value = {mask: sum(w for i, w in enumerate(weights) if mask >> i & 1) for mask in found}
    near = heapq.nsmallest(8 * limit, ((-value[mask], i) for i, mask in enumerate(masks) if mask))
    exact = ((_score(texts[i], wanted, weights), i) for _, i in near)
    return [(score, i) for score, i in sorted(exact, key=lambda pair: (-pair[0], pair[1])) if score > 0][:limit]


def _masks(texts: Sequence[str], wanted: Sequence[str]) -> list[int]:
    """For each text the words that it holds as substrings, one bit each."""
    masks = [0] * len(texts)
    lowered = [text.lower() for text in texts] if wanted else []
    for position, word in enumerate(wanted):
        bit = 1 << position
        for i, text in enumerate(lowered):
            if word in text:
                masks[i] |= bit
    return masks


def _score(text: str, wanted: Sequence[str], weights: Sequence[float]) -> float:
    own = set(words(text[:20_000]))
    return sum(weight for word, weight in zip(wanted, weights, strict=True) if word in own)
