"""The manual: generated pages are current, links lead somewhere, everything that exists is documented."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

import pytest

import wikimem
from wikimem.errors import ERROR_KINDS
from wikimem.manual.__main__ import main, stale, write
from wikimem.manual.reference import PAGES
from wikimem.operations import OPERATIONS, PLANNED
from wikimem.surfaces.cli.processes import PLANNED_PROCESSES, PROCESSES
from wikimem.vault.config import USER_KEYS, VAULT_KEYS

MANUAL = Path(wikimem.__file__).parent / "manual"
LINK = re.compile(r"(?<!!)\[[^\]\n]+\]\((?!https?://)([^)\s]+)\)")
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)


def anchors(page: Path) -> set[str]:
    """The fragments that a page answers to, as Git hosts make them from headings."""
    heads = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).strip().replace(" ", "-") for head in heads}


def test_generated_pages_are_current() -> None:
    assert stale() == [], "run `python -m wikimem.manual`"


def test_a_stale_page_is_found_and_rewritten(tmp_path: Path) -> None:
    assert write(tmp_path) == list(PAGES)
    (tmp_path / "cli.md").write_text("old")
    assert stale(tmp_path) == ["cli.md"]
    assert write(tmp_path) == ["cli.md"]
    assert stale(tmp_path) == []


def test_check_is_a_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "wikimem.manual", "--check"], capture_output=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stdout
    assert main(["--chekc"]) == 2


@pytest.mark.parametrize("page", sorted(MANUAL.glob("*.md")), ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(CODE.sub("", page.read_text(encoding="utf-8"))):
        name, _, fragment = unquote(target).partition("#")
        aim = page.parent / name if name else page
        assert aim.is_file(), f"{page.name} links to {target}"
        if fragment:
            assert fragment in anchors(aim), f"{page.name} links to {target}"


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_every_operation_and_each_of_its_parameters_is_documented(operation) -> None:
    page = (MANUAL / "cli.md").read_text(encoding="utf-8")
    section = page.partition(f"\n### {operation.name}\n")[2].partition("\n### ")[0]
    assert operation.summary in section
    for param in operation.own_params:
        shown = param.name.upper() if param.arg.positional else f"--{param.name.replace('_', '-')}"
        assert f"| `{shown}` |" in section
    for key in operation.output_schema()["properties"]:
        assert re.search(rf"^\| `{key}(\[\])?` \|", section, re.MULTILINE)


def test_processes_planned_names_settings_and_errors_are_documented() -> None:
    cli, config, errors = ((MANUAL / name).read_text(encoding="utf-8") for name in ("cli.md", "config.md", "errors.md"))
    for name in PROCESSES:
        assert f"\n### {name}\n" in cli
    for name in (*PLANNED, *PLANNED_PROCESSES):
        assert f"| `{name}` |" in cli
    for key in (*USER_KEYS, *VAULT_KEYS):
        assert f"### `{key.name}`" in config
    for kind in ERROR_KINDS:
        assert f"| `{kind.kind}` | {kind.exit_code} |" in errors
