"""Which pages were renamed: by git's history, and by comparing what is gone from the disk with what is new there.

Git keeps no renames; like git itself, a page that is gone and another that is new are taken for one where at least half
of their bytes are the same.
"""

from __future__ import annotations

import os
import secrets
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct

from wikimem.text.ids import revision_of
from wikimem.text.lazyregex import lazily
from wikimem.vault.gitcommand import run_git
from wikimem.vault.layout import is_page_name
from wikimem.vault.project import find_work_tree

LIKE: Final = 0.5
"""Share of common bytes from which two files are one that was renamed: what `git log -M` takes, too."""
MOST_PAIRS: Final = 40_000
"""Comparisons of a gone page with a new one. Where more would be needed, only equal content is looked for."""

_HISTORY_TIMEOUT_S: Final = 300.0
_PIECE: Final = 64
_COMMIT_ID: Final = lazily(r"[0-9a-f]{40}|[0-9a-f]{64}")
_OWN_MOVE: Final = "Wikimem-Op: move"

Change = tuple[str, str]
"""Old path and new path of a page; the old one is empty where the page was added."""


class Renames(Struct, frozen=True):
    """What commits renamed and added, oldest first. `continues` is False where they begin with the first commit.

    `removed` has the pages that a commit took away, with the last commit that did.
    """

    changes: tuple[tuple[Change, ...], ...]
    continues: bool
    removed: Mapping[str, str]


def head_commit(root: Path) -> str:
    """The commit that HEAD names in the repository around `root`; empty where there is none. Reads git's files, and
    asks git only where they do not say it."""
    tree = find_work_tree(root)
    if tree is None:
        return ""
    try:
        head = (tree.git_dir / "HEAD").read_text("utf-8", "surrogateescape").strip()
        if _COMMIT_ID.fullmatch(head):
            return head
        name = head.removeprefix("ref: ").strip()
        loose = (tree.common_dir / name).read_text("ascii").strip()
        if _COMMIT_ID.fullmatch(loose):
            return loose
    except (OSError, ValueError):
        pass
    done = run_git(root, "rev-parse", "--verify", "--quiet", "HEAD", check=False)
    return done.stdout.decode("ascii", "replace").strip() if done.returncode == 0 else ""


def read_renames(root: Path, *, since: str, until: str) -> Renames:
    """Renamed and added pages in the commits after `since` up to `until`; in all of them where `since` is empty or no
    part of that history. Merges are left out: what they join, their parents' commits have said.

    Errors as in `run_git`.
    """
    continues = bool(since) and _is_ancestor(root, since, until)
    mark = secrets.token_hex(8)
    record, field = f"<{mark}>", f"<{mark}|>"
    done = run_git(
        root,
        *("log", "-z", "--reverse", "--topo-order", "--no-merges", "-M", "--diff-filter=ADR", "--name-status"),
        *("--relative", "--no-show-signature", "--no-ext-diff", "--encoding=UTF-8", "-O/dev/null"),
        f"--format={record}%H%n%(trailers:unfold=true){field}",
        f"{since}..{until}" if continues else until,
        *("--", "."),
        timeout_s=_HISTORY_TIMEOUT_S,
    )
    changes = []
    removed: dict[str, str] = {}
    for part in os.fsdecode(done.stdout).split(record):
        head, _, names = part.partition(field)
        found, gone = _changes(names, own_move=_OWN_MOVE in head)
        removed.update(dict.fromkeys(gone, head.partition("\n")[0]))
        if found:
            changes.append(tuple(found))
    return Renames(tuple(changes), continues, removed)


def first_seen(renames: Renames) -> dict[str, int]:
    """For each page the number of the commit that added it under its first path: the lower, the older."""
    seen: dict[str, int] = {}
    for number, commit in enumerate(renames.changes):
        before = {old: seen.pop(old, number) for old, _ in commit if old}
        for old, new in commit:
            seen[new] = before[old] if old else seen.get(new, number)
    return seen


def _is_ancestor(root: Path, since: str, until: str) -> bool:
    return run_git(root, "merge-base", "--is-ancestor", since, until, check=False).returncode == 0


def _changes(names: str, *, own_move: bool) -> tuple[list[Change], list[str]]:
    """The pages that one commit added or renamed, and those that it removed; in a move of wikimem's, what it removed
    is what it added."""
    parts = iter([part.strip("\n") for part in names.split("\0")])
    renamed: list[Change] = []
    added: list[str] = []
    gone: list[str] = []
    for status in parts:
        if status.startswith("R"):
            old, new = next(parts), next(parts)
            if is_page_name(new):
                renamed.append((old if is_page_name(old) else "", new))
        elif status in ("A", "D"):
            path = next(parts)
            if is_page_name(path):
                (added if status == "A" else gone).append(path)
    if own_move and len(added) == len(gone) == 1:
        return [*renamed, (gone[0], added[0])], []
    return [*renamed, *(("", path) for path in added)], gone


def match_moves(
    gone: Mapping[str, str],
    new: Collection[str],
    read: Callable[[str], bytes],
    before: Callable[[Collection[str]], Mapping[str, bytes]],
) -> dict[str, str]:
    """Which of the `gone` pages (path -> revision) is which of the `new` ones: new path by old path.

    `read` gives the bytes of a new page, `before` those that gone ones had, where they are known. Of equal pages
    those of one file name belong together, then those of one folder; what stays ambiguous is no move.
    """
    revisions = {path: revision_of(read(path)) for path in new}
    moves = _equal(gone, revisions, empty=revision_of(b""))
    equal = set(gone.values()) & set(revisions.values())
    left = [path for path, revision in gone.items() if revision not in equal]
    free = [path for path, revision in revisions.items() if revision not in equal]
    if left and free and len(left) * len(free) <= MOST_PAIRS:
        moves |= _alike(
            {path: data for path, data in before(left).items() if data},
            {path: data for path in free if (data := read(path))},
        )
    return moves


def likeness(one: bytes, other: bytes) -> float:
    """The share of the larger file that is in the smaller one too, by lines (long ones in pieces): 0 to 1."""
    if one == other:
        return 1.0
    size = max(len(one), len(other))
    common = _pieces(one) & _pieces(other)
    return sum(len(piece) * count for piece, count in common.items()) / size if size else 1.0


def _pieces(data: bytes) -> Counter[bytes]:
    return Counter(
        line[start : start + _PIECE] for line in data.splitlines(keepends=True) for start in range(0, len(line), _PIECE)
    )


def _equal(gone: Mapping[str, str], new: Mapping[str, str], *, empty: str) -> dict[str, str]:
    moves: dict[str, str] = {}
    taken: set[str] = set()
    keys: tuple[Callable[[str], str], ...] = (_name, _folder, lambda _: "")
    for key in keys:
        olds: dict[tuple[str, str], list[str]] = defaultdict(list)
        news: dict[tuple[str, str], list[str]] = defaultdict(list)
        for paths, found, used in ((gone, olds, moves.keys()), (new, news, taken)):
            for path, revision in paths.items():
                # Empty pages are equal by accident: only the name says that one is another.
                if path not in used and (revision != empty or key is _name):
                    found[revision, key(path)].append(path)
        pairs = [(mine[0], news[both][0]) for both, mine in olds.items() if len(mine) == len(news.get(both, ())) == 1]
        moves.update(pairs)
        taken.update(path for _, path in pairs)
    return moves


def _alike(gone: Mapping[str, bytes], new: Mapping[str, bytes]) -> dict[str, str]:
    scored = sorted(
        (
            (-score, _name(old) != _name(path), old, path)
            for old, data in gone.items()
            for path, other in new.items()
            if (score := likeness(data, other)) >= LIKE
        ),
    )
    moves: dict[str, str] = {}
    taken: set[str] = set()
    for _, _, old, path in scored:
        if old not in moves and path not in taken:
            moves[old] = path
            taken.add(path)
    return moves


def committed_bytes(root: Path, paths: Collection[str]) -> dict[str, bytes]:
    """These pages as HEAD has them; those that it has not are left out."""
    asked = [path for path in paths if "\n" not in path]
    names = b"".join(b"HEAD:./" + os.fsencode(path) + b"\n" for path in asked)
    answer = run_git(root, "cat-file", "--batch", stdin=names, check=False).stdout if asked else b""
    found: dict[str, bytes] = {}
    at = 0
    for path in asked:
        end = answer.find(b"\n", at)
        if end < 0:
            break
        kind = answer[at:end].rsplit(b" ", 2)
        at = end + 1
        if len(kind) == 3 and kind[1] == b"blob":
            size = int(kind[2])
            found[path] = answer[at : at + size]
            at += size + 1
        elif not answer[:end].endswith((b" missing", b" ambiguous")):
            break
    return found


def committed_path(root: Path, path: str) -> str | None:
    """Where HEAD has the page that is at `path` on disk: there, or where it was before a rename that is in no commit;
    None where it does not have it."""
    if run_git(root, "cat-file", "-e", f"HEAD:./{path}", check=False).returncode == 0:
        return path
    moves = pending_moves(root, [path])
    return next((old for old, new in moves.items() if new == path), None)


def path_with_id(root: Path, revision: str, page_id: str) -> str | None:
    """Where a commit has the page whose frontmatter has this id, or an id with this end; None where it has none."""
    found = run_git(
        root,
        *("grep", "-z", "--name-only", "--ignore-case", "--extended-regexp"),
        *("-e", f"^id:[[:space:]]*[\"']?[0-9A-Z]*{page_id}[\"']?[[:space:]]*(#.*)?$", revision, "--", "."),
        check=False,
    )
    from wikimem.text.page import parse_page

    for name in (os.fsdecode(each).partition(":")[2] for each in found.stdout.split(b"\0") if each):
        if is_page_name(name):
            data = run_git(root, "cat-file", "blob", f"{revision}:./{name}").stdout
            if (parse_page(name, data).meta.id or "").endswith(page_id.upper()):
                return name
    return None


def pending_moves(root: Path, paths: Collection[str]) -> dict[str, str]:
    """Pages that HEAD has and the disk has not, which are at another one of the present `paths`: old -> new path."""
    options = ("-z", "--name-only", "--no-renames", "--no-ext-diff", "--diff-filter=D", "--relative")
    listed = run_git(root, "diff", *options, "HEAD", "--", ".", check=False)
    gone = [name for name in os.fsdecode(listed.stdout).split("\0") if is_page_name(name)]
    if not gone:
        return {}
    from wikimem.text.page import parse_page

    tree = run_git(root, "ls-tree", "-r", "-z", "--name-only", "HEAD", "--", ".", check=False)
    new = sorted(set(paths) - set(os.fsdecode(tree.stdout).split("\0")))
    before = committed_bytes(root, gone)
    old_ids = {page_id: name for name, data in before.items() if (page_id := parse_page(name, data).meta.id)}
    contents = {path: _bytes_at(root / path) for path in new}
    by_id = {
        old_ids[page_id]: path
        for path, data in contents.items()
        if (page_id := parse_page(path, data).meta.id) in old_ids
    }
    rest = {name: revision_of(data) for name, data in before.items() if name not in by_id}
    others = [path for path in new if path not in by_id.values()]
    return by_id | match_moves(rest, others, contents.__getitem__, lambda names: {name: before[name] for name in names})


def _bytes_at(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _folder(path: str) -> str:
    return path.rpartition("/")[0]
