"""Which vault a command means, and that only this user's own word makes a folder one (law 12)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from wikimem.errors import Damaged, NotFound, Refused
from wikimem.vault.registry import VaultRegistry, default_root, resolve_vault


@pytest.fixture
def registry(tmp_path: Path) -> VaultRegistry:
    folder = tmp_path / "config"
    folder.mkdir(mode=0o700)
    return VaultRegistry(folder)


def make_vault(path: Path) -> Path:
    (path / ".wikimem").mkdir(parents=True)
    (path / ".wikimem" / "config.toml").write_text("")
    return path


def resolve(registry: VaultRegistry, explicit: str | None = None, *, cwd: Path, default: Path | None = None) -> Path:
    return resolve_vault(explicit, cwd=cwd, registry=registry, default=default or cwd / "no-default")


def test_an_empty_registry_knows_nothing(registry: VaultRegistry, tmp_path: Path) -> None:
    assert registry.vaults() == ()
    assert registry.default is None
    assert registry.find_for(tmp_path) is None


def test_registered_vaults_are_found_by_real_path(registry: VaultRegistry, tmp_path: Path) -> None:
    root = make_vault(tmp_path / "notes é")
    (tmp_path / "link").symlink_to(root)
    registry.register(tmp_path / "link", "made")
    assert [vault.root for vault in registry.vaults()] == [root]
    for way in (root, tmp_path / "link", root / ".." / root.name):
        found = registry.find(way)
        assert found is not None
        assert (found.root, found.how) == (root, "made")
    assert registry.path.stat().st_mode & 0o777 == 0o600


def test_registering_twice_keeps_one_entry(registry: VaultRegistry, tmp_path: Path) -> None:
    root = make_vault(tmp_path / "v")
    registry.register(root, "made")
    registry.register(root, "trusted")
    assert [(vault.root, vault.how) for vault in registry.vaults()] == [(root, "trusted")]


def test_a_folder_that_is_not_there_cannot_be_registered(registry: VaultRegistry, tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        registry.register(tmp_path / "nowhere", "trusted")
    assert registry.vaults() == ()


def test_a_vault_is_forgotten_even_when_it_is_gone(registry: VaultRegistry, tmp_path: Path) -> None:
    root = make_vault(tmp_path / "v")
    registry.register(root, "made")
    registry.set_default(root)
    root.rename(tmp_path / "moved")
    assert registry.forget(root)
    assert not registry.forget(root)
    assert registry.vaults() == ()
    assert registry.default is None


def test_names_that_are_not_utf8_survive(registry: VaultRegistry, tmp_path: Path) -> None:
    root = make_vault(Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9")))
    registry.register(root, "made")
    assert registry.find(root) is not None


def test_the_innermost_vault_around_the_working_directory_is_meant(registry: VaultRegistry, tmp_path: Path) -> None:
    outer, inner = make_vault(tmp_path / "outer"), make_vault(tmp_path / "outer" / "sub" / "inner")
    below = inner / "a" / "b"
    below.mkdir(parents=True)
    registry.register(outer, "made")
    registry.register(inner, "trusted")
    assert resolve(registry, cwd=below) == inner
    assert resolve(registry, cwd=outer / "sub") == outer


def test_a_neighbour_with_a_longer_name_is_not_inside(registry: VaultRegistry, tmp_path: Path) -> None:
    registry.register(make_vault(tmp_path / "notes"), "made")
    (tmp_path / "notes-old").mkdir()
    assert registry.find_for(tmp_path / "notes-old") is None


def test_what_is_named_wins_over_the_working_directory_and_the_default(registry: VaultRegistry, tmp_path: Path) -> None:
    here, named, default = (make_vault(tmp_path / name) for name in ("here", "named", "default"))
    for root in (here, named, default):
        registry.register(root, "made")
    assert resolve(registry, str(named), cwd=here, default=default) == named
    assert resolve(registry, "../named", cwd=here, default=default) == named
    assert resolve(registry, cwd=here, default=default) == here
    assert resolve(registry, "", cwd=tmp_path, default=default) == default


def test_a_planted_vault_is_refused_wherever_it_is_met(registry: VaultRegistry, tmp_path: Path) -> None:
    mine = make_vault(tmp_path / "mine")
    registry.register(mine, "made")
    clone = make_vault(tmp_path / "a clone")
    (clone / "src").mkdir()
    for explicit, cwd in ((str(clone), tmp_path), (None, clone), (None, clone / "src")):
        with pytest.raises(Refused, match="never made or trusted") as caught:
            resolve(registry, explicit, cwd=cwd, default=mine)
        assert caught.value.hint.endswith(f"`wikimem trust '{clone}'`.")
    with pytest.raises(Refused):
        resolve(registry, cwd=tmp_path, default=clone)


def test_a_planted_vault_inside_a_trusted_one_is_refused(registry: VaultRegistry, tmp_path: Path) -> None:
    mine = make_vault(tmp_path / "mine")
    registry.register(mine, "made")
    inner = make_vault(mine / "cloned")
    with pytest.raises(Refused):
        resolve(registry, cwd=inner)


def test_a_moved_vault_is_refused_at_its_new_place_and_missed_at_the_old(
    registry: VaultRegistry, tmp_path: Path
) -> None:
    old = make_vault(tmp_path / "old")
    registry.register(old, "made")
    old.rename(tmp_path / "new")
    with pytest.raises(Refused, match="never made or trusted"):
        resolve(registry, str(tmp_path / "new"), cwd=tmp_path)
    with pytest.raises(NotFound, match="no longer there") as caught:
        resolve(registry, str(old), cwd=tmp_path)
    assert "wikimem trust" in caught.value.hint


def test_a_vault_that_lost_its_marker_is_not_used(registry: VaultRegistry, tmp_path: Path) -> None:
    root = make_vault(tmp_path / "v")
    registry.register(root, "made")
    (root / ".wikimem").rename(root / "gone")
    with pytest.raises(NotFound, match=r"lost its \.wikimem"):
        resolve(registry, cwd=root)


def test_no_vault_at_all_is_not_found_with_the_way_to_make_one(registry: VaultRegistry, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no vault at") as caught:
        resolve(registry, cwd=tmp_path, default=tmp_path / "wikimem")
    assert f"wikimem init {tmp_path / 'wikimem'}" in caught.value.hint


def test_a_folder_inside_a_vault_is_not_a_vault(registry: VaultRegistry, tmp_path: Path) -> None:
    root = make_vault(tmp_path / "v")
    (root / "projects").mkdir()
    registry.register(root, "made")
    with pytest.raises(NotFound, match="inside the vault") as caught:
        resolve(registry, str(root / "projects"), cwd=tmp_path)
    assert str(root) in caught.value.hint


def test_a_symlinked_vault_is_followed(registry: VaultRegistry, tmp_path: Path) -> None:
    root = make_vault(tmp_path / "real")
    (tmp_path / "link").symlink_to(root)
    registry.register(root, "made")
    assert resolve(registry, str(tmp_path / "link"), cwd=tmp_path) == root
    assert resolve(registry, cwd=tmp_path / "link") == root


def test_the_default_is_configured_or_chosen_or_in_the_home_folder(registry: VaultRegistry, tmp_path: Path) -> None:
    home = tmp_path / "home"
    assert default_root(None, registry, home) == home / "wikimem"
    root = make_vault(tmp_path / "v")
    with pytest.raises(NotFound, match="not a registered vault"):
        registry.set_default(root)
    registry.register(root, "made")
    registry.set_default(root)
    assert default_root(None, registry, home) == root
    assert default_root(tmp_path / "mine", registry, home) == tmp_path / "mine"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", 1),
        ('{"format": 1,\n "vaults": [\n', 3),
        ('{"format": 1,\n "vaults": {}}', 2),
        ('{\n"format": 1,\n"vaults": [{"root": "relative", "how": "made"}]}', 3),
        ('{\n"format": 1,\n"vaults": [\n{"root": "/v", "how": "planted"}]}', 4),
        ('{"format": 1, "vaults": [],\n"default": 7}', 2),
        ("[]", 1),
    ],
)
def test_a_damaged_registry_is_named_and_never_overwritten(
    registry: VaultRegistry, tmp_path: Path, text: str, line: int
) -> None:
    registry.path.write_text(text)
    registry.path.chmod(0o600)
    root = make_vault(tmp_path / "v")
    for act in (registry.vaults, lambda: registry.register(root, "made"), lambda: registry.forget(root)):
        with pytest.raises(Damaged, match=rf"vaults\.json, line {line}: ") as caught:
            act()
        assert caught.value.data["line"] == line
    assert registry.path.read_text() == text


def test_a_registry_of_a_newer_wikimem_is_refused(registry: VaultRegistry) -> None:
    registry.path.write_text(json.dumps({"format": 2, "vaults": []}))
    registry.path.chmod(0o600)
    with pytest.raises(Refused, match="format 2"):
        registry.vaults()


def test_a_registry_that_others_can_write_is_refused(registry: VaultRegistry, tmp_path: Path) -> None:
    registry.register(make_vault(tmp_path / "v"), "made")
    registry.path.chmod(0o666)
    with pytest.raises(Refused):
        registry.vaults()


def test_processes_that_register_at_once_all_succeed(registry: VaultRegistry, tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from wikimem.vault.registry import VaultRegistry\n"
        "registry = VaultRegistry(Path(sys.argv[1]))\n"
        "for root in sys.argv[2:]: registry.register(Path(root), 'made')"
    )
    groups = [[str(make_vault(tmp_path / f"v{group}-{number}")) for number in range(8)] for group in range(3)]
    started = [subprocess.Popen([sys.executable, "-c", code, str(registry.path.parent), *group]) for group in groups]
    assert [process.wait() for process in started] == [0, 0, 0]
    assert {str(vault.root) for vault in registry.vaults()} == {root for group in groups for root in group}
