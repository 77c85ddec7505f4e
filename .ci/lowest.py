"""Prints the lowest version that pyproject.toml allows of each dependency, as constraints for pip or uv.

`python .ci/lowest.py base` is about the package itself, `python .ci/lowest.py EXTRA…` about the given extras.
"""

import re
import sys
import tomllib
from pathlib import Path

BOUND = re.compile(r"(?P<name>[A-Za-z0-9._-]+)\s*>=\s*(?P<version>[0-9.]+)")


def main(extras: list[str]) -> None:
    """Prints one `name==version` per dependency; those without a lower bound are an error."""
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = {"base": project["dependencies"], **project["optional-dependencies"]}
    for requirement in (requirement for extra in extras for requirement in groups[extra]):
        if requirement.startswith(project["name"]):
            continue  # another extra of ours, which can be named too
        bound = BOUND.match(requirement)
        if bound is None:
            sys.exit(f"no lower bound: {requirement}")
        print(f"{bound['name']}=={bound['version']}")


if __name__ == "__main__":
    main(sys.argv[1:])
