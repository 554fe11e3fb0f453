"""File names that every system can carry, and paths that cannot leave the vault."""

from __future__ import annotations

import tempfile
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wikimem.errors import Refused
from wikimem.vault.names import MAX_NAME_BYTES, check_path, folded, portable_name

HOSTILE = st.text(
    st.one_of(
        st.sampled_from(list('\\/:*?"<>|#^[]%. -~$\0\n\t\x7f\x85\u2028')),
        st.sampled_from(list("\u200b\u200c\u200d\u200e\u202e\u2066\ufeff\ufe0f\u0301\u0338\u3099\U0001f468\U0001f1eb")),
        st.sampled_from(list("conulptgiCOMGIT019\u00b9aéŁ가か漢☃\ud800\ufffe")),
        st.characters(),
    ),
    max_size=120,
)


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Use jose for JWT verification", "Use jose for JWT verification"),
        ("Why jose: a note", "Why jose - a note"),
        ("src/auth.ts", "src-auth.ts"),
        ("C:\\Windows", "C--Windows"),
        ("Is it safe?", "Is it safe"),
        ("C# and F#", "C- and F-"),
        ("Issue #12", "Issue 12"),
        ("a > b | c < d", "a b - c d"),
        ("[[Page]]^block", "Page block"),
        ("100%% sure", "100% sure"),
        ("line\nbreak\ttab", "line break tab"),
        ("..hidden", "hidden"),
        ("ends with dots...", "ends with dots"),
        ("  spaces  ", "spaces"),
        ("CON", "CON_"),
        ("nul.txt", "nul_.txt"),
        ("Com1", "Com1_"),
        ("LPT³", "LPT³_"),
        ("CONSOLE", "CONSOLE"),
        ("git~1", "git-1"),
        ("e\u0301te\u0301", "été"),
        ("invoice\u202egpj.exe", "invoicegpj.exe"),
    ],
)
def test_titles_become_names_that_read_like_them(title: str, name: str) -> None:
    assert portable_name(title) == name


@pytest.mark.parametrize(
    "title", ["🐘", "°", "{", "----=-", "品牌圣经", "销售论证文档", "やった！", "می‌خواهم", "👨‍👩‍👧", "+1"]
)
def test_titles_of_symbols_and_other_scripts_stay(title: str) -> None:
    assert portable_name(title) == title


@pytest.mark.parametrize("title", ["", " ", "???", "...", "\u200b\u200d", "\ud800", "<>", "\x00"])
def test_a_title_without_anything_to_see_is_untitled(title: str) -> None:
    assert portable_name(title) == "untitled"


def test_names_that_differ_only_in_separators_stay_apart() -> None:
    titles = ["my_file", "my-file", "my file"]
    assert [portable_name(title) for title in titles] == titles


@pytest.mark.parametrize("unit", ["é", "漢", "👩\u200d🚀", "👍🏽", "🇫🇷", "か\u3099", "x\u0301\u0316"])
def test_long_titles_are_cut_between_characters(unit: str) -> None:
    composed = unicodedata.normalize("NFC", unit)
    for lead in ("", "a", "ab", "abc"):
        name = portable_name(lead + unit * 200)
        assert MAX_NAME_BYTES - len(composed.encode()) - 3 <= len(name.encode()) <= MAX_NAME_BYTES
        assert name.removeprefix(lead).replace(composed, "") == ""


def test_one_endless_combining_sequence_is_cut_all_the_same() -> None:
    name = portable_name("a" + "\u0316" * 500)
    assert 190 < len(name.encode()) <= MAX_NAME_BYTES


@given(HOSTILE)
@settings(max_examples=300, deadline=None)
def test_every_title_gives_a_name_that_can_be_created_and_stays_in_the_vault(title: str) -> None:
    name = portable_name(title)
    assert name == portable_name(title)
    assert portable_name(name) == name
    assert unicodedata.is_normalized("NFC", name)
    assert len(name.encode()) <= MAX_NAME_BYTES
    assert not set(name) & set('\\/:*?"<>|#^[]')
    assert "%%" not in name
    assert name.rstrip(" .") == name.lstrip(" .") == name
    assert name.split(".")[0].rstrip().upper() not in {"CON", "PRN", "AUX", "NUL", "COM1", "COM9", "LPT1"}
    path = check_path(f"projects/{name}/facts/{name}.md")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / path
        file.parent.mkdir(parents=True)
        file.write_text(title, "utf-8", "surrogatepass")
        assert [found.name for found in file.parent.iterdir()] == [f"{name}.md"]
        assert Path(folder).resolve() in file.resolve().parents


@pytest.mark.parametrize(
    "path",
    [
        "Home.md", "projects/shop/decisions/Use jose.md", "a:b?.md", "🐘.md", "a b/…/x.md", "x../a...md",
        "notes/gitignore.md", "git/config.md", "a\\b.md", "می‌خواهم.md", "~/x.md",
    ],
)  # fmt: skip
def test_paths_that_pages_have_are_accepted(path: str) -> None:
    assert check_path(path) == path


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("", "empty"),
        ("/etc/passwd", "absolute"),
        ("C:/x.md", "absolute"),
        ("C:\\x.md", "absolute"),
        ("../x.md", "no names"),
        ("a/../../x.md", "no names"),
        ("a\\..\\x.md", "no names"),
        ("a/./x.md", "no names"),
        ("a/.. /x.md", "no names"),
        ("a/.\u200c./x.md", "no names"),
        ("a//x.md", "empty"),
        ("a/", "empty"),
        ("a\0.md", "control"),
        ("a\nb.md", "control"),
        ("a\x1b[31m.md", "control"),
        (".git/config", "git's own"),
        ("a/.GIT/x.md", "git's own"),
        (".g\u200cit/x.md", "git's own"),
        (".git\u200d/x.md", "git's own"),
        (".git /x.md", "git's own"),
        (".git./x.md", "git's own"),
        (".git::$INDEX_ALLOCATION/x.md", "git's own"),
        ("GIT~1/x.md", "git's own"),
        ("a\\.git\\x.md", "git's own"),
        (".wikimem/config.toml", "hidden"),
        ("a/.obsidian/x.md", "hidden"),
        ("\ufeff.obsidian/x.md", "hidden"),
        (".hidden.md", "hidden"),
        ("x" * 256, "longer than 255"),
        ("/".join(["x" * 200] * 6), "longer than 1000"),
        ("caf\udce9.md", "UTF-8"),
    ],
)
def test_paths_that_leave_the_vault_or_enter_its_machinery_are_refused(path: str, reason: str) -> None:
    with pytest.raises(Refused, match=reason) as caught:
        check_path(path)
    assert caught.value.message.isprintable()


@given(st.text(st.one_of(st.sampled_from("./\\. \u200cgitGIT~1:"), st.characters()), max_size=30))
@settings(max_examples=300, deadline=None)
def test_no_accepted_path_resolves_outside_or_into_git(text: str) -> None:
    try:
        path = check_path(text)
    except Refused:
        return
    for spelling in (path, path.replace("\\", "/")):
        resolved = Path("/vault", spelling)
        assert ".." not in resolved.parts
        assert resolved.is_relative_to("/vault")
        assert all(part.replace("\u200c", "").lower().rstrip(" .") != ".git" for part in resolved.parts)


def test_names_that_a_file_system_takes_for_one_are_folded_together() -> None:
    assert folded("Readme.md") == folded("README.md")
    assert folded("été") == folded(unicodedata.normalize("NFD", "ÉTÉ"))
    assert folded("a b") != folded("a-b")
