"""Where pages go, when folders split, and that nothing lands on a page that is there."""

from __future__ import annotations

from pathlib import Path

import pytest

from wikimem.errors import Conflict, Invalid, Refused
from wikimem.model.page import MEMORY_TYPES
from wikimem.vault.layout import FOLDER_LIMIT, is_page_name, page_path, profile_path, project_of, refuse_links


def put(root: Path, path: str) -> Path:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(path)
    return file


@pytest.mark.parametrize(
    ("type_name", "project", "path"),
    [
        ("decision", "shop", "projects/shop/decisions/T.md"),
        ("entity", None, "global/entities/T.md"),
        ("fact", None, "global/facts/T.md"),
        ("routine", "shop", "projects/shop/routines/T.md"),
        ("note", "shop", "projects/shop/notes/T.md"),
        ("Meeting", None, "global/notes/T.md"),
        ("source", "shop", "sources/documents/T.md"),
        ("profile", "shop", "projects/shop/Profile.md"),
        ("fact", "a/../../b", "projects/a-..-..-b/facts/T.md"),
    ],
)
def test_each_type_has_its_folder(tmp_path: Path, type_name: str, project: str | None, path: str) -> None:
    assert page_path(type_name, "T", project, tmp_path) == path


def test_every_memory_type_but_sessions_has_a_place(tmp_path: Path) -> None:
    paths = {page_path(name, "T", "shop", tmp_path) for name in MEMORY_TYPES if name != "session"}
    assert len(paths) == len(MEMORY_TYPES) - 1
    with pytest.raises(Invalid, match="session"):
        page_path("session", "T", "shop", tmp_path)


def test_a_profile_needs_a_project(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="project"):
        page_path("profile", "T", None, tmp_path)


def test_three_names_that_differ_in_separators_are_three_pages(tmp_path: Path) -> None:
    for title in ("my_file", "my-file", "my file"):
        put(tmp_path, page_path("fact", title, None, tmp_path))
    assert sorted(file.name for file in (tmp_path / "global/facts").iterdir()) == [
        "my file.md", "my-file.md", "my_file.md",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("existing", "title"),
    [
        ("Use jose", "Use jose"),
        ("Use jose", "USE JOSE"),
        ("Cafe\u0301", "Café"),
        ("STRASSE", "straße"),
        ("Use jose - why", "Use jose: why"),
        ("品牌圣经", "品牌圣经"),
    ],
)
def test_a_name_that_is_taken_is_a_conflict_that_names_the_page(tmp_path: Path, existing: str, title: str) -> None:
    put(tmp_path, f"global/facts/{existing}.md")
    with pytest.raises(Conflict, match="exists") as caught:
        page_path("fact", title, None, tmp_path)
    assert caught.value.data["path"] == f"global/facts/{existing}.md"


def test_an_existing_profile_is_a_conflict(tmp_path: Path) -> None:
    put(tmp_path, profile_path("shop"))
    with pytest.raises(Conflict):
        page_path("profile", "shop", "shop", tmp_path)


def test_a_project_spelled_otherwise_is_a_conflict(tmp_path: Path) -> None:
    put(tmp_path, "projects/Shop/Profile.md")
    with pytest.raises(Conflict, match="'Shop'") as caught:
        page_path("fact", "T", "shop", tmp_path)
    assert "--project 'Shop'" in caught.value.hint


def test_a_full_folder_spreads_new_pages_over_subfolders(tmp_path: Path) -> None:
    for number in range(FOLDER_LIMIT):
        put(tmp_path, f"global/facts/Old {number}.md")
    put(tmp_path, "global/facts/picture.png")
    paths = [page_path("fact", f"New {number}", None, tmp_path) for number in range(60)]
    for path in paths:
        put(tmp_path, path)
    assert all(len(path.split("/")) == 4 for path in paths)
    assert len({path.split("/")[2] for path in paths}) > 8
    assert page_path("decision", "New 1", None, tmp_path) == "global/decisions/New 1.md"
    for title in ("Old 7", "New 7", "NEW 7"):
        with pytest.raises(Conflict):
            page_path("fact", title, None, tmp_path)


def test_a_page_in_a_subfolder_is_still_found_after_room_was_made(tmp_path: Path) -> None:
    for number in range(FOLDER_LIMIT):
        put(tmp_path, f"global/facts/Old {number}.md")
    put(tmp_path, page_path("fact", "Kept", None, tmp_path))
    (tmp_path / "global/facts/Old 1.md").unlink()
    assert page_path("fact", "Another", None, tmp_path) == "global/facts/Another.md"
    with pytest.raises(Conflict):
        page_path("fact", "kept", None, tmp_path)


def test_full_subfolders_split_again(tmp_path: Path) -> None:
    for number in range(FOLDER_LIMIT):
        put(tmp_path, f"global/facts/Old {number}.md")
    first = page_path("fact", "New", None, tmp_path)
    for number in range(FOLDER_LIMIT):
        put(tmp_path, f"{first.rpartition('/')[0]}/Old {number}.md")
    second = page_path("fact", "New", None, tmp_path)
    assert second.startswith(first.rpartition("/")[0] + "/")
    assert second.count("/") == first.count("/") + 1


@pytest.mark.parametrize("link", ["global", "global/facts", "global/facts/T.md"])
def test_nothing_is_written_through_a_link(tmp_path: Path, link: str) -> None:
    vault, outside = tmp_path / "vault", tmp_path / "outside"
    outside.mkdir()
    (vault / link).parent.mkdir(parents=True)
    (vault / link).symlink_to(outside)
    with pytest.raises((Refused, Conflict)):
        page_path("fact", "T", None, vault)
    with pytest.raises(Refused, match="symbolic link"):
        refuse_links(vault, "global/facts/T.md")


def test_a_file_where_a_folder_belongs_is_refused(tmp_path: Path) -> None:
    put(tmp_path, "global")
    with pytest.raises(Refused, match="cannot look into"):
        page_path("fact", "T", None, tmp_path)


def test_the_project_of_a_path_is_its_folder() -> None:
    assert project_of("projects/shop/facts/T.md") == "shop"
    assert project_of("projects/shop/Profile.md") == "shop"
    assert project_of("projects/readme.md") is None
    assert project_of("global/facts/T.md") is None


def test_markdown_files_of_any_case_are_pages() -> None:
    names = ["a.md", "A.MD", "b.markdown", "C.Markdown", "a.mdx", "md", "a.md.bak", "a.txt"]
    assert [name for name in names if is_page_name(name)] == names[:4]
