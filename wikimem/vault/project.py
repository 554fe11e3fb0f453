"""Which project a working directory belongs to: by the remote of its git repository, else by folder name.

Reads `.git` itself instead of running git: this is asked at every command and in hooks, and a repository's settings
cannot make it run anything. `include` and `url.<base>.insteadOf` are not followed.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from msgspec import Struct

from wikimem.text.lazyregex import lazily
from wikimem.vault.names import folded, portable_name

_MAX_CONFIG_BYTES: Final = 1_000_000

_URL: Final = lazily(
    r"(?P<scheme>[a-z][a-z0-9+.-]*)://(?P<authority>[^/?#]*)(?P<path>[^?#]*)(?:[?#].*)?", re.IGNORECASE | re.DOTALL
)
_SCP: Final = lazily(r"(?P<authority>(?:[^/:@]*@)?(?:\[[^\]/]+\]|[^/:\[\]]{2,})):(?P<path>.*)", re.DOTALL)
_SCP_WITH_PORT: Final = lazily(r"\[(?P<authority>[^\[\]/]+:\d+)\]:(?P<path>.*)", re.DOTALL)
_HOST: Final = lazily(r"(?P<host>\[[^\]]*\]|[^:]*)(?::\d*)?")
"""The forms of git-clone(1), "GIT URLS". A host of one letter is a drive of Windows, so a path."""

_REMOTE_HEADER: Final = lazily(r'\[\s*remote\s+"(?P<name>(?:[^"\\]|\\.)*)"\s*\]', re.IGNORECASE)

_SSH_HOSTS: Final = {
    "ssh.github.com": "github.com",
    "altssh.gitlab.com": "gitlab.com",
    "altssh.bitbucket.org": "bitbucket.org",
    "ssh.dev.azure.com": "dev.azure.com",
}
"""Second names of hosts for ssh through port 443, and Azure's own (from these services' manuals)."""


class WorkTree(Struct, frozen=True):
    """A git work tree: its top folder, its own git folder, and the one that its worktrees share."""

    top: Path
    git_dir: Path
    common_dir: Path


class ProjectIdentity(Struct, frozen=True):
    """What tells a project from others. `remotes` holds the one remote that does (normalised), or nothing.

    `name` is fit for a folder's name and not yet unique in a vault: see `choose_project_name`.
    """

    name: str
    remotes: tuple[str, ...]
    folder: Path


def detect_project(cwd: Path, vault_root: Path, *, home: Path | None = None) -> ProjectIdentity | None:
    """The project of the working directory `cwd`, which is the same from a subfolder and from a linked worktree.

    None inside the vault itself and where there is no repository: `Downloads` is no project. A repository whose top is
    the home folder or `/` (dotfiles under git) is none either.
    """
    here = Path(os.path.realpath(cwd))
    vault = Path(os.path.realpath(vault_root))
    no_project = {Path(os.path.realpath(home or Path.home())), Path(here.anchor)}
    if here == vault or vault in here.parents or here in no_project:
        return None
    repository = find_work_tree(here)
    if repository is None or repository.top in no_project:
        return None
    remote = _chosen_remote(repository)
    if remote:
        return ProjectIdentity(portable_name(_last_part(remote)), (remote,), repository.top)
    return ProjectIdentity(portable_name(_work_tree_name(repository)), (), repository.top)


def choose_project_name(identity: ProjectIdentity, profiles: Mapping[str, tuple[str, ...]]) -> str:
    """The name of this project in a vault whose projects are `profiles`: name -> its remotes.

    The project that has the same remote; else the first of `name`, `owner-name`, `name-2`, ... that is free, or that
    no remote tells apart (both without one, or a project that had none when it was first seen).
    """
    wanted = {remote.casefold() for remote in identity.remotes}
    for name, remotes in profiles.items():
        if wanted & {normalise_remote(remote).casefold() for remote in remotes}:
            return name
    known = {folded(name): name for name in profiles}
    free = (name for name in _candidates(identity) if not profiles.get(known.get(folded(name), "")))
    name = next(free)
    return known.get(folded(name), name)


def normalise_remote(url: str) -> str:
    """`host/path` of a remote URL: no scheme, user, password, port, query or `.git`; ssh and https forms are equal.

    The host is in lower case, the path as written. A remote on this machine is its path. Empty for an empty URL.
    """
    text = url.strip()
    if match := _URL.fullmatch(text):
        authority, path = match["authority"], unquote(match["path"])
        if match["scheme"].lower() == "file":
            return _plain_path(path)
    elif match := _SCP_WITH_PORT.fullmatch(text) or _SCP.fullmatch(text):
        authority, path = match["authority"], match["path"]
    else:
        return _plain_path(text)
    if "@" not in authority and "@" in path and not _HOST.fullmatch(authority):
        # `https://user:pa/ss@host/x`: a password with an unescaped `/` puts its rest and the host into the path.
        authority, _, path = path.rpartition("@")[2].partition("/")
    host = _host(authority)
    path = _plain_path(path).lstrip("/").removeprefix("~")
    if host == "dev.azure.com":
        path = path.removeprefix("v3/").replace("/_git/", "/", 1)
    return f"{host}/{path}".rstrip("/") if host else path


def find_work_tree(cwd: Path) -> WorkTree | None:
    """The nearest git work tree around `cwd`, as git would find it; None outside of any."""
    here = Path(os.path.realpath(cwd))
    for top in (here, *here.parents):
        git_dir = _git_dir(top / ".git")
        if git_dir is not None:
            return WorkTree(top, git_dir, _common_dir(git_dir))
    return None


def _git_dir(place: Path) -> Path | None:
    """The git folder that `.git` is or points to, if it looks like one to git (`HEAD`, `objects`, `refs`)."""
    git_dir = place
    if os.path.isfile(place):
        words = _read_text(place).strip()
        if not words.startswith("gitdir:"):
            return None
        git_dir = place.parent / words.removeprefix("gitdir:").strip()
    head = git_dir / "HEAD"
    if not os.path.islink(head) and not os.path.isfile(head):
        return None
    return Path(os.path.realpath(git_dir)) if os.path.isdir(_common_dir(git_dir) / "objects") else None


def _common_dir(git_dir: Path) -> Path:
    words = _read_text(git_dir / "commondir").strip()
    return Path(os.path.realpath(git_dir / words if words else git_dir))


def _work_tree_name(repository: WorkTree) -> str:
    if repository.common_dir == repository.git_dir:
        return repository.top.name
    if repository.common_dir.name == ".git":
        return repository.common_dir.parent.name
    return repository.common_dir.name.removesuffix(".git")


def _chosen_remote(repository: WorkTree) -> str:
    """The normalised URL of `origin`, else of the first remote by name; empty without remotes."""
    urls = read_remotes(_read_text(repository.common_dir / "config"))
    for name in sorted(urls, key=lambda name: (name != "origin", name)):
        url = urls[name]
        if url.startswith(("./", "../")):
            url = os.path.join(repository.top, url)
        if remote := normalise_remote(url):
            return remote
    return ""


def read_remotes(text: str) -> dict[str, str]:
    """Name -> first URL of each remote in the text of a git config file. What does not parse is passed over."""
    remotes: dict[str, str] = {}
    current = ""
    for line in re.sub(r"\\\r?\n", "", text).splitlines():
        setting = line.strip()
        if setting.startswith("["):
            header = _REMOTE_HEADER.match(setting)
            current = re.sub(r"\\(.)", r"\1", header["name"]) if header else ""
            setting = setting[header.end() :].strip() if header else ""
        url = re.match(r"url\s*=\s*(?P<value>.*)", setting, re.IGNORECASE)
        if current and url and current not in remotes:
            remotes[current] = _config_value(url["value"])
    return remotes


def _config_value(raw: str) -> str:
    """A value of a git config file: quotes and escapes undone, a comment outside quotes cut off."""
    value, quoted, kept = "", False, 0
    escapes = {"n": "\n", "t": "\t", "b": "\b"}
    chars = iter(raw)
    for char in chars:
        if char == "\\":
            following = next(chars, "")
            value += escapes.get(following, following)
        elif char == '"':
            quoted = not quoted
        elif char in "#;" and not quoted:
            break
        else:
            value += char
            if char.isspace() and not quoted:
                continue
        kept = len(value)
    return value[:kept]


def _host(authority: str) -> str:
    host = authority.rpartition("@")[2].lower()
    if match := _HOST.fullmatch(host):
        host = match["host"]
    host = host.rstrip(".")
    return _SSH_HOSTS.get(host, host.removeprefix("www."))


def _plain_path(path: str) -> str:
    plain = re.sub(r"/+", "/", path.replace("\\", "/")).rstrip("/")
    if plain.endswith("/.git"):
        plain = plain.removesuffix("/.git")
    plain = plain.removesuffix(".git").rstrip("/")
    return os.path.normpath(plain) if plain.startswith("/") else plain


def _last_part(remote: str) -> str:
    return remote.rpartition("/")[2]


def _candidates(identity: ProjectIdentity) -> Iterator[str]:
    """Names to try, best first, without end."""
    yield identity.name
    for remote in identity.remotes:
        owner = remote.rpartition("/")[0].rpartition("/")[2]
        if owner:
            yield portable_name(f"{owner}-{identity.name}")
    for number in itertools.count(2):
        yield portable_name(f"{identity.name}-{number}")


def _read_text(path: Path) -> str:
    """The beginning of a small file of git's; empty where it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(_MAX_CONFIG_BYTES).decode("utf-8", "surrogateescape")
    except OSError:
        return ""
