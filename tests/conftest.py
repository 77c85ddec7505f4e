"""What holds for every test: no network, the same examples on each run."""

from __future__ import annotations

import ipaddress
import os
import socket
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# Read by the package at first use; processes that tests start inherit it.
os.environ["TIERED_OFFLINE"] = "1"

# No deadline and no complaint about slow examples: both measure how busy the machine is.
settings.register_profile(
    "ci", derandomize=True, deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("quick", settings.get_profile("ci"), max_examples=25)
settings.register_profile("thorough", settings.get_profile("ci"), derandomize=False, max_examples=2_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


class NetworkUsedError(RuntimeError):
    """A test reached for the network. Not an OSError, which code under test may well handle."""


def _is_local(host: object) -> bool:
    if isinstance(host, bytes):
        host = host.decode("ascii", "replace")
    if host in (None, "", "localhost"):
        return True
    try:
        return ipaddress.ip_address(str(host).partition("%")[0]).is_loopback
    except ValueError:
        return False


@pytest.fixture(scope="session", autouse=True)
def _no_network() -> Iterator[None]:
    """Connections and name look-ups work on this machine only: loopback and Unix sockets."""

    def guard(name: str) -> Callable[..., Any]:
        original = getattr(socket.socket, name)

        def guarded(self: socket.socket, *args: Any) -> Any:
            address = args[-1]
            if isinstance(address, tuple) and not _is_local(address[0]):
                raise NetworkUsedError(f"socket.{name}({address!r})")
            return original(self, *args)

        return guarded

    look_up = socket.getaddrinfo

    def guarded_look_up(host: Any, *args: Any, **kwargs: Any) -> Any:
        if not _is_local(host):
            raise NetworkUsedError(f"socket.getaddrinfo({host!r})")
        return look_up(host, *args, **kwargs)

    with pytest.MonkeyPatch.context() as patch:
        for name in ("connect", "connect_ex", "sendto"):
            patch.setattr(socket.socket, name, guard(name))
        patch.setattr(socket, "getaddrinfo", guarded_look_up)
        yield
