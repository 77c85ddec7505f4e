"""Where vocabularies come from: any carrier on disk, one bounded download, else an estimate with one warning."""

from __future__ import annotations

import hashlib
import http.server
import os
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from tiktoken_ext import openai_public

from tests.core.counting_oracle import oracle
from tiered_core.counting import ApproximateCounter, TokenCountWarning, download, get_token_counter, lookup, vocabulary
from tiered_core.counting.vocabulary import VOCABULARIES, load_vocabulary

CL100K = VOCABULARIES["cl100k_base"]
KEY = hashlib.sha1(CL100K.url.encode()).hexdigest()


@pytest.fixture(scope="module")
def content() -> bytes:
    """The vocabulary file of cl100k_base, from whatever carrier this machine has."""
    return next(vocabulary._verified(CL100K))


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine without any carrier and a process that has loaded nothing yet; gives its temporary folder."""
    for name in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(vocabulary.tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr(vocabulary.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(vocabulary, "_from_wheel", lambda wanted: None)
    monkeypatch.setattr(vocabulary, "_loaded", {})
    monkeypatch.setattr(download, "_failure", None)
    monkeypatch.setattr(lookup, "_warned", threading.Event())
    return tmp_path


@pytest.mark.parametrize("carrier", ["TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR", "tmp", "llama_index"])
def test_each_carrier_gives_exact_counts(
    carrier: str, bare: Path, content: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B5: tiktoken's caches and llama-index-core's folder are enough for exact counts, without any download."""
    folder = {"tmp": bare / "data-gym-cache", "llama_index": bare / "li" / "core" / "_static" / "tiktoken_cache"}.get(
        carrier, bare / "cache"
    )
    folder.mkdir(parents=True)
    (folder / KEY).write_bytes(content)
    if carrier.endswith("DIR"):
        monkeypatch.setenv(carrier, str(folder))
    elif carrier == "llama_index":
        spec = type("Spec", (), {"submodule_search_locations": [str(bare / "li")]})
        monkeypatch.setattr(vocabulary.importlib.util, "find_spec", lambda name: spec)
    counter = get_token_counter()
    assert counter.exact
    assert counter.count_text("Hello, wörld 123") == len(oracle("cl100k_base").encode_ordinary("Hello, wörld 123"))


def test_the_offline_wheel_is_a_carrier() -> None:
    """B5: the wheel of the extra `offline` carries cl100k, o200k and harmony byte for byte."""
    pytest.importorskip("toktok")
    for wanted in VOCABULARIES.values():
        assert hashlib.sha256(vocabulary._from_wheel(wanted) or b"").hexdigest() == wanted.sha256


def test_a_damaged_carrier_is_passed_over(bare: Path, content: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """B5: a file with a wrong sha256 is left as it is and the next carrier is asked."""
    bad, good = bare / "bad", bare / "data-gym-cache"
    damaged = content.replace(b"IHdvcmxk ", b"IHdvcmxj ")  # " world" became " worlc"
    for folder, raw in ((bad, damaged), (good, content)):
        folder.mkdir()
        (folder / KEY).write_bytes(raw)
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(bad))
    assert get_token_counter().count_text("hello world") == 2
    assert (bad / KEY).read_bytes() == damaged != content


def test_nothing_of_the_process_is_changed() -> None:
    """B5: counting touches neither the environment nor tiktoken's registry, and imports no host, no network library."""
    code = (
        "import os, sys; before = dict(os.environ)\n"
        "from tiered_core.counting import get_token_counter\n"
        "assert get_token_counter().count_text('hello world') == 2\n"
        "import tiktoken.registry\n"
        "assert not tiktoken.registry.ENCODINGS and before == dict(os.environ)\n"
        "assert not {'llama_index.core', 'langchain_core', 'requests', 'tokenizers'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env=_environment())


def test_without_any_carrier_the_estimate_takes_over_with_one_warning(bare: Path) -> None:
    """B3: offline and without a vocabulary every name gives the marked estimate; one warning per process says so."""
    with pytest.warns(TokenCountWarning, match=r"TIERED_OFFLINE.*tiered-context\[offline\]") as caught:
        counters = [get_token_counter(name) for name in (None, "gpt-4o", "claude-sonnet-4-6", "gpt-oss-20b")]
    assert len(caught) == 1
    for counter in counters:
        assert isinstance(counter, ApproximateCounter)
        assert not counter.exact
    assert counters[2].count_text("hello there, world") > counters[1].count_text("hello there, world")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, bare: Path) -> Iterator[dict[str, object]]:
    """A local stand-in for the download address; `answer` is what it sends, None means silence."""
    plan: dict[str, object] = {"answer": None, "asked": 0}
    stop = threading.Event()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            plan["asked"] = int(str(plan["asked"])) + 1
            answer = plan["answer"]
            if not isinstance(answer, bytes):
                stop.wait(10)
                return
            self.send_response(200)
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *args: object) -> None:
            pass

    listening = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    listening.daemon_threads = True
    threading.Thread(target=listening.serve_forever, daemon=True).start()
    monkeypatch.setattr(vocabulary, "_PUBLIC", f"http://127.0.0.1:{listening.server_port}/")
    monkeypatch.delenv("TIERED_OFFLINE", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    yield plan
    stop.set()
    listening.shutdown()
    listening.server_close()


def test_a_download_is_announced_checked_and_kept(server: dict[str, object], bare: Path, content: bytes) -> None:
    """B5: without a carrier the vocabulary is loaded once, with one warning, and kept where tiktoken looks for it."""
    server["answer"] = content
    with pytest.warns(TokenCountWarning, match="TIERED_OFFLINE=1") as caught:
        exact = [get_token_counter(name).exact for name in (None, "gpt-4")]
    assert (exact, len(caught), server["asked"]) == ([True, True], 1, 1)
    kept = list((bare / "data-gym-cache").iterdir())
    assert [file.read_bytes() for file in kept] == [content]


@pytest.mark.parametrize("answer", [None, b"not the vocabulary"])
def test_a_failed_download_is_bounded_and_remembered(
    answer: bytes | None, server: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """B5: a silent or lying network costs one bounded attempt per process, then the estimate counts."""
    server["answer"] = answer
    monkeypatch.setattr(download, "DOWNLOAD_SECONDS", 0.3)
    started = time.perf_counter()
    with pytest.warns(TokenCountWarning, match="download failed") as caught:
        counters = [get_token_counter(name) for name in (None, "gpt-4o", None, "o3")]
    assert time.perf_counter() - started < 5
    assert (len(caught), server["asked"]) == (1, 1)
    assert not any(counter.exact for counter in counters)


def test_offline_forbids_any_attempt(server: dict[str, object], monkeypatch: pytest.MonkeyPatch) -> None:
    """B5: with TIERED_OFFLINE=1 nothing is asked for, not even once."""
    monkeypatch.setenv("TIERED_OFFLINE", "1")
    with pytest.warns(TokenCountWarning):
        get_token_counter()
    assert server["asked"] == 0


def test_the_download_takes_five_seconds_at_most() -> None:
    """B5: the bound is five seconds."""
    assert download.DOWNLOAD_SECONDS == 5.0


def test_threads_share_one_encoder(bare: Path, content: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """B5: many threads at first use build the encoder once."""
    (bare / "data-gym-cache").mkdir()
    (bare / "data-gym-cache" / KEY).write_bytes(content)
    built: list[str] = []
    build = vocabulary._build
    monkeypatch.setattr(vocabulary, "_build", lambda wanted, raw: (built.append(wanted.name), build(wanted, raw))[1])
    figures: list[int] = []
    threads = [
        threading.Thread(target=lambda: figures.append(get_token_counter().count_text("hello world"))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (figures, built) == ([2] * 8, ["cl100k_base"])


def test_only_tiktoken_and_the_standard_library() -> None:
    """B5: the package imports, and estimates, where nothing but pydantic and tiktoken can be imported."""
    code = (
        "import sys, warnings\n"
        "class Block:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] in ('toktok', 'llama_index', 'langchain_core', 'tokenizers', 'requests'):\n"
        "            raise ImportError(name)\n"
        "sys.meta_path.insert(0, Block())\n"
        "from tiered_core.counting import get_token_counter\n"
        "warnings.simplefilter('ignore')\n"
        "assert get_token_counter('approximate').count_text('hello world') > 1\n"
        "assert get_token_counter().count_text('hello world') > 1\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env=_environment())


def _environment() -> dict[str, str]:
    return {**os.environ, "TIERED_OFFLINE": "1", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


def test_harmony_shares_the_file_of_o200k() -> None:
    """B5: gpt-oss counts ordinary text like o200k; only its special tokens differ."""
    harmony, o200k = load_vocabulary("o200k_harmony"), load_vocabulary("o200k_base")
    assert harmony is not None
    assert o200k is not None
    text = "<|start|>user<|message|>Grüße<|end|>"
    assert harmony.encoding.encode_ordinary(text) == o200k.encoding.encode_ordinary(text)
    assert {"<|start|>", "<|message|>", "<|end|>", "<|return|>"} <= harmony.encoding.special_tokens_set
    if hasattr(openai_public, "o200k_harmony"):  # since tiktoken 0.11
        assert harmony.encoding.special_tokens_set <= oracle("o200k_harmony").special_tokens_set


def test_no_warning_where_a_carrier_is_found() -> None:
    """B5: the usual case says nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert get_token_counter("gpt-4o").exact
