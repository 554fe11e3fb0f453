"""What `init` plans for a new folder and for somebody's own, and that planning touches nothing."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from wikimem.errors import Damaged, Invalid, Refused
from wikimem.vault.config import VaultConfig, read_vault_config
from wikimem.vault.create import (
    VaultPlan,
    add_lines,
    plan_vault,
    render_config,
    render_vault,
    templates_folder,
)
from wikimem.vault.gitcommand import run_git
from wikimem.vault.scan import scan

IDENTITY = ("-c", "user.name=T", "-c", "user.email=t@example.org")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    return folder


def plan(path: Path) -> VaultPlan:
    return plan_vault(path, templates_folder())


def carry_out(planned: VaultPlan) -> None:
    """What `init` does with a plan, in the order that the plan's description gives."""
    planned.root.mkdir(parents=True, exist_ok=True)
    if planned.needs_git:
        run_git(planned.root, "init", "-q")
    if planned.excludes:
        before = planned.exclude_file.read_bytes() if planned.exclude_file.exists() else b""
        planned.exclude_file.parent.mkdir(exist_ok=True)
        planned.exclude_file.write_bytes(add_lines(before, planned.excludes))
    for path, data in planned.files.items():
        file = planned.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        assert not file.exists()
        file.write_bytes(data)


def repository(root: Path, **files: str) -> Path:
    root.mkdir(parents=True)
    run_git(root, "init", "-q")
    for name, text in files.items():
        (root / f"{name}.md").write_text(text)
    run_git(root, "add", "-A")
    run_git(root, *IDENTITY, "commit", "-q", "--allow-empty", "-m", "mine")
    return root


def everything(root: Path) -> dict[str, bytes | str]:
    return {
        str(path.relative_to(root)): os.readlink(path) if path.is_symlink() else path.read_bytes()
        for path in root.rglob("*")
        if path.is_symlink() or path.is_file()
    }


@pytest.mark.parametrize("state", ["missing", "empty", "fresh repository"])
def test_a_new_folder_gets_the_whole_layout(tmp_path: Path, state: str) -> None:
    root = tmp_path / "a" / "My notes é"
    if state != "missing":
        root.mkdir(parents=True)
        (root / ".DS_Store").touch()
    if state == "fresh repository":
        run_git(root, "init", "-q")
    planned = plan(root)
    assert planned.kind == "new"
    assert planned.needs_git is (state != "fresh repository")
    assert planned.excludes == ()
    assert {
        "Home.md", "dashboards/memory.base", "templates/Decision.md", ".gitignore", ".gitattributes",
        ".obsidian/app.json", ".obsidian/core-plugins.json", ".obsidian/types.json", ".obsidian/templates.json",
        ".wikimem/config.toml",
    } <= set(planned.files)  # fmt: skip
    assert planned.files["Home.md"].startswith("# My notes é\n".encode())
    carry_out(planned)
    assert list(scan(root, read_vault_config(root).exclude).files) == ["Home.md"]


def test_planning_touches_nothing(tmp_path: Path) -> None:
    mine = repository(tmp_path / "mine", a="text")
    before = everything(tmp_path)
    plan(tmp_path / "new")
    plan(mine)
    assert everything(tmp_path) == before


def test_the_settings_of_a_new_vault_are_the_defaults(tmp_path: Path) -> None:
    carry_out(plan(tmp_path / "v"))
    assert read_vault_config(tmp_path / "v") == VaultConfig()
    odd = VaultConfig(exclude=('/a "quoted" \\* ü/', "x"), context_budget=500)
    (tmp_path / "v" / ".wikimem" / "config.toml").write_bytes(render_config(templates_folder(), odd))
    assert read_vault_config(tmp_path / "v") == odd


def test_git_status_of_an_existing_repository_stays_as_it_was(tmp_path: Path) -> None:
    root = repository(tmp_path / "mine", a="text", b="text")
    (root / "a.md").write_text("unsaved")
    (root / "new.md").write_text("new")
    run_git(root, "rm", "-q", "--cached", "b.md")
    before = run_git(root, "status", "--porcelain=v2", "--branch", "--untracked-files=all").stdout
    files = everything(root)
    planned = plan(root)
    assert (planned.kind, planned.needs_git, list(planned.files)) == ("existing", False, [".wikimem/config.toml"])
    carry_out(planned)
    assert run_git(root, "status", "--porcelain=v2", "--branch", "--untracked-files=all").stdout == before
    for place in (root, root / "sub"):
        place.mkdir(exist_ok=True)
        (place / ".wikimem-left-by-a-crash.tmp").touch()
    assert run_git(root, "status", "--porcelain=v2", "--branch", "--untracked-files=all").stdout == before
    changed = {path for path, data in everything(root).items() if files.get(path) != data}
    changed = {path for path in changed if not path.endswith(".tmp")}
    assert changed == {".wikimem/config.toml", ".git/info/exclude"}


def test_an_existing_folder_without_git_gets_git_and_keeps_its_files(tmp_path: Path) -> None:
    root = tmp_path / "notes"
    root.mkdir()
    (root / "a.md").write_bytes(b"\xef\xbb\xbfa\r\n")
    files = everything(root)
    planned = plan(root)
    assert (planned.kind, planned.needs_git) == ("existing", True)
    assert any("none of your files is committed" in note for note in planned.notes)
    carry_out(planned)
    assert run_git(root, "status", "--porcelain").stdout == b"?? a.md\n"
    assert {path: data for path, data in everything(root).items() if path in files} == files


@pytest.mark.parametrize("name", ["memory", "with space", "odd [x]*?\\#!", "-dash", ":(top)", "ü"])
def test_a_folder_below_a_repository_is_kept_there_and_hidden_from_its_status(tmp_path: Path, name: str) -> None:
    outer = repository(tmp_path / "outer")
    root = outer / "docs" / name
    root.mkdir(parents=True)
    (root / "a.md").write_text("text")
    before = run_git(outer, "status", "--porcelain", "-z", "-uall").stdout
    planned = plan(root)
    assert (planned.kind, planned.needs_git) == ("existing", False)
    carry_out(planned)
    assert run_git(outer, "status", "--porcelain", "-z", "-uall").stdout == before
    (outer / ".wikimem").mkdir()
    (outer / ".wikimem" / "x").touch()
    assert run_git(outer, "status", "--porcelain", "-z", "-uall").stdout != before


def test_in_a_linked_worktree_the_shared_exclude_file_is_used(tmp_path: Path) -> None:
    root = repository(tmp_path / "mine", a="text")
    run_git(root, "worktree", "add", "-q", "-b", "x", str(tmp_path / "wt"))
    planned = plan(tmp_path / "wt")
    assert planned.exclude_file == root / ".git" / "info" / "exclude"
    carry_out(planned)
    assert run_git(tmp_path / "wt", "status", "--porcelain").stdout == b""


@pytest.mark.parametrize("made", [True, False])
@pytest.mark.parametrize("with_git", [True, False])
def test_a_folder_that_the_repository_around_it_ignores_gets_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: bool, with_git: bool
) -> None:
    outer = repository(tmp_path / "outer")
    (outer / ".gitignore").write_text("private/\n")
    root = outer / "private" / "memory"
    if made:
        root.mkdir(parents=True)
    if not with_git:
        monkeypatch.setenv("PATH", "/nowhere")
    planned = plan(root)
    assert planned.needs_git
    assert planned.exclude_file == root / ".git" / "info" / "exclude"


def test_the_templates_that_obsidian_uses_are_left_out_of_the_index(tmp_path: Path) -> None:
    root = repository(tmp_path / "mine", a="text")
    for folder in ("Meta/My [T]", "templates"):
        (root / folder).mkdir(parents=True)
        (root / folder / "t.md").write_text("---\ncreated: {{date}}\n---\n")
    (root / ".obsidian").mkdir()
    (root / ".obsidian" / "templates.json").write_text(json.dumps({"folder": "/Meta/My [T]/"}))
    planned = plan(root)
    carry_out(planned)
    assert any("Meta" in note for note in planned.notes)
    assert list(scan(root, read_vault_config(root).exclude).files) == ["a.md", "templates/t.md"]


@pytest.mark.parametrize("content", ["", "[]", "{", '{"folder": 3}', '{"folder": "gone"}', '{"folder": "/"}'])
def test_settings_of_obsidian_that_say_nothing_exclude_nothing(tmp_path: Path, content: str) -> None:
    root = repository(tmp_path / "mine", a="text")
    (root / ".obsidian").mkdir()
    (root / ".obsidian" / "templates.json").write_text(content)
    assert tomllib.loads(plan(root).files[".wikimem/config.toml"].decode())["exclude"] == []


def test_what_is_a_vault_already_has_nothing_to_be_written(tmp_path: Path) -> None:
    carry_out(plan(tmp_path / "v"))
    planned = plan(tmp_path / "v")
    assert (planned.kind, planned.files, planned.excludes, planned.needs_git) == ("vault", {}, (), False)


def test_a_symlink_is_followed_to_the_folder(tmp_path: Path) -> None:
    root = repository(tmp_path / "mine", a="text")
    (tmp_path / "link").symlink_to(root)
    assert plan(tmp_path / "link").root == root


def test_places_that_are_no_good_for_a_vault_are_refused(tmp_path: Path, home: Path) -> None:
    outer = tmp_path / "outer"
    carry_out(plan(outer))
    (tmp_path / "file.md").touch()
    run_git(tmp_path, "init", "-q", "--bare", "bare.git")
    for path, error, words in (
        (home, Refused, "as a whole"),
        (Path("/"), Refused, "as a whole"),
        (outer / "projects" / "new", Refused, "inside the vault"),
        (outer / ".git" / "x", Refused, r"\.git"),
        (tmp_path / "file.md", Invalid, "not a folder"),
        (tmp_path / "bare.git", Invalid, "bare repository"),
    ):
        with pytest.raises(error, match=words) as caught:
            plan(path)
        assert caught.value.hint


UNWRITABLE = """
import os, sys
from pathlib import Path
from wikimem.errors import Refused
from wikimem.vault.create import plan_vault, templates_folder
templates = templates_folder()
if os.geteuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
try:
    plan_vault(Path(sys.argv[1]) / "v", templates)
except Refused as error:
    print(error.message)
"""


def test_a_folder_that_cannot_be_written_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o555)
    done = subprocess.run(
        [sys.executable, "-c", UNWRITABLE, str(closed)], stdout=subprocess.PIPE, text=True, check=True
    )
    assert done.stdout.endswith("cannot be written\n")


def test_lines_are_added_to_the_exclude_file_once_and_the_rest_stays() -> None:
    assert add_lines(b"", ["/.wikimem/"]) == b"/.wikimem/\n"
    assert add_lines(b"# mine\r\nx\xff", ["/.wikimem/"]) == b"# mine\r\nx\xff\n/.wikimem/\n"
    once = add_lines(b"x\n", ["/a/", "/b/"])
    assert add_lines(once, ["/b/", "/a/"]) == once
    assert add_lines(b"/a/\r\n", ["/a/"]) == b"/a/\r\n"


def test_the_files_of_a_new_vault_are_what_obsidian_and_git_expect() -> None:
    files = render_vault(templates_folder(), name="N", config=VaultConfig())
    for path, data in files.items():
        text = data.decode("utf-8")
        assert text.endswith("\n")
        assert "\r" not in text
        assert not path.endswith(".j2")
        if path.endswith(".json"):
            json.loads(text)
    types = json.loads(files[".obsidian/types.json"])["types"]
    assert (types["valid_from"], types["sources"], types["pinned"]) == ("date", "multitext", "checkbox")
    base = yaml.safe_load(files["dashboards/memory.base"])
    views = {view["name"] for view in base["views"]}
    embedded = set(re.findall(r"!\[\[memory\.base#([^\]]+)\]\]", files["Home.md"].decode()))
    assert embedded
    assert embedded <= views
    for path in files:
        if path.startswith("templates/"):
            head = files[path].decode().split("---\n")[1]
            assert {line.split(":")[0] for line in head.splitlines()} <= set(types)


def test_new_vaults_keep_the_bytes_of_pages_whatever_git_is_set_to(tmp_path: Path) -> None:
    root = tmp_path / "v"
    carry_out(plan(root))
    run_git(root, "config", "core.autocrlf", "true")
    (root / "crlf.md").write_bytes(b"a\r\nb\r\n")
    run_git(root, "add", "crlf.md")
    assert run_git(root, "cat-file", "blob", ":crlf.md").stdout == b"a\r\nb\r\n"


def test_missing_templates_are_damage(tmp_path: Path) -> None:
    with pytest.raises(Damaged, match="templates"):
        render_vault(tmp_path, name="N", config=VaultConfig())
    with pytest.raises(Damaged, match="cannot read the template"):
        render_config(tmp_path, VaultConfig())
