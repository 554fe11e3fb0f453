"""Where things are: modules have names that say what they are about."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "wikimem"
MODULES = sorted(PACKAGE.rglob("*.py"))
VAGUE = {"utils", "helpers", "common", "base", "core", "misc", "manager", "service", "handler", "processor", "runner",
         "types", "models", "schemas", "dto"}  # fmt: skip
MOST_LINES = 450


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_module_is_small_and_named_for_what_it_does(module: Path) -> None:
    assert module.stem not in VAGUE
    assert len(module.read_text(encoding="utf-8").splitlines()) <= MOST_LINES


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_module_says_what_it_is(module: Path) -> None:
    tree = ast.parse(module.read_text(encoding="utf-8"))
    assert not tree.body or ast.get_docstring(tree), f"{module} has no docstring"
