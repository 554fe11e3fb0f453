"""Hooks find folders, keys and vaults where the rest of wikimem does: two ways, one answer."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from wikimem.errors import Damaged, Refused, WikimemError
from wikimem.operations.processes import init
from wikimem.vault import folders, locate
from wikimem.vault.config import read_user_config
from wikimem.vault.folders import user_folders, vault_folders, vault_key
from wikimem.vault.locate import NoVault, place_for
from wikimem.vault.registry import VaultRegistry, default_root, resolve_vault

if TYPE_CHECKING:
    from tests.conftest import Home


def as_commands_do(named: str | None, cwd: Path) -> Path | None:
    mine = user_folders()
    registry = VaultRegistry(mine.config)
    default = default_root(read_user_config(mine.config).default_vault, registry, Path.home())
    try:
        return resolve_vault(named, cwd=cwd, registry=registry, default=default)
    except WikimemError:
        return None


def as_hooks_do(named: str | None, cwd: Path) -> Path | None:
    try:
        place = place_for(named, str(cwd), locate.state_folder())
    except NoVault:
        return None
    assert place.state == str(vault_folders(vault_key(Path(place.root))).state)
    return Path(place.root)


@pytest.mark.parametrize("state", [None, "", "/var/tmp/state", "relative/state"])
@pytest.mark.parametrize("config", [None, "/var/tmp/config"])
def test_folders_are_the_same(
    home: Home, monkeypatch: pytest.MonkeyPatch, state: str | None, config: str | None
) -> None:
    for name, value in (("XDG_STATE_HOME", state), ("XDG_CONFIG_HOME", config)):
        monkeypatch.delenv(name)
        if value is not None:
            monkeypatch.setenv(name, value)
    assert locate.state_folder() == str(folders.user_state_path("wikimem", appauthor=False))
    assert locate.config_folder() == str(folders.user_config_path("wikimem", appauthor=False))


@pytest.mark.parametrize("name", ["wikimem", "My Notes", "Grüße", "記憶", "--", "x" * 80, "a.b_c"])
def test_the_folders_of_a_vault_are_the_same(home: Home, name: str) -> None:
    root = home.path / name
    init(root, cwd=home.path)
    assert as_hooks_do(None, root) == as_commands_do(None, root) == root


def test_the_vault_that_is_meant_is_the_same(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    default, notes, clone = home.path / "wikimem", home.path / "notes", home.path / "clone"
    init(default, cwd=home.path)
    init(notes, cwd=home.path)
    (notes / "deep" / "down").mkdir(parents=True)
    (notes / "inner" / ".wikimem").mkdir(parents=True)
    (clone / ".wikimem").mkdir(parents=True)
    (clone / "src").mkdir()
    (home.path / "link").symlink_to(notes / "deep")
    plain = home.path / "work"
    for cwd in (
        plain,
        default,
        notes,
        notes / "deep" / "down",
        notes / "inner",
        clone,
        clone / "src",
        home.path / "link",
    ):
        assert as_hooks_do(None, cwd) == as_commands_do(None, cwd)
    for named in ("notes", str(notes), "~/notes", "clone", "nowhere", " ", "notes/deep"):
        assert as_hooks_do(named, home.path) == as_commands_do(named, home.path)
    config = Path(home.env["XDG_CONFIG_HOME"]) / "wikimem" / "config.toml"
    config.write_text('default_vault = "~/notes"\n')
    assert as_hooks_do(None, plain) == as_commands_do(None, plain) == notes
    config.write_text('default_vault = "~/nowhere"\n')
    assert as_hooks_do(None, plain) is as_commands_do(None, plain) is None
    config.unlink()
    assert as_hooks_do(None, plain) == default


def test_rules_of_the_user_are_copied_once_and_again_when_they_change(home: Home, vault: Path) -> None:
    config = Path(home.env["XDG_CONFIG_HOME"]) / "wikimem" / "config.toml"
    state = locate.state_folder()
    for rule in ("A-[0-9]", "B-[0-9]"):
        config.write_text(f"[redact]\nbadge = '{rule}'\n")
        assert place_for(None, "/", state).redact == [("badge", rule)]
        assert place_for(None, "/", state).redact == [("badge", rule)]
    copy = Path(state) / "hook-settings.json"
    for damage in (b"", b"[]", b'{"format": 1}', b"\xff"):
        copy.write_bytes(damage)
        assert place_for(None, "/", state).redact == [("badge", "B-[0-9]")]
    config.write_text("[redact]\nbadge = '('\n")
    with pytest.raises(WikimemError):
        place_for(None, "/", state)


def test_the_key_is_the_same_and_is_made_where_there_is_none(home: Home) -> None:
    state = locate.private_folder(locate.state_folder())
    key = locate.user_key(state)
    assert key == folders.user_key() == locate.user_key(state)
    os.chmod(f"{state}/key", 0o644)
    with pytest.raises(Refused):
        locate.user_key(state)


def test_a_damaged_list_of_vaults_is_said_and_never_guessed_at(home: Home, vault: Path) -> None:
    (Path(home.env["XDG_CONFIG_HOME"]) / "wikimem" / "vaults.json").write_text("{")
    with pytest.raises(Damaged):
        place_for(None, "/", locate.state_folder())


def test_a_folder_is_made_private_or_refused(tmp_path: Path) -> None:
    made = tmp_path / "a" / "b"
    assert locate.private_folder(str(made)) == str(made)
    assert made.stat().st_mode & 0o777 == 0o700
    made.chmod(0o777)
    with pytest.raises(Refused):
        locate.private_folder(str(made))
    (tmp_path / "link").symlink_to(made)
    with pytest.raises(Refused):
        locate.private_folder(str(tmp_path / "link"))
