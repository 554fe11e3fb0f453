"""How a vault looks in Obsidian and VS Code: every file is valid by its program's rules, and nobody is surprised."""

from __future__ import annotations

import json
import os
import pty
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from wikimem.model.page import Metadata
from wikimem.text.page import parse_page
from wikimem.vault.config import VaultConfig
from wikimem.vault.create import native_files, render_vault, templates_folder

EXAMPLE: Final = Path(__file__).parents[2] / "example-vault"
OBSIDIAN_TYPES: Final = {"text", "multitext", "number", "checkbox", "date", "datetime", "tags", "aliases"}
OUR_KEYS: Final = {*Metadata.__struct_fields__, "remotes"} - {"ttl_seconds"}

FILE_PROPERTIES: Final = {
    "name", "basename", "path", "folder", "ext", "size", "ctime", "mtime", "tags", "links", "backlinks", "embeds",
    "properties", "file",
}  # fmt: skip
FUNCTIONS: Final = {
    "today", "now", "date", "duration", "if", "link", "list", "hasTag", "hasLink", "hasProperty", "inFolder",
    "contains", "isEmpty", "format", "relative", "toFixed", "startsWith",
}  # fmt: skip
CORE_PLACEHOLDER: Final = re.compile(r"\{\{(?:title|date|time|date:[YMDd\-/. ]+|time:[Hhms:]+)\}\}")


def new_vault() -> dict[str, str]:
    files = render_vault(templates_folder(), name="My notes", config=VaultConfig())
    return {path: data.decode("utf-8") for path, data in files.items()}


def example_vault() -> dict[str, str]:
    return {
        path.relative_to(EXAMPLE).as_posix(): path.read_text("utf-8")
        for path in sorted(EXAMPLE.rglob("*"))
        if path.is_file()
    }


both_vaults = pytest.mark.parametrize("vault", [new_vault, example_vault], ids=["new", "example"])
Vault = Callable[[], Mapping[str, str]]


@both_vaults
def test_every_settings_file_is_json_of_the_kind_its_program_reads(vault: Vault) -> None:
    files = vault()
    documents = {path: json.loads(text) for path, text in files.items() if path.endswith(".json")}
    assert {f".obsidian/{name}.json" for name in ("app", "core-plugins", "types", "templates", "graph")} <= set(
        documents
    )
    app = documents[".obsidian/app.json"]
    assert app["newLinkFormat"] in ("shortest", "relative", "absolute")
    assert (app["useMarkdownLinks"], app["alwaysUpdateLinks"]) == (False, True)
    plugins = documents[".obsidian/core-plugins.json"]
    assert all(isinstance(on, bool) for on in plugins.values())
    assert all(plugins[name] for name in ("templates", "bases", "graph", "properties", "backlink"))
    templates = documents[".obsidian/templates.json"]["folder"]
    assert f"{templates}/" in app["userIgnoreFilters"]
    assert "community-plugins" not in "".join(documents), "no plugin is needed"
    for group in documents[".obsidian/graph.json"]["colorGroups"]:
        key, value = re.fullmatch(r'\["(\w+)":(\w+)\]', group["query"]).groups()
        assert (key, value in typed_words()) == ("type", True)
        assert 0 <= group["color"]["rgb"] <= 0xFFFFFF


def typed_words() -> set[str]:
    from wikimem.model.page import MEMORY_TYPES

    return set(MEMORY_TYPES)


@both_vaults
def test_the_property_types_are_those_of_the_format(vault: Vault) -> None:
    types = json.loads(vault()[".obsidian/types.json"])["types"]
    assert set(types.values()) <= OBSIDIAN_TYPES
    assert set(types) >= OUR_KEYS
    assert (types["tags"], types["aliases"]) == ("tags", "aliases")
    lists = {key for key, kind in types.items() if kind == "multitext"}
    assert lists == {"sources", "supersedes", "superseded_by", "remotes"}


@both_vaults
def test_the_base_follows_the_documented_schema_and_uses_our_properties(vault: Vault) -> None:
    files = vault()
    bases = {path: text for path, text in files.items() if path.endswith(".base")}
    assert bases
    types = json.loads(files[".obsidian/types.json"])["types"]
    for path, text in bases.items():
        assert faults_of_base(yaml.safe_load(text), set(types)) == [], path


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda base: base.update(colour="x"), "unknown key 'colour'"),
        (lambda base: base["views"][0].update(type="kanban"), "unknown view type 'kanban'"),
        (lambda base: base["views"][0]["order"].append("note.valid_until"), "no property 'valid_until'"),
        (lambda base: base["views"][0]["order"].append("formula.age"), "no formula 'age'"),
        (lambda base: base["formulas"].update(bad="sometimes(type)"), "no function 'sometimes'"),
        (lambda base: base["filters"].update(xor=[]), "a filter is one of and, or, not"),
        (lambda base: base["filters"]["and"].append("file.age > 3"), "no property of a file 'age'"),
    ],
)
def test_the_checker_of_bases_finds_faults(change: Callable[[Any], None], fault: str) -> None:
    base = yaml.safe_load(new_vault()["dashboards/memory.base"])
    change(base)
    assert fault in "; ".join(faults_of_base(base, OUR_KEYS))


def faults_of_base(base: Any, keys: set[str]) -> list[str]:
    """What a .base file has that the documented schema has not; `keys` are the properties that pages have."""
    checker = BaseChecker(set(base.get("formulas", {})), keys)
    checker.check(base)
    return checker.faults


class BaseChecker:
    """Reads a base strictly: what is not documented is a fault."""

    def __init__(self, formulas: set[str], keys: set[str]) -> None:
        self.formulas, self.keys = formulas, keys
        self.faults: list[str] = []

    def check(self, base: Any) -> None:
        self.known(base, {"filters", "formulas", "properties", "views"}, "")
        self.condition(base.get("filters", {"and": []}))
        for text in base.get("formulas", {}).values():
            self.expression(text)
        for name, settings in base.get("properties", {}).items():
            self.reference(name)
            self.known(settings, {"displayName"}, " of a property")
        for view in base["views"]:
            self.view(view)
        names = [view["name"] for view in base["views"]]
        self.faults += ["two views of one name"] * (len(names) != len(set(names)))

    def known(self, settings: Any, keys: set[str], where: str) -> None:
        self.faults += [f"unknown key '{key}'{where}" for key in settings if key not in keys]

    def view(self, view: Any) -> None:
        # `sort` is not documented; Obsidian writes it itself.
        self.known(view, {"type", "name", "limit", "filters", "order", "groupBy", "summaries", "sort"}, " of a view")
        if view["type"] not in ("table", "cards", "list", "map"):
            self.faults.append(f"unknown view type '{view['type']}'")
        self.condition(view.get("filters", {"and": []}))
        for name in (*view.get("order", ()), *(each["property"] for each in view.get("sort", ()))):
            self.reference(name)

    def reference(self, name: str) -> None:
        where, _, rest = name.partition(".")
        if where not in ("file", "formula", "note"):
            where, rest = "note", name
        what, names = {
            "file": ("property of a file", FILE_PROPERTIES),
            "formula": ("formula", self.formulas),
            "note": ("property", self.keys),
        }[where]
        if rest not in names:
            self.faults.append(f"no {what} '{rest}'")

    def expression(self, text: str) -> None:
        bare = re.sub(r'"[^"]*"', '""', text)
        called = re.findall(r"([A-Za-z_]+)\(", bare)
        self.faults += [f"no function '{name}'" for name in called if name not in FUNCTIONS]
        for name in re.findall(r"[A-Za-z_][A-Za-z_.]*", re.sub(r"\.?[A-Za-z_]+\(", "(", bare)):
            if name not in ("true", "false", "file"):
                self.reference(name)

    def condition(self, filters: Any) -> None:
        if isinstance(filters, str):
            self.expression(filters)
        elif isinstance(filters, dict) and len(filters) == 1 and set(filters) <= {"and", "or", "not"}:
            for each in next(iter(filters.values())):
                self.condition(each)
        else:
            self.faults.append("a filter is one of and, or, not, or an expression")


@both_vaults
def test_every_template_is_a_page_once_its_placeholders_are_filled(vault: Vault) -> None:
    templates = {path: text for path, text in vault().items() if path.startswith("templates/")}
    assert {f"templates/{name}.md" for name in ("Note", "Decision", "Fact", "Error", "Person", "Task")} <= set(
        templates
    )
    for path, text in templates.items():
        assert re.findall(r"\{\{.*?\}\}", text) == [found[0] for found in CORE_PLACEHOLDER.finditer(text)], path
        assert "<%" not in text, "Templater is no core plugin"
        filled = text.replace("{{date:YYYY-MM-DD}}", "2025-09-12").replace("{{time:HH:mm:ss}}", "09:14:40")
        page = parse_page(path, filled.replace("{{title}}", "Some title").encode())
        assert page.problems == ()
        assert page.meta.created is not None
        assert set(page.properties) <= OUR_KEYS


@both_vaults
def test_links_and_embeds_of_home_resolve_as_in_obsidian(vault: Vault) -> None:
    files = vault()
    home = files["Home.md"]
    names: dict[str, list[str]] = {}
    for path in files:
        for name in {
            path,
            path.removesuffix(".md"),
            path.rpartition("/")[2],
            path.rpartition("/")[2].removesuffix(".md"),
        }:
            names.setdefault(name.casefold(), []).append(path)
    embedded = 0
    for embed, inner in re.findall(r"(!?)\[\[([^\[\]]+)\]\]", re.sub(r"`[^`]*`", "", home)):
        target, _, fragment = re.split(r"\\?\|", inner)[0].partition("#")
        assert len(names.get(target.casefold(), ())) == 1, f"[[{inner}]]"
        path = names[target.casefold()][0]
        if path.endswith(".base"):
            embedded += bool(embed)
            views = [view["name"] for view in yaml.safe_load(files[path])["views"]]
            assert not fragment or fragment in views
    assert embedded, "Home shows the dashboard"


@both_vaults
def test_vs_code_gets_recommendations_and_no_command(vault: Vault) -> None:
    files = vault()
    assert json.loads(files[".vscode/extensions.json"]) == {"recommendations": ["foam.foam-vscode"]}
    settings = json.loads(files[".vscode/settings.json"])
    assert set(settings) == {"files.exclude", "foam.files.ignore", "[markdown]"}, "nothing here can start a program"


# Somebody's own vault


def mine(root: Path) -> Path:
    (root / ".obsidian").mkdir(parents=True)
    (root / ".obsidian" / "app.json").write_text('{"newLinkFormat":"relative"}')
    (root / "home.md").write_text("My own start.\n")
    (root / "a.md").write_text("text\n")
    person = ("-c", "user.name=T", "-c", "user.email=t@example.org")
    for command in (("init", "-q"), ("add", "-A"), (*person, "commit", "-qm", "x")):
        subprocess.run(["git", "-C", str(root), *command], check=True)
    return root


def contents(root: Path) -> dict[str, bytes]:
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and ".git/" not in path.relative_to(root).as_posix()
    }


def test_an_existing_vault_gets_nothing_of_it_unasked(home: Any, run: Callable[..., Any], tmp_path: Path) -> None:
    root = mine(tmp_path / "mine")
    before = contents(root)
    assert run("init", str(root)).code == 0
    assert contents(root) == before | {".wikimem/config.toml": contents(root)[".wikimem/config.toml"]}


def test_what_is_asked_for_is_added_and_nothing_that_is_there_is_changed(
    home: Any, run: Callable[..., Any], tmp_path: Path
) -> None:
    root = mine(tmp_path / "mine")
    before = contents(root)
    shown = run("init", str(root), "--native", "--dry-run", "--json").json
    assert contents(root) == before, "a dry run writes nothing"
    refused = run("init", str(root), "--native")
    assert (refused.code, contents(root)) == (5, before), "without a terminal it asks nobody"
    assert "--yes" in refused.stderr
    done = run("init", str(root), "--native", "--yes", "--json").json
    after = contents(root)
    assert {path: data for path, data in after.items() if path in before} == before
    assert set(after) - set(before) - {".wikimem/config.toml"} == set(done["native"]) == set(shown["native"])
    assert ".obsidian/types.json" in done["native"]
    assert "dashboards/memory.base" in done["native"]
    assert done["kept"] == [".obsidian/app.json", "Home.md"], "home.md is Home.md on many a disk"
    assert not {".gitignore", ".gitattributes"} & set(after), "git is to treat their files as before"
    again = run("init", str(root), "--native", "--json").json
    assert again["native"] == [], "with nothing to add there is nothing to ask"
    log = subprocess.run(["git", "-C", str(root), "log", "--format=%s"], capture_output=True, text=True, check=True)
    assert log.stdout == "x\n", "no commit is made for them"
    assert run("check", "--strict", cwd=root).code == 0


def test_a_person_at_a_terminal_sees_the_list_and_decides(home: Any, tmp_path: Path) -> None:
    root = mine(tmp_path / "mine")
    before = contents(root)
    said, code = at_terminal(home, ["init", str(root), "--native"], "n\n")
    assert "would be added: dashboards/memory.base" in said
    assert "there already, and stays: .obsidian/app.json" in said
    assert (code, contents(root)) == (5, before)
    _, code = at_terminal(home, ["init", str(root), "--native"], "y\n")
    assert code == 0
    assert (root / "dashboards" / "memory.base").is_file()


def at_terminal(home: Any, arguments: list[str], answer: str) -> tuple[str, int]:
    """Run the command line on a terminal of its own, and type an answer."""
    master, slave = pty.openpty()
    env = home.env | {"PYTHONPATH": str(Path(__file__).parents[2])}
    process = subprocess.Popen(
        [sys.executable, "-m", "wikimem", *arguments], stdin=slave, stdout=slave, stderr=slave, env=env, close_fds=True
    )
    os.close(slave)
    os.write(master, answer.encode())
    said = b""
    while True:
        try:
            piece = os.read(master, 4096)
        except OSError:
            break
        if not piece:
            break
        said += piece
    os.close(master)
    return said.decode(errors="replace"), process.wait(timeout=60)


def test_the_templates_go_where_the_owner_has_theirs(tmp_path: Path) -> None:
    root = mine(tmp_path / "mine")
    (root / "Meta" / "My templates").mkdir(parents=True)
    (root / "Meta" / "My templates" / "decision.md").write_text("mine\n")
    (root / ".obsidian" / "templates.json").write_text('{"folder": "Meta/My templates"}')
    look = native_files(root, templates_folder(), ())
    assert "Meta/My templates/Fact.md" in look.files
    assert "Meta/My templates/Decision.md" in look.kept
    assert not [path for path in look.files if path.startswith("templates/")]


def test_a_folder_of_templates_that_is_not_set_up_is_the_owners(tmp_path: Path) -> None:
    root = mine(tmp_path / "mine")
    (root / "templates").mkdir()
    look = native_files(root, templates_folder(), ())
    assert not [path for path in look.files if path.startswith("templates/")]
    assert any("is yours" in note for note in look.notes)
    shutil.rmtree(root / "templates")
    (root / ".wikimemignore").write_text("drafts/\n")
    look = native_files(root, templates_folder(), ())
    assert not [path for path in look.files if path.startswith("templates/")]
    assert ".wikimemignore" in look.kept


def test_the_templates_that_are_added_are_no_pages(home: Any, run: Callable[..., Any], tmp_path: Path) -> None:
    root = mine(tmp_path / "mine")
    run("init", str(root), "--native", "--yes")
    paths = {page["path"] for page in run("list", "--json", "--limit", "100", cwd=root).json["pages"]}
    assert paths == {"home.md", "a.md"}
