"""A vault is opened only when its user says so (law 12)."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from pathlib import Path
from typing import Any

import pytest

from wikimem.errors import NotFound, Refused
from wikimem.operations.processes import init, trust
from wikimem.wiki import Caller, open_wiki

Desk = Any


def open_at(root: Path) -> None:
    open_wiki(str(root), cwd=root, caller=Caller(cwd=root)).close()


def test_a_clone_is_refused_until_it_is_trusted(desk: Desk, tmp_path: Path) -> None:
    desk.run("remember", title="One")
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", str(desk.root), str(clone)], check=True)
    with pytest.raises(Refused) as caught:
        open_at(clone)
    assert f"wikimem trust {clone}" in caught.value.hint
    with pytest.raises(Refused):
        open_wiki(None, cwd=clone, caller=Caller(cwd=clone))
    assert trust(clone, cwd=tmp_path).pages == 2
    open_at(clone)


def test_nothing_that_a_clone_brings_is_used(desk: Desk, tmp_path: Path) -> None:
    clone = tmp_path / "hostile"
    shutil.copytree(desk.root, clone)
    planted = clone / ".wikimem"
    (planted / "index").mkdir(parents=True)
    (planted / "index" / "_MAIN_1.toc").write_bytes(b"cos\nsystem\n(S'touch pwned'\ntR.")
    with socket.socket(socket.AF_UNIX) as planted_socket:
        os.chdir(planted)
        planted_socket.bind("socket")
        with pytest.raises(Refused):
            open_at(clone)
        assert trust(clone, cwd=tmp_path).pages >= 1
        wiki = open_wiki(str(clone), cwd=clone, caller=Caller(cwd=clone))
        wiki.refresh()
        wiki.close()
    assert not (clone / "pwned").exists()
    assert not (planted / "pwned").exists()
    assert str(wiki.folders.cache).startswith(os.environ["XDG_CACHE_HOME"])


@pytest.mark.parametrize("line", ["model = '/tmp/evil'", "command = 'x'", "socket = '/tmp/s'"])
def test_a_vaults_settings_cannot_name_what_could_harm(desk: Desk, tmp_path: Path, line: str) -> None:
    clone = tmp_path / "hostile"
    shutil.copytree(desk.root, clone)
    (clone / ".wikimem" / "config.toml").write_text(line + "\n")
    with pytest.raises(Refused, match=r"config\.toml, line 1"):
        trust(clone, cwd=tmp_path)
    with pytest.raises(Refused):
        open_at(clone)


def test_a_folder_that_is_no_vault_says_how_to_make_one(tmp_path: Path, desk: Desk) -> None:
    (tmp_path / "plain").mkdir()
    with pytest.raises(NotFound) as caught:
        open_at(tmp_path / "plain")
    assert "wikimem init" in caught.value.hint
    with pytest.raises(NotFound):
        trust(tmp_path / "plain", cwd=tmp_path)


def test_init_shows_its_plan_and_is_harmless_twice(tmp_path: Path, desk: Desk) -> None:
    plan = init(tmp_path / "new", cwd=tmp_path, dry_run=True)
    assert not (tmp_path / "new").exists()
    done = init(tmp_path / "new", cwd=tmp_path)
    assert done.made == plan.made
    head = subprocess.run(["git", "-C", done.vault, "rev-parse", "HEAD"], capture_output=True, check=True).stdout
    init(tmp_path / "new", cwd=tmp_path)
    again = subprocess.run(["git", "-C", done.vault, "rev-parse", "HEAD"], capture_output=True, check=True).stdout
    assert again == head


def test_an_index_of_somebody_else_is_thrown_away_and_said_so(desk: Desk) -> None:
    desk.run("remember", title="One")
    wiki = desk.wiki()
    folder = wiki.folders.index
    wiki.refresh()
    wiki.close()
    key = Path(os.environ["XDG_STATE_HOME"]) / "wikimem" / "key"
    key.write_bytes(bytes(32))
    found = desk.run("search", query="One")
    assert found.hits[0].title == "One"
    assert any(str(folder) in note or "index" in note for note in found.notes)
