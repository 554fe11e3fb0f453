"""Start-up: what the command line must not load before it is needed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import wikimem

ROOT = Path(wikimem.__file__).parents[1]
HEAVY = {
    "dulwich", "frontmatter", "jinja2", "mcp", "mcp_types", "numpy", "pydantic", "rich", "safetensors", "tokenizers",
    "whoosh", "yaml",
}  # fmt: skip


def loaded_by(*arguments: str) -> set[str]:
    """Top-level packages that this command line has loaded when it ends."""
    script = (
        "import sys\nfrom wikimem.surfaces.cli.main import main\ncode = main(sys.argv[1:])\n"
        "print(sorted({name.partition('.')[0] for name in sys.modules}), file=sys.stderr)\nsys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout
    return set(done.stderr.strip().strip("[]").replace("'", "").split(", "))


@pytest.mark.parametrize("arguments", [["--help"], ["search", "--help"], ["remember", "--help"], ["help"]])
def test_help_loads_nothing_heavy(arguments: list[str]) -> None:
    assert loaded_by(*arguments) & HEAVY == set()


def test_the_version_loads_not_even_the_parser() -> None:
    assert loaded_by("--version") & (HEAVY | {"click", "msgspec", "pathlib"}) == set()


def test_the_client_of_the_resident_process_loads_hardly_more_than_python_itself() -> None:
    script = (
        "import sys\nbefore = set(sys.modules)\nfrom wikimem.surfaces.cli.main import main\n"
        "import wikimem.surfaces.resident.client, _socket\nprint(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    added = {name for name in done.stdout.split() if name.partition(".")[0] != "wikimem"}
    assert added <= {"__future__", "_socket"}
