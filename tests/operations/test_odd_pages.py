"""Pages of every content: they are read and found, and an edit changes its span or nothing."""

from __future__ import annotations

from typing import Any

import pytest

from wikimem.errors import Damaged, Invalid, NotFound, Refused, WikimemError

Desk = Any
NAME = "ops/Page.md"
BODY = "# Harbour\n\nThe ferry leaves at nine.\n\n## Tides\n\nHigh at noon.\n\n## Crew\n\nMira.\n"
HEAD = "---\ntitle: Harbour\n---\n"


def put(desk: Desk, data: bytes, name: str = NAME) -> None:
    (desk.root / name).parent.mkdir(parents=True, exist_ok=True)
    (desk.root / name).write_bytes(data)
    desk.git("add", "-A")
    desk.git("commit", "-qm", "mine")


def bytes_of(desk: Desk, name: str = NAME) -> bytes:
    return bytes((desk.root / name).read_bytes())


def changed(before: bytes, after: bytes) -> tuple[bytes, bytes]:
    """What an edit took out and what it put in: the rest is the same at both ends."""
    start = common(before, after)
    end = common(before[start:][::-1], after[start:][::-1])
    return before[start : len(before) - end], after[start : len(after) - end]


def common(one: bytes, other: bytes) -> int:
    """How many bytes both begin with."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[:middle] == other[:middle]:
            low = middle
        else:
            high = middle - 1
    return low


PAGES = {
    "plain": (HEAD + BODY).encode(),
    "without frontmatter": BODY.encode(),
    "BOM": b"\xef\xbb\xbf" + (HEAD + BODY).encode(),
    "CRLF": (HEAD + BODY).replace("\n", "\r\n").encode(),
    "BOM and CRLF": b"\xef\xbb\xbf" + (HEAD + BODY).replace("\n", "\r\n").encode(),
    "CR": (HEAD + BODY).replace("\n", "\r").encode(),
    "mixed endings": (HEAD + BODY).replace("\n", "\r\n", 5).encode(),
    "CRLF in the body alone": (HEAD + BODY.replace("\n", "\r\n")).encode(),
    "no end of the last line": (HEAD + BODY).rstrip().encode(),
    "blank lines at the end": (HEAD + BODY + "\n\n \n").encode(),
    "tabs and trailing blanks": (HEAD + BODY.replace("Mira.", "\tMira.  \t")).encode(),
    "NUL": (HEAD + BODY.replace("Mira", "Mi\0ra")).encode(),
    "control characters": (HEAD + BODY.replace("Mira", "Mi\x1b[31m\x07\x85\u2028ra")).encode(),
    "unclosed fence at the end": (HEAD + BODY + "\n```python\n# no heading\n").encode(),
    "headings within a fence": (HEAD + "```\n## Tides\n```\n" + BODY).encode(),
    "comment": (HEAD + "<!--\n## Tides\n-->\n%%\n## Tides\n%%\n" + BODY).encode(),
    "rules": (HEAD + BODY.replace("Mira.", "Mira.\n\n---\n\n***\n\n---")).encode(),
    "comments in the frontmatter": ("---\n# mine\ntitle:   'Harbour' # so\n\n# end\n---\n" + BODY).encode(),
    "anchors": ("---\na: &x [1, 2]\nb: *x\n---\n" + BODY).encode(),
    "block scalars": ("---\na: |2-\n    x\n   y\nb: >+\n  z\n\n---\n" + BODY).encode(),
    "duplicate keys": ("---\ntitle: One\ntitle: Two\n---\n" + BODY).encode(),
    "odd scalars": ("---\na: 0o17\nb: 2025-13-45\nc: .inf\nd: ~\ne: !!str 1\nf: 1_000\n---\n" + BODY).encode(),
    "tags in headings": (HEAD + BODY.replace("## Crew", "## Crew #team ^crew")).encode(),
    "setext": (HEAD + BODY.replace("## Crew", "Crew\n----")).encode(),
    "non-characters": (HEAD + BODY + "\uffff\U0001f6a2\u202e\n").encode(),
    "half a conflict": (HEAD + BODY + "\n<<<<<<< not one\n").encode(),
    "HTML": (HEAD + BODY + "\n<pre>\n## Tides\n</pre>\n").encode(),
}


@pytest.mark.parametrize("kind", PAGES)
def test_every_edit_changes_its_span_alone(desk: Desk, kind: str) -> None:
    data = PAGES[kind]
    put(desk, data)
    newline = b"\r\n" if data.count(b"\r\n") * 2 > data.count(b"\n") else b"\n" if b"\n" in data else b"\r"
    assert "High at noon." in desk.run("read", page=NAME, section="Tides").body
    assert desk.run("search", query="ferry leaves nine").hits[0].path == NAME

    desk.run("edit", page=NAME, replace=["at nine", "at ten"])
    before = data.replace(b"at nine", b"at ten")
    assert bytes_of(desk) == before

    desk.run("edit", page=NAME, section="Tides", text="Low at six.")
    before = before.replace(b"High at noon.", b"Low at six.")
    assert bytes_of(desk) == before

    desk.run("edit", page=NAME, section="Tides", text="And again.", mode="append")
    taken, added = changed(before, bytes_of(desk))
    assert taken == b""
    assert added.replace(newline, b"") == b"And again."
    before = bytes_of(desk)

    desk.run("edit", page=NAME, set=["confidence=0.5"])
    taken, added = changed(before, bytes_of(desk))
    assert taken == b""
    assert b"confidence: 0.5" in added
    desk.run("edit", page=NAME, set=["confidence="])
    assert bytes_of(desk).endswith(before.removeprefix(b"\xef\xbb\xbf"))
    before = bytes_of(desk)

    desk.run("edit", page=NAME, text="The last line.", mode="append")
    taken, added = changed(before, bytes_of(desk))
    assert (taken, added.strip()) == (b"", b"The last line.")
    assert desk.git("status", "--porcelain") == ""
    assert desk.git("fsck", "--strict", "--no-dangling") == ""


UNREADABLE = {
    "YAML that does not parse": (b"---\ntitle: [Harbour\nstatus: active\n---\nThe ferry.\n", Damaged),
    "tab for a blank": (b"---\ntitle:\n\t- Harbour\n---\nThe ferry.\n", Damaged),
    "UTF-16": "\ufeffThe ferry.\n".encode("utf-16-le"),
    "Latin-1": "Der F\xe4hrmann. The ferry.\n".encode("latin-1"),
    "bytes of no text": b"The ferry. \xff\xfe\x80\x00\x01\n",
    "conflict": (b"<<<<<<< a\nThe ferry.\n=======\nThe boat.\n>>>>>>> b\n", Refused),
}


@pytest.mark.parametrize("kind", UNREADABLE)
def test_a_page_that_cannot_be_written_safely_is_read_and_refused(desk: Desk, kind: str) -> None:
    given = UNREADABLE[kind]
    data, error = given if isinstance(given, tuple) else (given, Damaged)
    put(desk, data)
    read = desk.run("read", page=NAME)
    assert "ferry" in read.body
    assert not read.writable
    assert read.problems
    # No side of an unresolved merge is an answer.
    found = [hit.path for hit in desk.run("search", query="ferry").hits]
    assert found == ([] if kind == "conflict" else [NAME])
    for change in (
        {"set": ["confidence=0.5"]},
        {"replace": ["The ferry", "A ferry"]},
        {"text": "More.", "mode": "append"},
        {"text": "All new.", "base": read.revision},
    ):
        with pytest.raises(error) as caught:
            desk.run("edit", page=NAME, **change)
        assert caught.value.hint
        assert NAME in caught.value.message
    assert bytes_of(desk) == data
    desk.run("forget", page=NAME)
    assert not (desk.root / NAME).exists()


@pytest.mark.parametrize(
    "data", [b"", b"\n", b"\xef\xbb\xbf", b"\r\n\r\n", b"---\n---\n", b"---\ntitle: x\n---", b"   "]
)
def test_a_page_with_nothing_in_it_takes_text_and_properties(desk: Desk, data: bytes) -> None:
    put(desk, data)
    assert desk.run("read", page=NAME).body.strip("\ufeff \r\n") == ""
    desk.run("edit", page=NAME, text="The ferry leaves at nine.", mode="append")
    after = bytes_of(desk)
    assert after.startswith(data.rstrip(b" \r\n"))
    assert after.count(b"The ferry leaves at nine.") == 1
    assert desk.run("read", page=NAME).body.strip() == "The ferry leaves at nine."
    desk.run("edit", page=NAME, set=["type=fact"])
    read = desk.run("read", page=NAME)
    assert (read.type, read.body.strip(), read.problems) == ("fact", "The ferry leaves at nine.", ())
    assert [hit.path for hit in desk.run("search", query="ferry nine").hits] == [NAME]


def test_frontmatter_that_is_never_closed_is_text(desk: Desk) -> None:
    put(desk, b"---\ntitle: Harbour\n\nThe ferry.\n")
    read = desk.run("read", page=NAME)
    assert "title: Harbour" in read.body
    assert any("no later line closes it" in problem for problem in read.problems)
    desk.run("edit", page=NAME, replace=["The ferry", "A ferry"])
    assert bytes_of(desk) == b"---\ntitle: Harbour\n\nA ferry.\n"
    before = bytes_of(desk)
    try:
        desk.run("edit", page=NAME, set=["type=fact"])
    except WikimemError:
        assert bytes_of(desk) == before
    else:
        assert bytes_of(desk).endswith(before)
        assert desk.run("read", page=NAME).type == "fact"


def test_text_that_would_become_frontmatter_is_refused_or_kept_as_text(desk: Desk) -> None:
    put(desk, b"The ferry.\n")
    revision = desk.run("read", page=NAME).revision
    with pytest.raises(Refused, match="read as frontmatter"):
        desk.run("edit", page=NAME, text="---\nstatus: archived\n---\nGone.\n", base=revision)
    assert bytes_of(desk) == b"The ferry.\n"


def test_sections_of_one_name_are_told_apart(desk: Desk) -> None:
    data = b"# Day one\n\n## Notes\n\nFirst.\n\n# Day two\n\n## Notes\n\nSecond.\n\n### Notes\n\nThird.\n"
    put(desk, data)
    with pytest.raises(Invalid, match=r"3 headings match 'Notes': lines 3, 9, 13") as caught:
        desk.run("edit", page=NAME, section="Notes", text="x")
    assert "Day one > Notes" in caught.value.hint
    desk.run("edit", page=NAME, section="Day one > Notes", text="Changed.")
    assert bytes_of(desk) == data.replace(b"First.", b"Changed.")
    with pytest.raises(NotFound, match="no heading 'Nots'") as near:
        desk.run("edit", page=NAME, section="Nots", text="x")
    assert "Notes" in near.value.hint
    assert bytes_of(desk) == data.replace(b"First.", b"Changed.")


# Large ones


def large(size: int) -> bytes:
    lines = "".join(
        f"Line {number} of the log says that all is well with ship {number % 97}.\n" for number in range(7 * size)
    )
    return (HEAD + "# Log\n\n" + lines + "\nThe ferry leaves at nine.\n").encode()


def headings(size: int) -> bytes:
    return (HEAD + "".join(f"## Station {number}\n\nStop {number}.\n\n" for number in range(size))).encode()


def one_line(size: int) -> bytes:
    return (
        HEAD + "# Log\n\n" + "all is well " * 5 * size + "the ferry leaves at nine\n\n## Station 900\n\nx\n"
    ).encode()


def many_lists(size: int) -> bytes:
    items = "".join("  " * (n % 50) + f"- item {n}\n" for n in range(2 * size))
    return (HEAD + "> " * 60 + "deep\n\n" + items).encode()


@pytest.mark.parametrize("size", [1_500, pytest.param(10_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("build", [large, headings, one_line, many_lists])
def test_a_large_page_is_read_found_and_edited_in_its_span(desk: Desk, build: Any, size: int) -> None:
    """Up to 5 MB and 10,000 headings in the long run."""
    data = build(size)
    put(desk, data)
    assert desk.run("read", page=NAME).revision
    assert desk.run("search", query="ferry nine" if b"ferry" in data else "Harbour").hits[0].path == NAME
    desk.run("edit", page=NAME, set=["confidence=0.5"])
    before = bytes_of(desk)
    assert before == data.replace(b"title: Harbour\n", b"title: Harbour\nconfidence: 0.5\n")
    if b"## Station 900\n" in data:
        desk.run("edit", page=NAME, section="Station 900", text="Changed.")
        assert changed(before, bytes_of(desk))[1] in (b"Changed.", b"Changed")
        assert "Changed." in desk.run("read", page=NAME, section="Station 900").body
    if b"ferry" in data:
        desk.run("edit", page=NAME, replace=["leaves at nine", "leaves at ten"])
        assert b"leaves at ten" in bytes_of(desk)
    before = bytes_of(desk)
    desk.run("edit", page=NAME, text="The end.", mode="append")
    assert changed(before, bytes_of(desk))[1].strip() == b"The end."
    assert desk.run("log", page=NAME).entries[0].pages == (NAME,)
    desk.run("forget", page=NAME)
    assert desk.git("status", "--porcelain") == ""


def test_a_page_that_is_too_large_is_named_and_left_alone(desk: Desk) -> None:
    put(desk, b"The ferry. " * 1_000_000)
    assert [problem.rule for problem in desk.run("status").problems] == ["too-large"]
    with pytest.raises(NotFound):
        desk.run("read", page=NAME)
