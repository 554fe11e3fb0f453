"""Which project a working directory belongs to, read from real repositories."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wikimem.vault.project import (
    ProjectIdentity,
    choose_project_name,
    detect_project,
    find_work_tree,
    normalise_remote,
    read_remotes,
)

SETUP = ("-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "protocol.file.allow=always")


def git(cwd: Path, *args: str) -> str:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    done = subprocess.run(
        ["git", "-C", str(cwd), *SETUP, *args], check=True, capture_output=True, text=True, env=environment
    )
    return done.stdout


def repository(path: Path, remote: str | None = None, name: str = "origin") -> Path:
    path.mkdir(parents=True)
    git(path, "init", "-q")
    git(path, "commit", "-q", "--allow-empty", "-m", "first")
    if remote:
        git(path, "remote", "add", name, remote)
    return path


def identify(cwd: Path, tmp_path: Path) -> ProjectIdentity:
    found = detect_project(cwd, tmp_path / "vault", home=tmp_path / "home")
    assert found is not None
    return found


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/Acme/shop.git",
        "https://github.com/Acme/shop",
        "https://github.com/Acme/shop/",
        "https://ada:s3cret@GitHub.com:443/Acme/shop.git",
        "https://x-access-token:ghs_abc@github.com/Acme/shop.git?depth=1#main",
        "https://ada:pa/ss@github.com/Acme/shop.git",
        "http://www.github.com//Acme//shop",
        "git@github.com:Acme/shop.git",
        "github.com:Acme/shop",
        "[git@github.com:22]:Acme/shop.git",
        "ssh://git@github.com:22/Acme/shop.git",
        "ssh://git@ssh.github.com:443/Acme/shop.git",
        "git+ssh://git@github.com/Acme/shop",
        "git://github.com/Acme/shop.git",
        "  https://github.com/Acme/shop.git\n",
    ],
)
def test_all_forms_of_one_remote_are_one(url: str) -> None:
    assert normalise_remote(url) == "github.com/Acme/shop"


@pytest.mark.parametrize(
    ("url", "normalised"),
    [
        ("git@ssh.dev.azure.com:v3/org/proj/repo", "dev.azure.com/org/proj/repo"),
        ("https://org@dev.azure.com/org/proj/_git/repo", "dev.azure.com/org/proj/repo"),
        ("https://gitlab.com/group/sub/shop.git", "gitlab.com/group/sub/shop"),
        ("git@gitlab.com:group/sub/shop.git", "gitlab.com/group/sub/shop"),
        ("https://[::1]:8080/shop.git", "[::1]/shop"),
        ("https://example.org/my%20shop", "example.org/my shop"),
        ("https://git.sr.ht/~ada/shop", "git.sr.ht/ada/shop"),
        ("git@git.sr.ht:~ada/shop", "git.sr.ht/ada/shop"),
        ("/srv/git/shop.git", "/srv/git/shop"),
        ("/srv/code/shop/.git/", "/srv/code/shop"),
        ("file:///srv/git/shop.git", "/srv/git/shop"),
        ("C:\\code\\shop.git", "C:/code/shop"),
        ("", ""),
    ],
)
def test_other_kinds_of_remotes(url: str, normalised: str) -> None:
    assert normalise_remote(url) == normalised


@given(st.text(st.sampled_from("ab@:/?#[].~\\ %2é-_"), max_size=40))
@settings(max_examples=200, deadline=None)
def test_no_credential_survives_whatever_follows(path: str) -> None:
    found = normalise_remote(f"https://ada:s3cret@example.org/{path}")
    assert found.startswith("example.org")
    assert "s3cret" not in found


def test_a_project_is_named_by_its_remote(tmp_path: Path) -> None:
    top = repository(tmp_path / "checkout-2", "git@github.com:Acme/shop.git")
    assert identify(top, tmp_path) == ProjectIdentity("shop", ("github.com/Acme/shop",), top)


def test_a_subfolder_and_a_symlink_give_the_same_project(tmp_path: Path) -> None:
    top = repository(tmp_path / "shop", "https://github.com/Acme/shop")
    (top / "src" / "deep").mkdir(parents=True)
    (tmp_path / "link").symlink_to(top / "src")
    assert identify(top / "src" / "deep", tmp_path) == identify(tmp_path / "link", tmp_path) == identify(top, tmp_path)


def test_a_linked_worktree_is_the_project_of_its_repository(tmp_path: Path) -> None:
    top = repository(tmp_path / "shop")
    git(top, "worktree", "add", "-q", "-b", "fix", str(tmp_path / "elsewhere" / "fix-1"))
    git(top, "worktree", "add", "-q", "-b", "in", str(top / ".claude" / "worktrees" / "in"))
    for place in (tmp_path / "elsewhere" / "fix-1", top / ".claude" / "worktrees" / "in"):
        assert identify(place, tmp_path).name == "shop"
        assert identify(place, tmp_path).remotes == ()
    git(top, "remote", "add", "origin", "https://github.com/Acme/store.git")
    assert identify(tmp_path / "elsewhere" / "fix-1", tmp_path).remotes == ("github.com/Acme/store",)


def test_a_worktree_of_a_bare_repository_goes_by_the_repository(tmp_path: Path) -> None:
    git(repository(tmp_path / "src"), "clone", "-q", "--bare", str(tmp_path / "src"), str(tmp_path / "shop.git"))
    git(tmp_path / "shop.git", "remote", "remove", "origin")
    git(tmp_path / "shop.git", "worktree", "add", "-q", str(tmp_path / "wt"), "HEAD")
    assert identify(tmp_path / "wt", tmp_path).name == "shop"


def test_a_submodule_is_a_project_of_its_own(tmp_path: Path) -> None:
    library = repository(tmp_path / "library")
    top = repository(tmp_path / "shop", "https://github.com/Acme/shop")
    git(top, "submodule", "--quiet", "add", str(library), "vendor/lib")
    git(top / "vendor" / "lib", "remote", "set-url", "origin", "https://github.com/Acme/lib")
    assert identify(top / "vendor" / "lib", tmp_path).remotes == ("github.com/Acme/lib",)
    assert identify(top / "vendor", tmp_path).remotes == ("github.com/Acme/shop",)


def test_a_git_folder_that_lies_elsewhere_is_followed(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    git(tmp_path / "shop", "init", "-q", "--separate-git-dir", str(tmp_path / "store"))
    git(tmp_path / "shop", "remote", "add", "origin", "https://example.org/a/b")
    assert identify(tmp_path / "shop", tmp_path).remotes == ("example.org/a/b",)


def test_origin_comes_first_and_then_the_first_name(tmp_path: Path) -> None:
    top = repository(tmp_path / "shop", "https://example.org/z/upstream", "upstream")
    git(top, "remote", "add", "fork", "https://example.org/f/fork")
    assert identify(top, tmp_path).remotes == ("example.org/f/fork",)
    git(top, "remote", "add", "origin", "https://example.org/o/origin")
    assert identify(top, tmp_path).remotes == ("example.org/o/origin",)


def test_a_relative_remote_is_taken_from_the_repository(tmp_path: Path) -> None:
    top = repository(tmp_path / "work" / "shop", "../store.git")
    assert identify(top, tmp_path).remotes == (str(tmp_path / "work" / "store"),)


def test_without_a_remote_the_folder_is_the_project_and_without_a_repository_there_is_none(tmp_path: Path) -> None:
    top = repository(tmp_path / "my shop?")
    (top / "src").mkdir()
    assert identify(top / "src", tmp_path) == ProjectIdentity("my shop", (), top)
    plain = tmp_path / "플레인"
    plain.mkdir()
    assert detect_project(plain, tmp_path / "vault", home=tmp_path) is None


def test_inside_the_vault_and_at_home_there_is_no_project(tmp_path: Path) -> None:
    home = repository(tmp_path / "home", "https://github.com/ada/dotfiles")
    vault = repository(home / "vault", "https://github.com/ada/notes")
    (vault / "projects" / "shop").mkdir(parents=True)
    (tmp_path / "link").symlink_to(vault)
    for cwd in (home, vault, vault / "projects" / "shop", tmp_path / "link", Path("/")):
        assert detect_project(cwd, vault, home=home) is None
    (home / "scripts").mkdir()
    assert detect_project(home / "scripts", vault, home=home) is None


def test_a_vault_inside_a_repository_leaves_the_rest_of_it_a_project(tmp_path: Path) -> None:
    top = repository(tmp_path / "shop", "https://github.com/Acme/shop")
    (top / "docs" / "memory").mkdir(parents=True)
    assert detect_project(top / "docs" / "memory", top / "docs" / "memory", home=tmp_path) is None
    found = detect_project(top / "docs", top / "docs" / "memory", home=tmp_path)
    assert found is not None
    assert found.remotes == ("github.com/Acme/shop",)


@pytest.mark.parametrize("content", [b"", b"garbage", b"gitdir: /nowhere\n", b"gitdir: .\n", b"\xff\xfe\0"])
def test_a_git_file_that_leads_nowhere_is_passed_over(tmp_path: Path, content: bytes) -> None:
    outer = repository(tmp_path / "outer", "https://example.org/a/outer")
    (outer / "inner").mkdir()
    (outer / "inner" / ".git").write_bytes(content)
    assert identify(outer / "inner", tmp_path).remotes == ("example.org/a/outer",)


def test_an_empty_git_folder_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    assert find_work_tree(tmp_path / "shop") is None


def test_git_finds_the_same_work_tree(tmp_path: Path) -> None:
    top = repository(tmp_path / "shop")
    (top / "a").mkdir()
    git(top, "worktree", "add", "-q", str(tmp_path / "wt"), "-b", "x")
    for place in (top / "a", tmp_path / "wt"):
        found = find_work_tree(place)
        assert found is not None
        said = git(place, "rev-parse", "--path-format=absolute", "--show-toplevel", "--git-dir", "--git-common-dir")
        assert said.splitlines() == [str(found.top), str(found.git_dir), str(found.common_dir)]


def test_a_config_file_is_read_as_git_reads_it(tmp_path: Path) -> None:
    text = (
        "[core]\n\tbare = false\n[remote \"we\\\"ird\"] url = \"https://x/a;b\" ; comment\n[Remote \"cont\"]\n"
        "  URL = https://x/\\\nlong # comment\n  url = https://x/second\n[branch \"m\"]\n url = no\n"
        "[remote \"esc\"]\n\turl = a\\tb\\\\c\n[remote]\n\turl = nameless\n"
    )  # fmt: skip
    ours = read_remotes(text)
    (tmp_path / "config").write_text(text)
    for name, url in ours.items():
        values = git(tmp_path, "config", "-z", "--file", "config", "--get-all", f"remote.{name}.url").split("\0")
        assert values[0] == url
    assert sorted(ours) == ["cont", "esc", 'we"ird']


@given(st.text(st.sampled_from('[]remote "\\\n=url;#\0é'), max_size=60))
@settings(max_examples=200, deadline=None)
def test_no_config_file_is_too_broken_to_read(text: str) -> None:
    assert isinstance(read_remotes(text), dict)


def identity(name: str, *remotes: str) -> ProjectIdentity:
    return ProjectIdentity(name, remotes, Path("/code") / name)


def test_the_same_remote_is_the_same_project_under_any_name() -> None:
    profiles = {"shop": ("gitlab.com/other/shop",), "storefront": ("git@github.com:acme/Shop.git",)}
    assert choose_project_name(identity("shop", "github.com/Acme/shop"), profiles) == "storefront"


def test_a_free_name_is_taken_and_a_taken_one_gets_its_owner() -> None:
    shop = identity("shop", "github.com/Acme/shop")
    assert choose_project_name(shop, {}) == "shop"
    assert choose_project_name(shop, {"shop": ("github.com/Other/shop",)}) == "Acme-shop"
    taken = {"Shop": ("github.com/Other/shop",), "acme-shop": ("github.com/x/y",)}
    assert choose_project_name(shop, taken) == "shop-2"
    assert choose_project_name(shop, taken | {"shop-2": ("github.com/z/z",)}) == "shop-3"


def test_without_a_remote_the_name_decides_but_never_joins_another_remote() -> None:
    assert choose_project_name(identity("shop"), {"shop": ()}) == "shop"
    assert choose_project_name(identity("shop"), {"Shop": ()}) == "Shop"
    profiles = {"shop": ("github.com/Acme/shop",)}
    assert choose_project_name(identity("shop"), profiles) == "shop-2"
    assert choose_project_name(identity("shop"), profiles | {"shop-2": ()}) == "shop-2"


def test_a_project_that_gets_its_first_remote_stays_itself() -> None:
    assert choose_project_name(identity("shop", "github.com/Acme/shop"), {"shop": ()}) == "shop"
