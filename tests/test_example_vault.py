"""The example vault is what it claims to be: pages in wikimem's format whose links, citations and dates hold."""

from __future__ import annotations

import re
from collections import defaultdict
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

import pytest
import yaml

from wikimem.model.page import MEMORY_TYPES, STATUSES, TRUST_ORDER
from wikimem.vault.names import check_path, folded, portable_name

VAULT: Final = Path(__file__).parents[1] / "example-vault"
FIRST_DAY: Final = datetime(2025, 1, 1)
LAST_DAY: Final = datetime(2026, 2, 1)
MOST_IN_A_FOLDER: Final = 500

FOLDER_TYPES: Final = {
    "decisions": "decision",
    "facts": "fact",
    "patterns": "pattern",
    "lessons": "lesson",
    "errors": "error",
    "preferences": "preference",
    "procedures": "procedure",
    "entities": "entity",
    "topics": "topic",
    "tasks": "task",
    "sessions": "session",
    "documents": "source",
}
KEYS: Final = {
    "id", "type", "title", "status", "confidence", "created", "valid_from", "valid_to", "ttl", "confirmed", "sources",
    "supersedes", "superseded_by", "project", "agent", "session", "trust", "importance", "pinned", "tags", "aliases",
    "remotes",
}  # fmt: skip

_CROCKFORD: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_WIKILINK: Final = re.compile(r"(?P<embed>!?)\[\[(?P<inner>[^\[\]\n]+)\]\]")
_MARKDOWN_LINK: Final = re.compile(r"(?<!!)\[[^\[\]]+\]\((?P<target>[^()\s]+)\)")
_BLOCK_ID: Final = re.compile(r" \^(?P<id>[A-Za-z0-9-]+)$", re.MULTILINE)
_OBSERVATION: Final = re.compile(r"- \d\d:\d\d:\d\d \*\*\w+\*\* .+ \^o-[a-z0-9]{10}")
_HEADING: Final = re.compile(r"^#{1,6} (?P<text>.+)$", re.MULTILINE)
_CODE: Final = re.compile(r"^```.*?^```$|`[^`\n]+`", re.MULTILINE | re.DOTALL)
_HOST: Final = re.compile(r"(?:https?://|git@)(?P<host>[A-Za-z0-9.-]+)")


def _split(text: str) -> tuple[dict[str, Any], str]:
    _, head, body = text.split("---\n", 2)
    properties = yaml.safe_load(head)
    assert isinstance(properties, dict)
    return properties, body


FILES: Final = sorted(path for path in VAULT.rglob("*") if path.is_file())
PAGES: Final = {
    path.relative_to(VAULT).as_posix(): path.read_text("utf-8")
    for path in FILES
    if path.suffix == ".md" and path.parent.name != "templates"
}
HEADS: Final = {path: _split(text)[0] for path, text in PAGES.items()}
BODIES: Final = {path: _split(text)[1] for path, text in PAGES.items()}
MEMORIES: Final = [path for path in PAGES if path != "Home.md"]

each_page = pytest.mark.parametrize("path", PAGES)
each_memory = pytest.mark.parametrize("path", MEMORIES)


def _addresses() -> dict[str, set[str]]:
    """Every way to name a file in a link (path, file name, alias), with the files that it may mean."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for file in FILES:
        path = file.relative_to(VAULT).as_posix()
        name = path.removesuffix(".md")
        for address in (path, name, file.name, file.name.removesuffix(".md"), *HEADS.get(path, {}).get("aliases", ())):
            found[address.casefold()].add(path)
    return found


ADDRESSES: Final = _addresses()


def _resolve(source: str, inner: str) -> tuple[str, str]:
    """The file that a wikilink's inside names, seen from `source`, and its fragment."""
    target, _, fragment = inner.replace("\\|", "|").partition("|")[0].partition("#")
    if not target:
        return source, fragment
    meant = ADDRESSES.get(target.casefold(), set())
    assert len(meant) == 1, f"{source}: [[{inner}]] means {sorted(meant) or 'nothing'}"
    return next(iter(meant)), fragment


def _check_link(source: str, inner: str) -> str:
    path, fragment = _resolve(source, inner)
    if fragment.startswith("^"):
        assert fragment[1:] in _BLOCK_ID.findall(BODIES[path]), f"{source}: no block {fragment} in {path}"
    elif fragment and path.endswith(".base"):
        assert f"name: {fragment}\n" in (VAULT / path).read_text("utf-8"), f"{source}: no view {fragment} in {path}"
    elif fragment:
        assert fragment in _HEADING.findall(BODIES[path]), f"{source}: no heading {fragment} in {path}"
    return path


def _wikilinks(text: str) -> list[str]:
    return [match["inner"] for match in _WIKILINK.finditer(_CODE.sub("", text))]


def _named(path: str, key: str) -> set[str]:
    return {_resolve(path, inner)[0] for value in HEADS[path].get(key, ()) for inner in _wikilinks(value)}


def _moment(value: date | datetime) -> datetime:
    return value if isinstance(value, datetime) else datetime(value.year, value.month, value.day)


@each_memory
def test_frontmatter_uses_the_keys_and_words_of_the_format(path: str) -> None:
    head = HEADS[path]
    assert set(head) <= KEYS
    assert {"id", "type", "title", "status", "created", "trust"} <= set(head)
    assert head["type"] in MEMORY_TYPES
    assert head["status"] in STATUSES
    assert head["trust"] in TRUST_ORDER
    assert 0 <= head.get("confidence", 0) <= 1
    assert 0 <= head.get("importance", 0) <= 1
    for key in ("sources", "supersedes", "superseded_by", "tags", "aliases", "remotes"):
        assert all(isinstance(item, str) and item for item in head.get(key, ["-"])), key


@each_memory
def test_a_page_lies_where_its_type_and_project_belong(path: str) -> None:
    head, parts = HEADS[path], path.split("/")
    expected = next((FOLDER_TYPES[part] for part in parts if part in FOLDER_TYPES), "profile")
    assert head["type"] == expected
    assert head.get("project") == (parts[1] if parts[0] == "projects" else None)


@each_memory
def test_file_names_come_from_titles(path: str) -> None:
    head, stem = HEADS[path], Path(path).stem
    if head["type"] == "session":
        assert stem.startswith(f"{head['created']:%Y-%m-%d %H%M} {head['agent']} ")
        assert path.split("/")[3:5] == [f"{head['created']:%Y}", f"{head['created']:%m}"]
    elif head["type"] == "profile":
        assert stem == "Profile"
    else:
        assert stem == portable_name(head["title"])


def test_every_name_is_portable_and_no_two_differ_in_case_alone() -> None:
    names = [file.relative_to(VAULT).as_posix() for file in FILES]
    for path in PAGES:
        assert check_path(path) == path
        for part in path.removesuffix(".md").split("/"):
            assert part == portable_name(part)
    assert len({folded(name) for name in names}) == len(names)


def test_ids_are_unique_ulids_of_their_creation_time() -> None:
    ids = {path: HEADS[path]["id"] for path in MEMORIES}
    assert len(set(ids.values())) == len(ids)
    for path, ulid in ids.items():
        assert re.fullmatch(f"[0-7][{_CROCKFORD}]{{25}}", ulid), path
        value = 0
        for digit in ulid[:10]:
            value = value * 32 + _CROCKFORD.index(digit)
        assert datetime(1970, 1, 1) + timedelta(milliseconds=value) == HEADS[path]["created"], path


@each_memory
def test_dates_are_in_the_year_that_the_vault_tells(path: str) -> None:
    head = HEADS[path]
    assert FIRST_DAY <= head["created"] < LAST_DAY
    begin, end = head.get("valid_from"), head.get("valid_to")
    if begin is not None:
        assert FIRST_DAY <= _moment(begin) < LAST_DAY
    if end is not None:
        assert begin is not None
        assert _moment(begin) < _moment(end) < LAST_DAY
    if "confirmed" in head:
        assert head["created"] < _moment(head["confirmed"]) < LAST_DAY


@each_page
def test_every_link_resolves(path: str) -> None:
    for inner in _wikilinks(BODIES[path]):
        _check_link(path, inner)
    for value in HEADS[path].values():
        for item in value if isinstance(value, list) else [value]:
            for inner in _wikilinks(str(item)):
                _check_link(path, inner)
    for match in _MARKDOWN_LINK.finditer(_CODE.sub("", BODIES[path])):
        target, _, fragment = unquote(match["target"]).partition("#")
        file = (VAULT / path).parent / target
        assert file.is_file(), f"{path}: {match['target']}"
        assert not fragment or fragment in _HEADING.findall(file.read_text("utf-8"))


def test_what_replaces_a_page_and_what_it_replaced_name_each_other() -> None:
    replaced = [path for path in PAGES if HEADS[path].get("status") == "superseded"]
    assert len(replaced) >= 7
    for path in PAGES:
        for older in _named(path, "supersedes"):
            assert path in _named(older, "superseded_by")
            assert HEADS[older]["status"] == "superseded"
            assert HEADS[older]["valid_to"] == HEADS[path]["valid_from"]
        for newer in _named(path, "superseded_by"):
            assert path in _named(newer, "supersedes")
    assert all(_named(path, "superseded_by") for path in replaced)


def test_citations_of_observations_point_into_sessions() -> None:
    cited = {
        _check_link(path, inner)
        for path in PAGES
        for source in HEADS[path].get("sources", ())
        for inner in _wikilinks(source)
        if "#^" in inner
    }
    sessions = {path for path in PAGES if HEADS[path].get("type") == "session"}
    assert cited == sessions, "a session that nothing cites, or a citation of something else"


@pytest.mark.parametrize("path", [path for path in PAGES if HEADS[path].get("type") == "session"])
def test_a_session_is_a_list_of_observations_in_order(path: str) -> None:
    lines = BODIES[path].partition("## Observations\n")[2].splitlines()
    assert len(lines) >= 4
    assert all(_OBSERVATION.fullmatch(line) for line in lines)
    times = [line[2:10] for line in lines]
    assert times == sorted(times)
    assert times[0] == f"{HEADS[path]['created']:%H:%M:%S}"


def test_block_ids_are_unique_in_the_vault() -> None:
    ids = [block for body in BODIES.values() for block in _BLOCK_ID.findall(body)]
    assert len(set(ids)) == len(ids)


def test_replaced_decisions_say_what_held_in_which_month() -> None:
    """The story that README and other tests ask about."""
    old = HEADS["projects/shop-api/decisions/Use jsonwebtoken for JWT verification.md"]
    new = HEADS["projects/shop-api/decisions/Use jose for JWT verification.md"]
    assert (old["valid_from"], old["valid_to"]) == (date(2025, 2, 3), date(2025, 9, 12))
    assert new["valid_from"] == date(2025, 9, 12)
    assert "valid_to" not in new
    assert "## Alternatives" in BODIES["projects/shop-api/decisions/Use jose for JWT verification.md"]


def test_every_status_occurs_except_those_that_a_sweep_sets() -> None:
    assert {head.get("status") for head in HEADS.values()} >= set(STATUSES) - {"expired"}


def test_a_fact_has_outlived_its_ttl_and_still_calls_itself_active() -> None:
    head = HEADS["projects/shop-api/facts/Staging runs on the spare node pool.md"]
    assert (head["ttl"], head["status"]) == ("P30D", "active")


def test_two_projects_say_different_things_under_one_title() -> None:
    by_title: defaultdict[str, set[str]] = defaultdict(set)
    for path in MEMORIES:
        by_title[HEADS[path]["title"]].add(HEADS[path].get("project", ""))
    assert by_title["Node version"] == by_title["Release days"] == {"shop-api", "shop-web"}


@pytest.mark.parametrize(("letters", "least"), [("[\uac00-\ud7a3]", 5), ("[\u3041-\u30ff]", 4)])
def test_korean_and_japanese_pages_are_there(letters: str, least: int) -> None:
    written = [path for path in PAGES if len(re.findall(letters, BODIES[path])) > 60]
    assert len(written) >= least


@pytest.mark.parametrize(
    "form",
    [
        r"(?<!!)\[\[[^\]|#/]+\]\]",
        r"\[\[[^\]|#]+/[^\]|#]+\]\]",
        r"\[\[[^\]|#]+\|[^\]]+\]\]",
        r"\[\[[^\]|#]+\\\|[^\]]+\]\]",
        r"(?<!!)\[\[[^\]|#]+#[^\]^]+\]\]",
        r"\[\[#[^\]]+\]\]",
        r"\[\[[^\]|#]+#\^[^\]|]+\]\]",
        r"!\[\[[^\]#]+\.base\]\]",
        r"!\[\[[^\]]+#[^\]]+\]\]",
        r"\]\([^)]+%20[^)]+\.md#[^)]+\)",
        r"^\w+:: \[\[[^\]]+\]\]$",
        r" #[a-z][\w-]+$",
        r" #\w+/[\w-]+$",
        r"^> \[!\w+\]",
        r"^\|---",
        r"^```ts$",
        r"^- \[[ x]\] ",
    ],
)
def test_every_form_that_obsidian_knows_occurs(form: str) -> None:
    assert any(re.search(form, body, re.MULTILINE) for body in BODIES.values())


def test_only_example_hosts_are_named() -> None:
    hosts = {match["host"].rstrip(".") for text in PAGES.values() for match in _HOST.finditer(text)}
    assert hosts
    assert {host for host in hosts if host != "example.com" and not host.endswith(".example.com")} == set()


def test_files_are_plain_text_as_wikimem_writes_it() -> None:
    for file in FILES:
        data = file.read_bytes()
        assert not data.startswith(b"\xef\xbb\xbf"), file
        assert b"\t" not in data, file
        assert b"\r" not in data, file
        assert data.endswith(b"\n"), file
        assert not data.endswith(b"\n\n"), file


def test_folders_stay_far_below_the_width_that_makes_commits_slow() -> None:
    widths = [len(list(folder.iterdir())) for folder in VAULT.rglob("*") if folder.is_dir()]
    assert max(widths) < MOST_IN_A_FOLDER


def test_the_rest_of_a_vault_is_there() -> None:
    assert yaml.safe_load((VAULT / "dashboards/memory.base").read_text("utf-8"))["views"]
    settings = (VAULT / ".wikimem/config.toml").read_text("utf-8").splitlines()
    assert all(line.startswith("#") for line in settings)
    assert (VAULT / ".gitignore").is_file()
    assert not (VAULT / ".git").exists()
