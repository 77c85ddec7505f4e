"""What is shipped, what an import costs, and what is said when an extra is missing."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import re
import socket
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = {"langchain_tiered", "llama_tiered", "tiered_core"}
EXTRA_OF = {"langchain_tiered": ("langchain_core", "langchain"), "llama_tiered": ("llama_index", "llamaindex")}
FRAMEWORKS = {"langchain", "langchain_core", "langgraph", "langsmith", "llama_index"}

in_checkout = pytest.mark.skipif(
    not (ROOT / ".git").exists(), reason="about the checkout, and this is a copy of the tests"
)


def needs_host(package: str) -> pytest.MarkDecorator:
    host, extra = EXTRA_OF[package]
    missing = importlib.util.find_spec(host) is None
    return pytest.mark.skipif(missing, reason=f"the extra {extra} isn't installed")


def run(code: str, cwd: Path) -> str:
    """What a fresh interpreter prints that runs the code outside of the checkout."""
    done = subprocess.run([sys.executable, "-c", code], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def loaded_by(statement: str, cwd: Path) -> set[str]:
    """Top-level names of the modules that a statement loads in a fresh interpreter."""
    return set(run(f"{statement}\nimport sys\nprint(*{{name.partition('.')[0] for name in sys.modules}})", cwd).split())


def project_files() -> list[str]:
    """Files that are in git or would be added by `git add --all`."""
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listing, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    return [name for name in names if name and (ROOT / name).exists()]


@in_checkout
def test_the_wheel_holds_the_three_packages_and_nothing_else(tmp_path: Path) -> None:
    """Each package arrives whole and typed, the engine under its own name and not inside `shared`."""
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, capture_output=True, check=True)
    (wheel,) = tmp_path.glob("*.whl")
    shipped = set(zipfile.ZipFile(wheel).namelist())
    assert {name.partition("/")[0] for name in shipped if ".dist-info/" not in name} == PACKAGES
    assert {f"{package}/py.typed" for package in PACKAGES} <= shipped
    sources = {name.removeprefix("shared/") for name in project_files() if name.endswith(".py")}
    assert {name for name in sources if name.partition("/")[0] in PACKAGES} <= shipped
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in shipped)


@in_checkout
def test_no_file_names_a_place_on_somebodys_machine() -> None:
    """A path that exists on one machine only is in no file of the project."""
    places = re.compile(rb"(^|[^a-zA-Z])(/(work|farm|root)/|/(home|Users)/[a-z]|[A-Z]:\\Users\\)", re.MULTILINE)
    assert [name for name in project_files() if places.search((ROOT / name).read_bytes())] == []


@in_checkout
def test_the_top_level_holds_only_what_was_agreed() -> None:
    """The first look at the repository shows the layout, and `shared` is no package."""
    agreed = {"pyproject.toml", "README.md", "Makefile", "LICENSE", "CHANGELOG.md", "shared", "tests", "cookbook"}
    found = {name.partition("/")[0] for name in project_files()}
    assert {name for name in found if not name.startswith(".")} - agreed == PACKAGES - {"tiered_core"}
    assert not (ROOT / "shared" / "__init__.py").exists()


def test_the_version_is_that_of_the_distribution(tmp_path: Path) -> None:
    """`__version__` can't drift from what is installed."""
    version = run("import tiered_core; print(tiered_core.__version__)", tmp_path).strip()
    assert version == importlib.metadata.version("tiered-context")


def test_the_engine_loads_no_framework(tmp_path: Path) -> None:
    """`import tiered_core` needs pydantic and tiktoken only, whatever else is installed."""
    loaded = loaded_by("import tiered_core", tmp_path)
    assert not loaded & (FRAMEWORKS | {"duckdb", "numpy", "pandas", "pyarrow", "sqlalchemy", "sqlglot"})


@needs_host("langchain_tiered")
def test_the_langchain_adapter_loads_langchain_core_only(tmp_path: Path) -> None:
    """`import langchain_tiered` doesn't pay for the agents, which take seconds to load."""
    assert not loaded_by("import langchain_tiered", tmp_path) & {"langchain", "langgraph", "llama_index"}


@needs_host("llama_tiered")
def test_the_llama_adapter_loads_no_langchain(tmp_path: Path) -> None:
    """`import llama_tiered` loads its own host only."""
    assert not loaded_by("import llama_tiered", tmp_path) & {"langchain", "langchain_core", "langgraph"}


@pytest.mark.parametrize("package", sorted(EXTRA_OF))
def test_a_missing_extra_says_what_to_install(package: str, tmp_path: Path) -> None:
    """Without its host an adapter raises ImportError with a line that pip takes, and that names a real extra."""
    host, extra = EXTRA_OF[package]
    block = f"import sys; sys.modules['{host}'] = None"
    code = f"{block}\ntry:\n    import {package}\nexcept ImportError as e:\n    print(e)"
    assert_pip_line(run(code, tmp_path), extra)


@needs_host("langchain_tiered")
def test_the_middleware_without_langchain_says_what_to_install(tmp_path: Path) -> None:
    """With langchain-core alone everything works but the middleware, which names its own extra."""
    code = (
        "import sys\nsys.modules['langchain'] = None\nimport langchain_tiered\n"
        "try:\n    langchain_tiered.TieredContextMiddleware(budget=4_000)\nexcept ImportError as e:\n    print(e)"
    )
    assert_pip_line(run(code, tmp_path), "langchain-agents")


def assert_pip_line(text: str, extra: str) -> None:
    assert re.search(rf"pip install ['\"]?tiered-context\[{extra}\]", text), text or "no ImportError"
    assert extra in importlib.metadata.metadata("tiered-context").get_all("Provides-Extra", [])


@pytest.mark.parametrize("package", ["tiered_core", *sorted(EXTRA_OF)])
def test_an_import_opens_no_connection(package: str, tmp_path: Path) -> None:
    """Nothing reaches for the network by being imported."""
    if package in EXTRA_OF and importlib.util.find_spec(EXTRA_OF[package][0]) is None:
        pytest.skip("the extra isn't installed")
    used = "def used(*args, **kwargs): raise SystemExit(f'network: {args}')"
    run(f"import socket\n{used}\nsocket.socket.connect = socket.getaddrinfo = used\nimport {package}", tmp_path)


@pytest.mark.parametrize("address", [("192.0.2.1", 9), ("example.invalid", 9), ("2001:db8::1", 9, 0, 0)])
def test_tests_have_no_network(address: tuple[str, int]) -> None:
    """A test that would reach beyond this machine fails, by connection as by look-up of a name."""
    with socket.socket() as sock, pytest.raises(RuntimeError, match="connect"):
        sock.connect(address)
    with pytest.raises(RuntimeError, match="getaddrinfo"):
        socket.getaddrinfo(address[0], 9)


def test_tests_may_use_loopback() -> None:
    """A server of the test's own can be reached."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname()[:2]).close()
