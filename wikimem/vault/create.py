"""What `wikimem init` would write: a pure plan, made before anything is touched (law 2).

A new folder gets the whole layout. Somebody's own folder gets `.wikimem/config.toml` and nothing else, and git is
told in its local `info/exclude` not to list that, so that `git status` says what it said before. The look of a new
vault (`native_files`) comes to it only where its owner asks, and only as files that are not there yet.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal

from jinja2 import StrictUndefined
from jinja2.sandbox import SandboxedEnvironment
from msgspec import Struct

from wikimem.errors import Damaged, Invalid, Refused
from wikimem.vault.config import CONFIG_NAME, VAULT_KEYS, ConfigKey, VaultConfig
from wikimem.vault.names import folded
from wikimem.vault.pagerules import ignored_around
from wikimem.vault.project import find_work_tree
from wikimem.vault.registry import MARKER

CONFIG_PATH: Final = f"{MARKER}/{CONFIG_NAME}"
TEMPORARY_FILES: Final = ".wikimem-*.tmp"

_OF_NO_ACCOUNT: Final = frozenset({".git", ".DS_Store", "Thumbs.db", "desktop.ini"})
"""A folder that holds nothing else is a new one."""

_TEMPLATE: Final = ".j2"
_DOT: Final = "dot-"
"""Stands for the leading dot in the names of template files: a `.gitignore` among them would act on this repository."""

_IGNORE_FILE: Final = ".wikimemignore"
_TEMPLATES: Final = "templates"
_NOT_THEIRS: Final = (CONFIG_PATH, ".gitignore", ".gitattributes")
"""Of a new vault only: in somebody's repository these would change what git makes of their own files."""

Kind = Literal["new", "existing", "vault"]


class NativeLook(Struct, frozen=True):
    """What `init --native` would add to a vault: path -> bytes, none of which exists; `kept` are there already."""

    files: Mapping[str, bytes]
    kept: tuple[str, ...]
    notes: tuple[str, ...]


class VaultPlan(Struct, frozen=True):
    """What is to be done to make a vault of `root` (a real path, which need not exist yet).

    `kind`: a new folder, somebody's own, or one that is a vault already (then there is nothing to write, and whether
    it may be used is the registry's question). `files` maps paths below the root to bytes, none of which exists yet.
    `excludes` are lines for `exclude_file` (git's `info/exclude`, which may not exist), to be added before the files
    are written. `needs_git` asks for `git init` in `root` first. `notes` say all of it to a person.
    """

    root: Path
    kind: Kind
    files: Mapping[str, bytes]
    excludes: tuple[str, ...]
    exclude_file: Path
    needs_git: bool
    notes: tuple[str, ...]
    exclude: tuple[str, ...] = ()
    """The patterns that the settings to be written leave out of the vault."""


def plan_vault(path: Path, templates: Path) -> VaultPlan:
    """Look at `path` and say what `init` would do there; reads only.

    `templates` is what `templates_folder` gives. Invalid where the path is a file or a bare repository, Refused for
    the home folder and `/`, inside another vault or a `.git`, and where the folder cannot be written.
    """
    root = Path(os.path.realpath(path))
    _refuse_unfit(root)
    names = set(os.listdir(root)) if os.path.isdir(root) else set()
    tree = find_work_tree(_nearest_folder(root))
    needs_git = tree is None or ignored_around(tree, root)
    exclude_file = root / ".git" / "info" / "exclude"
    if tree is not None and not needs_git:
        exclude_file = tree.common_dir / "info" / "exclude"
    if MARKER in names:
        return VaultPlan(root, "vault", {}, (), exclude_file, needs_git, (f"{root} is a vault already",))
    prefix = "" if tree is None or needs_git or tree.top == root else root.relative_to(tree.top).as_posix()
    if names - _OF_NO_ACCOUNT:
        return _plan_existing(root, templates, prefix, exclude_file, needs_git=needs_git)
    files = render_vault(templates, name=root.name, config=VaultConfig())
    notes = []
    if prefix and tree is not None and not needs_git:
        notes.append(f"its history is kept in the repository around it, {tree.top}")
    return VaultPlan(root, "new", files, (), exclude_file, needs_git, tuple(notes))


def render_vault(templates: Path, *, name: str, config: VaultConfig) -> dict[str, bytes]:
    """Every file of a new vault called `name`: path below the root -> bytes."""
    source = templates / "vault"
    rendered: dict[str, bytes] = {}
    for file in sorted(source.rglob("*")):
        if file.is_file():
            parts = file.relative_to(source).parts
            place = "/".join(re.sub(rf"^{_DOT}", ".", part) for part in parts).removesuffix(_TEMPLATE)
            rendered[place] = _render(file, name=name, config=config)
    if CONFIG_PATH not in rendered:
        raise Damaged(f"the templates of a vault are not in {source}", hint="Install wikimem again.")
    return rendered


def native_files(root: Path, templates: Path, exclude: Sequence[str]) -> NativeLook:
    """What the vault at `root` lacks of the look of a new one; reads only. `exclude` are the patterns of its settings.

    Files that are there are never among them, in whatever case they are spelled. Page templates go into the folder
    that Obsidian uses for them already. A `templates/` folder of the owner's that nothing sets up is left alone.
    """
    rendered = render_vault(templates, name=root.name, config=VaultConfig())
    wanted = {path: data for path, data in rendered.items() if path not in _NOT_THEIRS}
    notes: list[str] = []
    own = next(iter(_template_folders(root)), "")
    if own:
        lead = f"{_TEMPLATES}/"
        wanted = {
            f"{own}/{path.removeprefix(lead)}" if path.startswith(lead) else path: data for path, data in wanted.items()
        }
    elif not own and os.path.isdir(root / _TEMPLATES):
        notes.append(f"'{_TEMPLATES}/' is yours, so no page templates are added")
        wanted = {path: data for path, data in wanted.items() if not path.startswith(f"{_TEMPLATES}/")}
    elif not own and f"/{_TEMPLATES}/" not in exclude:
        # As pages they would be damaged ones: placeholders stand where properties have values.
        wanted[_IGNORE_FILE] = f"/{_TEMPLATES}/\n".encode()
        if os.path.lexists(root / _IGNORE_FILE):
            notes.append(f"'{_IGNORE_FILE}' does not leave out '/{_TEMPLATES}/', so no page templates are added")
            wanted = {path: data for path, data in wanted.items() if not path.startswith(f"{_TEMPLATES}/")}
    present = {path for path in wanted if _is_there(root, path)}
    files = {path: data for path, data in wanted.items() if path not in present}
    if any(path.startswith(".obsidian/") for path in present):
        notes.append(
            "your settings of Obsidian stay as they are; `wikimem help obsidian` says what the missing ones do"
        )
    return NativeLook(files, tuple(sorted(present)), tuple(notes))


def _is_there(root: Path, path: str) -> bool:
    """Whether anything is at the path, or at one that a file system may take for it."""
    folder = root
    for part in path.split("/"):
        try:
            names = os.listdir(folder)
        except NotADirectoryError:
            return True
        except OSError:
            return False
        found = next((name for name in names if folded(name) == folded(part)), None)
        if found is None:
            return False
        folder /= found
    return True


def render_config(templates: Path, config: VaultConfig) -> bytes:
    """`.wikimem/config.toml` with these settings, each with its line of explanation."""
    return _render(templates / "vault" / f"{_DOT}wikimem" / f"{CONFIG_NAME}{_TEMPLATE}", name="", config=config)


def add_lines(data: bytes, lines: Sequence[str]) -> bytes:
    """`data` (git's `info/exclude`) with those of `lines` that it lacks at its end; every other byte as it was."""
    present = {line.rstrip(b"\r") for line in data.split(b"\n")}
    missing = [line.encode("utf-8", "surrogateescape") for line in lines]
    missing = [line for line in missing if line not in present]
    if not missing:
        return data
    gap = b"" if not data or data.endswith(b"\n") else b"\n"
    return data + gap + b"".join(line + b"\n" for line in missing)


def templates_folder() -> Path:
    """The folder of templates: inside the package when installed, beside it in a source checkout; else Damaged."""
    package = Path(__file__).resolve().parent.parent
    for folder in (package / "templates", package.parent / "templates"):
        if (folder / "vault").is_dir():
            return folder
    raise Damaged(f"wikimem's templates are neither in {package} nor beside it", hint="Install wikimem again.")


def _plan_existing(root: Path, templates: Path, prefix: str, exclude_file: Path, *, needs_git: bool) -> VaultPlan:
    config = VaultConfig(exclude=_people_templates(root))
    notes = [
        f"takes {root} as it is: no file in it is changed or moved",
        f"adds {CONFIG_PATH}, and tells git not to list what is wikimem's own (in {exclude_file})",
    ]
    notes.append(f"adds nothing to how it looks in Obsidian: `wikimem init {root} --native` shows what it could")
    if config.exclude:
        notes.append(f"leaves the templates in {', '.join(config.exclude)} out of the index")
    if needs_git:
        notes.append("the folder was not under git: it is now, and none of your files is committed")
    files = {CONFIG_PATH: render_config(templates, config)}
    lines = _exclude_patterns(prefix)
    return VaultPlan(root, "existing", files, lines, exclude_file, needs_git, tuple(notes), config.exclude)


def _refuse_unfit(root: Path) -> None:
    if root in (Path(root.anchor), Path(os.path.realpath(Path.home()))):
        raise Refused(f"{root} as a whole would become the vault", hint="Name a folder in it, such as ~/wikimem.")
    if ".git" in (part.lower() for part in root.parts):
        raise Refused(f"{root} lies in a repository's .git", hint="Name a folder outside it.")
    if os.path.lexists(root) and not os.path.isdir(root):
        raise Invalid(f"{root} is not a folder", hint="Name a folder, or a path where one can be made.")
    if all(os.path.exists(root / name) for name in ("HEAD", "objects", "refs")):
        raise Invalid(f"{root} is a bare repository", hint="Clone it and use the clone as the vault.")
    for outer in root.parents:
        if os.path.lexists(outer / MARKER):
            raise Refused(f"{root} lies inside the vault {outer}", hint=f"Use that vault, or a folder outside {outer}.")
    folder = _nearest_folder(root)
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        raise Refused(f"{folder} cannot be written", hint="Choose another folder, or change its permissions.")


def _nearest_folder(path: Path) -> Path:
    """`path` or the nearest parent that exists."""
    return next(place for place in (path, *path.parents) if os.path.isdir(place))


def _people_templates(root: Path) -> tuple[str, ...]:
    """The folder that Obsidian's template plugins use in this vault, as a pattern; nothing where none is set up.

    Templates hold placeholders where properties have values, so as pages they would only be damaged ones.
    """
    return tuple(f"/{_escaped(folder)}/" for folder in _template_folders(root))


def _template_folders(root: Path) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for place, key in (
        (".obsidian/templates.json", "folder"),
        (".obsidian/plugins/templater-obsidian/data.json", "templates_folder"),
    ):
        folder = _read_json(root / place).get(key)
        if isinstance(folder, str) and folder.strip("/ ") and os.path.isdir(root / folder.strip("/")):
            found[folder.strip("/")] = None
    return tuple(found)


def _read_json(path: Path) -> dict[str, Any]:
    """The object in a file of another program; empty where there is none: its faults are not wikimem's."""
    try:
        document = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return document if isinstance(document, dict) else {}


def _exclude_patterns(prefix: str) -> tuple[str, ...]:
    """Lines for `info/exclude`: the settings, and temporary files (`write_atomically`) that a crash may leave."""
    if "\n" in prefix:
        raise Refused("the name of a folder above the vault holds a line break", hint="Rename that folder.")
    top = f"/{_escaped(prefix)}" if prefix else ""
    return f"{top}/{MARKER}/", f"{top}/**/{TEMPORARY_FILES}"


def _escaped(path: str) -> str:
    return re.sub(r"([*?\[\\])", r"\\\1", path)


def _render(file: Path, **values: Any) -> bytes:
    try:
        text = file.read_text("utf-8")
    except OSError as error:
        raise Damaged(f"cannot read the template {file}: {error.strerror}", hint="Install wikimem again.") from error
    if file.suffix != _TEMPLATE:
        return text.encode("utf-8")
    environment = SandboxedEnvironment(
        undefined=StrictUndefined, keep_trailing_newline=True, trim_blocks=True, lstrip_blocks=True, autoescape=False
    )
    config: VaultConfig = values["config"]
    keys = [{"doc": key.doc, "line": _setting(key, getattr(config, key.name))} for key in VAULT_KEYS]
    return environment.from_string(text).render(name=values["name"], keys=keys).encode("utf-8")


def _setting(key: ConfigKey, value: object) -> str:
    """A setting in TOML; of a table that is empty its example, as a comment, because it could not be opened twice."""
    if value == {}:
        return "\n".join(f"# {line}" for line in key.example.splitlines())
    return f"{key.name} = {_toml(value)}"


def _toml(value: object) -> str:
    """A setting's value as TOML; JSON's strings and numbers are TOML's too."""
    return json.dumps(list(value) if isinstance(value, tuple) else value, ensure_ascii=False)
