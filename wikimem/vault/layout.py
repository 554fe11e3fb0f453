"""Which folder holds what in a vault (design section 2).

    projects/<project>/Profile.md
    projects/<project>/<kind>/<Title>.md      memories of one code base
    global/<kind>/<Title>.md                  memories of none
    sources/documents/<Title>.md              documents taken in whole

A folder that holds 500 pages takes no more: a new page goes into one of 16 subfolders, named by the first hex digit
of a digest of its name, and from a full one of these into the next digit's (`facts/`, `facts/a/`, `facts/a/3/`). So
a name has one place to be looked for at each level, and no folder grows wide, whatever the titles have in common.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Final

from wikimem.errors import Conflict, Invalid, Refused
from wikimem.vault.names import check_path, folded, portable_name

FOLDER_LIMIT: Final = 500
"""Pages in one folder: a commit costs what its widest folder costs (measured: 6 ms at 1,000 files, 42 at 10,000)."""

PAGE_SUFFIXES: Final = (".md", ".markdown")

KIND_FOLDERS: Final = {
    "fact": "facts",
    "decision": "decisions",
    "preference": "preferences",
    "pattern": "patterns",
    "lesson": "lessons",
    "error": "errors",
    "procedure": "procedures",
    "entity": "entities",
    "topic": "topics",
    "task": "tasks",
    "routine": "routines",
}
"""Type of a page -> folder. A page of any other type, a person's own or none, is kept in `notes`."""

_PLAIN_FOLDER: Final = "notes"
_SOURCES_FOLDER: Final = "sources/documents"
_MAX_DEPTH: Final = 8


def page_path(type: str, title: str, project: str | None, root: Path) -> str:
    """Where a new page of this type and title goes in the vault at `root`, relative to it.

    The disk is asked, so that what git ignores, or another process wrote just now, counts too. Conflict, with the
    existing page in `data["path"]`, where a page has that name already, or one that a case-insensitive or
    normalising file system takes for the same; and where a project's name differs from an existing one in such a
    way only. Invalid for a type whose pages have a place of their own; Refused where a folder on the way is a link.
    """
    if type == "profile":
        if project is None:
            raise Invalid("a profile belongs to a project", hint="Name the project with --project.")
        path = profile_path(project)
        _refuse_taken(root, path.rpartition("/")[0], "Profile.md")
        refuse_links(root, path)
        return path
    if type == "session":
        raise Invalid("session pages are written by capture, not by title", hint="Choose another type, such as topic.")
    folder = _kind_folder(type, project)
    if project is not None:
        _refuse_other_spelling(root, project)
    name = f"{portable_name(title)}.md"
    path = check_path(f"{_roomy_folder(root, folder, name)}/{name}")
    refuse_links(root, path)
    return path


def refuse_links(root: Path, path: str) -> None:
    """Refused where `path` or a folder above it in the vault is a symbolic link: what is written there could leave it.
    Refused too where such a folder is a repository of its own, whose files the vault's repository cannot hold.

    A link is not followed to see where it leads, because that can change before the write.
    """
    place = root
    for part in path.split("/"):
        place = place / part
        if os.path.lexists(place / ".git"):
            raise Refused(
                f"{place.relative_to(root)} is a git repository of its own, whose pages are not the vault's",
                hint="Make it a vault of its own (`wikimem init`), or move it out of this one.",
            )
        if place.is_symlink():
            raise Refused(
                f"{place.relative_to(root)} is a symbolic link, and wikimem writes through none",
                hint="Write to the page where it really lies, or replace the link with the folder.",
            )


def profile_path(project: str) -> str:
    """The page that describes a project, and registers it."""
    return check_path(f"projects/{portable_name(project)}/Profile.md")


def project_of(path: str) -> str | None:
    """The project in whose folder a page lies; None outside `projects/`."""
    parts = path.split("/")
    return parts[1] if len(parts) > 2 and parts[0] == "projects" else None


def is_page_name(name: str) -> bool:
    """Whether a file of this name is a Markdown page."""
    return name.lower().endswith(PAGE_SUFFIXES)


def _kind_folder(type_name: str, project: str | None) -> str:
    if type_name == "source":
        return _SOURCES_FOLDER
    kind = KIND_FOLDERS.get(type_name, _PLAIN_FOLDER)
    return f"global/{kind}" if project is None else f"projects/{portable_name(project)}/{kind}"


def _roomy_folder(root: Path, folder: str, name: str) -> str:
    """The first folder on the name's way that is not full. A page that already has the name is found on the way."""
    digits = hashlib.blake2b(folded(name).encode("utf-8"), digest_size=_MAX_DEPTH).hexdigest()
    roomy = None
    for digit in digits[:_MAX_DEPTH]:
        names = _refuse_taken(root, folder, name)
        if roomy is None and sum(map(is_page_name, names)) < FOLDER_LIMIT:
            roomy = folder
        # A folder that was full once has subfolders still, where a page of this name may lie.
        if roomy is not None and digit not in names:
            break
        folder = f"{folder}/{digit}"
    return roomy or folder


def _refuse_taken(root: Path, folder: str, name: str) -> list[str]:
    """The names in `folder`, none of which a file system takes for `name`; else Conflict."""
    names = _names(root / folder)
    wanted = folded(name)
    taken = next((other for other in names if folded(other) == wanted), None)
    if taken is not None:
        path = f"{folder}/{taken}"
        same = (
            "a page of that name exists" if taken == name else "a page exists whose name differs only in case or form"
        )
        raise Conflict(
            f"{same}: {path}",
            hint=f"Change it with `wikimem edit`, or choose another title than '{name.removesuffix('.md')}'.",
            data={"path": path},
        )
    return names


def _refuse_other_spelling(root: Path, project: str) -> None:
    name = portable_name(project)
    for other in _names(root / "projects"):
        if other != name and folded(other) == folded(name):
            raise Conflict(
                f"the project '{other}' differs from '{name}' only in case or form",
                hint=f"Use --project '{other}'.",
                data={"path": f"projects/{other}"},
            )


def _names(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise Refused(
            f"cannot look into {folder}: {error.strerror}", hint="Check that it is a folder, and its permissions."
        ) from error
