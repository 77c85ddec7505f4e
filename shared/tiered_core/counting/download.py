"""One bounded, announced and remembered download of a vocabulary file."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
import threading
import urllib.request
import warnings
from pathlib import Path

DOWNLOAD_SECONDS = 5.0
_failure: str | None = None


class TokenCountWarning(UserWarning):
    """Says once how tokens are counted when no vocabulary lies on disk."""


def fetch_once(url: str, sha256: str, folder: Path | None, file_name: str) -> bytes | None:
    """The file behind an address, None when it can't be had within `DOWNLOAD_SECONDS` in total.

    A failure is remembered for the whole process: no later call tries again. `TIERED_OFFLINE=1` forbids any attempt.
    A file that was loaded is kept in `folder` (None: nowhere), where tiktoken looks for it too. The caller holds a
    lock.
    """
    global _failure
    if is_offline() or _failure is not None:
        return None
    content, failure = _within(DOWNLOAD_SECONDS, url)
    if content is not None and hashlib.sha256(content).hexdigest() != sha256:
        content, failure = None, "the content has a wrong sha256"
    if content is None:
        _failure = failure
        return None
    if folder is not None:
        _keep(content, folder, file_name)
    warnings.warn(
        f"tiered-context loaded the token vocabulary {url} into {folder or 'memory'}; "
        "set TIERED_OFFLINE=1 to forbid downloads",
        TokenCountWarning,
        stacklevel=4,
    )
    return content


def is_offline() -> bool:
    """Whether the user forbade downloads."""
    return os.environ.get("TIERED_OFFLINE", "").strip().lower() not in ("", "0", "false", "no")


def why_missing() -> str:
    """Why there was no download, for the text of a warning."""
    if is_offline():
        return "downloads are off (TIERED_OFFLINE)"
    return f"the download failed ({_failure})" if _failure else "no download was tried"


def _within(seconds: float, url: str) -> tuple[bytes | None, str]:
    # A socket time-out bounds neither name look-up nor a slow drip; a daemon thread that is left behind bounds both.
    outcome: list[bytes] = []
    failures: list[str] = []

    def load() -> None:
        try:
            with urllib.request.urlopen(url, timeout=seconds) as answer:  # noqa: S310 - our own constants
                outcome.append(answer.read())
        except Exception as error:  # noqa: BLE001 - whatever a network, proxy or sandbox raises
            failures.append(f"{type(error).__name__}: {error}")

    worker = threading.Thread(target=load, name="tiered-vocabulary", daemon=True)
    worker.start()
    worker.join(seconds)
    if outcome:
        return outcome[0], ""
    return None, failures[0] if failures else f"no answer within {seconds:g} s"


def _keep(content: bytes, folder: Path, file_name: str) -> None:
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, prefix=file_name, suffix=".tmp", delete=False) as file:
            file.write(content)
        Path(file.name).replace(folder / file_name)
