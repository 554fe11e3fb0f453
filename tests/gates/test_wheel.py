"""What people install works outside the source tree: the wheel carries templates, model and manual."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Home

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this tree, built by its backend."""
    folder = tmp_path_factory.mktemp("wheel")
    script = f"from hatchling.build import build_wheel; print(build_wheel({str(folder)!r}))"
    built = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    return folder / built.stdout.split()[-1]


def test_the_wheel_works_without_the_source_tree(wheel: Path, home: Home, tmp_path: Path) -> None:
    site = tmp_path / "site"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    env = home.env | {"PYTHONPATH": str(site)}

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "wikimem", *arguments],
            cwd=home.path,
            env=env,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    where = [sys.executable, "-P", "-c", "import wikimem; print(wikimem.__file__)"]
    used = subprocess.run(where, env=env, cwd=home.path, capture_output=True, text=True, check=True).stdout
    assert used.startswith(os.fspath(site)), "the installed package is what runs"
    run("init", "notes")
    run(
        "--vault",
        "notes",
        "remember",
        "Use jose for JWTs",
        "--text",
        "The edge runtime has no Node crypto.",
    )
    assert "Use jose for JWTs" in run("--vault", "notes", "search", "edge runtime crypto")
    assert "vectors: ready" in run("--vault", "notes", "status")
    assert "concepts" in run("help")


def test_the_wheel_holds_no_tests_and_no_example(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {"wikimem"}
    assert any(name.startswith("wikimem/templates/vault/") for name in names)
    assert any(name.startswith("wikimem/index/model/model.safetensors") for name in names)
