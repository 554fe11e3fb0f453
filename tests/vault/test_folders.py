"""The user's own folders: where they are, who may look into them, and the key that is made once."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from wikimem.errors import Damaged, Refused, Unavailable
from wikimem.vault.folders import (
    index_stamp,
    private_folder,
    read_private,
    user_folders,
    user_key,
    vault_folders,
    vault_key,
)


@pytest.fixture(autouse=True)
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    for name in ("CONFIG", "CACHE", "STATE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(home / name.lower()))
    return home


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_the_folders_follow_xdg_and_are_private(user: Path) -> None:
    folders = user_folders()
    assert folders.config == user / "config" / "wikimem"
    assert folders.cache == user / "cache" / "wikimem"
    assert folders.state == user / "state" / "wikimem"
    assert [mode(path) for path in (folders.config, folders.cache, folders.state)] == [0o700] * 3


def test_each_vault_has_folders_of_its_own(user: Path, tmp_path: Path) -> None:
    keys = set()
    for parent in ("a", "b"):
        root = tmp_path / parent / "notes"
        root.mkdir(parents=True)
        folders = vault_folders(vault_key(root))
        assert mode(folders.cache) == mode(folders.state) == 0o700
        assert folders.cache.is_relative_to(user / "cache")
        assert folders.index.parent == folders.cache
        assert not folders.index.exists()
        keys.add(folders.key)
    assert len(keys) == 2
    assert all(key.startswith("notes-") for key in keys)


@pytest.mark.parametrize("name", ["品牌", "..", "a b/../ü", "-", "x" * 200, "a\nb"])
def test_a_vault_key_is_one_plain_folder_name(tmp_path: Path, name: str) -> None:
    key = vault_key(tmp_path / name)
    assert key.isascii()
    assert "/" not in key
    assert not key.startswith((".", "-"))
    assert len(key) < 80


def test_a_vault_has_one_key_by_whatever_link_it_is_reached(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert vault_key(tmp_path / "link") == vault_key(tmp_path / "real")
    assert index_stamp(b"k", tmp_path / "link") == index_stamp(b"k", tmp_path / "real")


def test_a_folder_that_others_can_write_is_refused(tmp_path: Path) -> None:
    for bits in (0o770, 0o707, 0o777):
        place = tmp_path / f"open-{bits:o}"
        place.mkdir()
        place.chmod(bits)
        with pytest.raises(Refused, match="other users can write") as caught:
            private_folder(place)
        assert "chmod 700" in caught.value.hint


def test_a_folder_that_others_can_only_read_is_closed(tmp_path: Path) -> None:
    place = tmp_path / "readable"
    place.mkdir(mode=0o755)
    private_folder(place)
    assert mode(place) == 0o700


def test_a_link_in_place_of_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    for name in ("link", "dangling"):
        with pytest.raises(Refused):
            private_folder(tmp_path / name)
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_folder_of_another_user_is_refused(tmp_path: Path) -> None:
    place = tmp_path / "theirs"
    place.mkdir(mode=0o700)
    os.chown(place, 12345, 12345)
    with pytest.raises(Refused, match="another user"):
        private_folder(place)


def test_a_file_in_place_of_a_folder_is_refused_and_below_one_unavailable(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(Refused, match="not a folder"):
        private_folder(tmp_path / "file")
    with pytest.raises(Unavailable, match="cannot make"):
        private_folder(tmp_path / "file" / "below")


def test_the_key_is_made_once_and_only_for_this_user(user: Path) -> None:
    key = user_key()
    assert len(key) == 32
    assert user_key() == key
    file = user / "state" / "wikimem" / "key"
    assert mode(file) == 0o600
    assert file.read_bytes() == key


def test_processes_that_start_at_once_agree_on_the_key() -> None:
    code = "import sys; from wikimem.vault.folders import user_key; sys.stdin.read(1); print(user_key().hex())"
    started = [
        subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    for process in started:
        assert process.stdin is not None
        process.stdin.write("g")
        process.stdin.flush()
    keys = {process.communicate()[0].strip() for process in started}
    assert len(keys) == 1
    assert keys == {user_key().hex()}


@pytest.mark.parametrize("size", [0, 31, 33, 5000])
def test_a_damaged_key_is_reported_and_never_replaced(user: Path, size: int) -> None:
    user_key()
    file = user / "state" / "wikimem" / "key"
    file.write_bytes(b"k" * size)
    with pytest.raises(Damaged, match=r"key.*32 bytes"):
        user_key()
    assert file.stat().st_size == size


def test_a_key_that_others_can_read_is_refused(user: Path) -> None:
    user_key()
    (user / "state" / "wikimem" / "key").chmod(0o640)
    with pytest.raises(Refused, match="other users"):
        user_key()


def test_a_planted_key_link_is_refused(user: Path, tmp_path: Path) -> None:
    user_folders()
    (tmp_path / "planted").write_bytes(b"k" * 32)
    (user / "state" / "wikimem" / "key").symlink_to(tmp_path / "planted")
    with pytest.raises(Refused, match="symbolic link"):
        user_key()


def test_a_fifo_in_place_of_a_private_file_does_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "key", 0o600)
    with pytest.raises(Refused, match="not a regular file"):
        read_private(tmp_path / "key", limit=10)


def test_stamps_differ_by_key_and_by_vault(tmp_path: Path) -> None:
    stamps = {index_stamp(key, tmp_path / name) for key in (b"a", b"b") for name in ("x", "y")}
    assert len(stamps) == 4
