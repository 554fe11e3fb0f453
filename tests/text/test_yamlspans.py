"""Odd pages: an edit of one property changes just its lines, or is refused. Nothing is ever corrupted."""

from __future__ import annotations

import re

import pytest
import yaml

from wikimem.errors import Damaged, Refused, WikimemError
from wikimem.text.frontmatter import read_frontmatter, set_properties
from wikimem.text.yamlspans import Splice, apply_splices

# Each page has the properties `key`, which is edited, and mostly `other`, which must not notice.
ODD_PAGES = {
    "plain": "---\nkey: old\nother: x\n---\nbody\n",
    "comment after": "---\nkey: old  # why\nother: x # c\n---\nbody\n",
    "comment with quotes and colon": '---\nkey: old # it\'s: "c"\nother: x\n---\n',
    "double quotes": '---\nkey: "old" # c\nother: "x"\n---\n',
    "single quotes": "---\nkey: 'it''s' # c\nother: 'x'\n---\n",
    "hash inside quotes": "---\nkey: \"a # b\"\nother: 'c # d'\n---\n",
    "hash without space": "---\nkey: C#x\nother: F#\n---\n",
    "empty": "---\nkey:\nother:\n---\n",
    "empty with comment": "---\nkey:   # to be filled\nother: x\n---\n",
    "empty with blanks": "---\nkey:   \nother: x\n---\n",
    "tilde": "---\nkey: ~\nother: null\n---\n",
    "number": "---\nkey: 5\nother: 007\n---\n",
    "boolean": "---\nkey: yes\nother: no\n---\n",
    "date": "---\nkey: 2024-06-01\nother: 2024-06-01T10:00:00Z\n---\n",
    "time": "---\nkey: 12:30\nother: 12:30:45\n---\n",
    "CRLF": "---\r\nkey: old\r\nother: x\r\n---\r\nbody\r\n",
    "CRLF and a list": "---\r\nkey:\r\n  - a\r\n  - b\r\nother: x\r\n---\r\nbody",
    "mixed line endings": "---\r\nkey: old\nother: x\r\nthird: y\n---\nbody\r\n",
    "carriage returns alone": "---\rkey: old\rother: x\r---\rbody\r",
    "byte order mark": "\ufeff---\nkey: old\nother: x\n---\nbody\n",
    "byte order mark and CRLF": "\ufeff---\r\nkey: old\r\nother: x\r\n---\r\nbody\r\n",
    "no final line break": "---\nkey: old\nother: x\n---\nbody",
    "no body at all": "---\nkey: old\nother: x\n---",
    "spaces after the fences": "---  \nkey: old\nother: x\n--- \t\nbody\n",
    "blank lines in the block": "---\n\nkey: old\n\n\nother: x\n\n---\nbody\n",
    "comments on their own lines": "---\n# one\nkey: old\n# two\nother: x\n# three\n---\n",
    "last key": "---\nother: x\nkey: old\n---\n---\nrule\n",
    "block list": "---\nkey:\n  - a\n  - b\nother: x\n---\n",
    "block list at the margin": "---\nkey:\n- a\n- b\nother:\n- x\n---\n",
    "block list far in": "---\nkey:\n      - a\n      - b\nother: x\n---\n",
    "block list with comments": (
        "---\nkey: # head\n  # above\n  - a # first\n  # between\n  - b\n# after\nother: x\n---\n"
    ),
    "block list with blank lines": "---\nkey:\n\n  - a\n\n  - b\n\nother: x\n---\n",
    "block list of quotes": "---\nkey:\n  - 'a'\n  - \"b: c\"\nother: x\n---\n",
    "block list with an empty item": "---\nkey:\n  -\n  - b\nother: x\n---\n",
    "block list with wide gaps": "---\nkey:\n  -   a\n  -   b\nother: x\n---\n",
    "block list of nested lists": "---\nkey:\n  - - a\n    - b\n  - {c: d}\nother: x\n---\n",
    "block list with a block scalar": "---\nkey:\n  - |\n    - a\n    # not a comment\n  - b\nother: x\n---\n",
    "block list with a running quote": '---\nkey:\n  - "a\n    - b"\n  - c\nother: x\n---\n',
    "block list that is last": "---\nother: x\nkey:\n  - a\n  - b\n---\n",
    "flow list": "---\nkey: [a, b]\nother: [x]\n---\n",
    "flow list with comment": "---\nkey: [ a, 'b' ] # c\nother: x\n---\n",
    "flow list without spaces": "---\nkey: [a,b,c]\nother: x\n---\n",
    "flow list over lines": "---\nkey: [\n  a,\n  b,\n]\nother: x\n---\n",
    "flow list with inner comments": "---\nkey: [a, # first\n  b] # last\nother: x\n---\n",
    "empty flow list": "---\nkey: []\nother: x\n---\n",
    "wikilink without quotes": "---\nkey: [[Target]]\nother: x\n---\n",
    "list of wikilinks without quotes": '---\nkey:\n  - [[A]]\n  - "[[B]]"\nother: [[[C]], [[D]]]\n---\n',
    "literal scalar": "---\nkey: |\n  a\n  # text\n\n  b\nother: x\n---\n",
    "literal scalar that keeps": "---\nkey: |+ # head\n  a\n\n\nother: x\n---\n",
    "folded scalar": "---\nkey: >-\n  a\n  b\n\n# c\nother: x\n---\n",
    "scalar with an indicator": "---\nkey: |2\n    a\n  b\nother: x\n---\n",
    "plain over two lines": "---\nkey: a\n  b\n  c # end\nother: x\n---\n",
    "plain on the next line": "---\nkey:\n  a\nother: x\n---\n",
    "plain behind a comment": "---\nkey: # head\n  a\nother: x\n---\n",
    "quotes over two lines": '---\nkey: "a\n  b" # c\nother: x\n---\n',
    "quotes that hold a fence": '---\nkey: "a --- b"\nother: "x: y"\n---\n',
    "escapes": '---\nkey: "tab\\there \\u00e9"\nother: "\\x41"\n---\n',
    "template placeholder": "---\nkey: {{date}}\nother: {{title}}\n---\n",
    "nested mapping": "---\nkey:\n  a: 1\n  b: 2\nother: x\n---\n",
    "nested mapping elsewhere": "---\nkey: old\nother:\n  a: 1 # c\n\n  b: 2\n---\n",
    "flow mapping": "---\nkey: {a: 1}\nother: {b: 2}\n---\n",
    "anchor": "---\nkey: &a old\nother: *a\n---\n",
    "anchored list": "---\nkey: &a\n  - x\nother: *a\n---\n",
    "alias": "---\nother: &a old\nkey: *a\n---\n",
    "alias in a list": "---\nother: &a old\nkey:\n  - *a\n  - b\n---\n",
    "alias in a flow list": "---\nother: &a old\nkey: [*a, b]\n---\n",
    "merge key": "---\nother: &a {key: old}\n<<: *a\nkey: x\n---\n",
    "tag": "---\nkey: !!str 5\nother: !x y\n---\n",
    "Python tag": "---\nkey: !!python/object/apply:os.system [x]\nother: y\n---\n",
    "quoted keys": "---\n\"key\": old\n'other': x\n---\n",
    "space before the colon": "---\nkey : old\nother : x\n---\n",
    "question mark": "---\n? key\n: old\nother: x\n---\n",
    "repeated": "---\nkey: a\nother: x\nkey: b\n---\n",
    "repeated elsewhere": "---\nkey: a\nother: x\nother: y\n---\n",
    "indented mapping": "---\n  key: old\n  other: x\n---\n",
    "tab after the colon": "---\nkey:\told\nother: x\n---\n",
    "JSON": '---\n{"key": "old", "other": "x"}\n---\n',
    "dots close": "---\nkey: old\nother: x\n...\nbody\n",
    "directive": "---\n%YAML 1.2\nkey: old\n---\n",
    "number as a key": "---\n1: x\nkey: old\ntrue: y\n---\n",
    "Korean": "---\n제목: 한국어\nkey: 옛것 # 주석\nother: 日本語🚀\n---\n본문\n",
    "line separators": "---\nkey: a\u2028b\nother: c\x85d\n---\n",
    "no-break spaces": "---\nkey: \u00a0old\u00a0\nother: x\n---\n",
    "trailing spaces": "---\nkey: old   \nother: x  \n---\n",
    "conflict markers": "---\n<<<<<<< a\nkey: old\n=======\nkey: x\n>>>>>>> b\nother: x\n---\n",
    "colon in the value": "---\nkey: Deploy: the sequel\nother: x\n---\n",
    "quotes in quotes": '---\nkey: "abc "def" ghi"\nother: x\n---\n',
    "tab for indentation": "---\nkey:\n\t- a\nother: x\n---\n",
    "control character": "---\nkey: a\x00\nother: x\n---\n",
    "backquote": "---\nkey: old\nother: `x`\n---\n",
    "empty block": "---\n---\nbody\n",
    "no frontmatter": "# Title\n\nbody\n",
    "no frontmatter, CRLF and mark": "\ufeff# Title\r\n\r\nbody",
    "empty file": "",
    "a rule first": "---\n\nSome prose.\n\n---\n\nMore.\n",
    "a rule that nothing closes": "---\n\nkey: prose\n",
    "a list between rules": "---\n- a\n- b\n---\n",
}
UNREADABLE = {
    "directive",
    "conflict markers",
    "colon in the value",
    "quotes in quotes",
    "tab for indentation",
    "control character",
    "backquote",
}
VALUES: dict[str, object] = {
    "text": "new words",
    "text that needs quotes": "new: [[x]] #y",
    "lines": "one\ntwo\n",
    "number": 7,
    "boolean": True,
    "nothing": None,
    "list": ("b", "new, item", "[[C]]"),
    "longer list": ("a", "b", "c", "d"),
    "empty list": (),
}


def lines_of_key(text: str) -> tuple[int, int]:
    """By other means than wikimem's: from the line of `key` to the next line that begins a property or a comment."""
    begin = re.search(r"""(?<=[\r\n])(?:\? )?[ ]*(["']?)key\1[ ]*(?::|[\r\n])""", text)
    if begin is None:
        fence = re.search(r"(?<=[\r\n])(---|\.\.\.)[ \t]*(?=[\r\n]|\Z)", text)
        return (fence.start(), fence.start()) if fence else (0, 0)
    indent = re.match(r" *", text[begin.start() :])
    after = re.compile(
        rf"(?<=[\r\n]){indent[0] if indent else ''}(?![\s\-\]]|: )\S|(?<=[\r\n])(---|\.\.\.)[ \t]*(?=[\r\n]|\Z)"
    )
    end = after.search(text, begin.end())
    assert end is not None
    return begin.start(), end.start()


def other_values(text: str) -> dict[str, str]:
    """The other properties by PyYAML alone, without guessing."""
    block = re.split(r"(?:\A\ufeff?|(?<=[\r\n]))(?:---|\.\.\.)[ \t]*(?:\r\n|[\r\n]|\Z)", text)[1]
    root = yaml.compose(block.replace("\u2028", "").replace("\x85", ""), Loader=yaml.CBaseLoader)
    pairs = root.value if root else []
    return {yaml.serialize(key): yaml.serialize(value) for key, value in pairs if key.value != "key"}


def outcome(text: str, **how: object) -> str | WikimemError:
    """The page after the edit, or the error of the kinds that a page may be refused with."""
    try:
        return set_properties(text.encode(), path="odd.md", **how).decode()  # type: ignore[arg-type]
    except (Refused, Damaged) as error:
        return error


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
@pytest.mark.parametrize("name", ODD_PAGES)
def test_an_edit_of_an_odd_page_changes_one_property_or_is_refused(name: str, value: object) -> None:
    text = ODD_PAGES[name]
    result = outcome(text, changes={"key": value})
    if isinstance(result, WikimemError):
        assert re.match(r"odd\.md(:\d+)?: ", result.message)
        assert result.hint
        return
    before, after = read_frontmatter(text, ""), read_frontmatter(result, "")
    wanted = {True: "true", 7: "7"}.get(value, value) if isinstance(value, int) else value
    assert after.properties == {**before.properties, "key": wanted}
    assert list(after.properties)[: len(before.properties)] == list(before.properties)
    if not before.present:
        assert result.endswith(text.removeprefix("\ufeff"))
        assert result.startswith("\ufeff") == text.startswith("\ufeff")
        return
    start, end = lines_of_key(text)
    assert result.startswith(text[:start])
    assert result.endswith(text[end:])
    assert other_values(result) == other_values(text)
    own_lines = result[start : len(result) - len(text) + end]
    if "\r\n" in text and name != "mixed line endings":
        assert "\n" not in own_lines.replace("\r\n", "")
    for comment in re.findall(r"^key:[^'\"|>\[\r\n]* (#.*)", text, re.MULTILINE):
        assert comment.strip() in own_lines


@pytest.mark.parametrize("name", ODD_PAGES)
def test_removing_a_property_of_an_odd_page_takes_its_lines_or_is_refused(name: str) -> None:
    text = ODD_PAGES[name]
    result = outcome(text, changes={}, remove=("key",))
    if isinstance(result, WikimemError):
        assert re.match(r"odd\.md(:\d+)?: ", result.message)
        return
    before, after = read_frontmatter(text, ""), read_frontmatter(result, "")
    assert after.properties == {key: value for key, value in before.properties.items() if key != "key"}
    if "key" not in before.properties:
        assert result == text
        return
    start, end = lines_of_key(text)
    assert result.startswith(text[:start])
    assert result.endswith(text[end:])


@pytest.mark.parametrize("name", ODD_PAGES)
def test_what_is_there_already_changes_no_byte(name: str) -> None:
    text = ODD_PAGES[name]
    head = read_frontmatter(text, "")
    if not head.parses:
        with pytest.raises((Damaged, Refused)):
            set_properties(text.encode(), dict(head.properties))
        return
    assert set_properties(text.encode(), dict(head.properties)) == text.encode()


@pytest.mark.parametrize("name", sorted(UNREADABLE))
def test_a_page_that_does_not_parse_is_never_written(name: str) -> None:
    with pytest.raises((Damaged, Refused), match=r"^odd\.md:\d+: "):
        set_properties(ODD_PAGES[name].encode(), {"key": "new"}, path="odd.md")


def edited(name: str, **changes: object) -> str:
    return set_properties(ODD_PAGES[name].encode(), changes).decode()  # type: ignore[arg-type]


def test_most_odd_pages_can_be_edited() -> None:
    """Refusal is for what cannot be done, not a way out."""
    refused = set()
    for name in ODD_PAGES:
        try:
            edited(name, key="new")
        except WikimemError:
            refused.add(name)
    assert refused - UNREADABLE == {
        "anchor",
        "anchored list",
        "alias",
        "tag",
        "Python tag",
        "question mark",
        "repeated",
        "nested mapping",
        "JSON",
        "dots close",
    }


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("comment after", "new", "---\nkey: new  # why\nother: x # c\n---\nbody\n"),
        ("double quotes", "new", '---\nkey: "new" # c\nother: "x"\n---\n'),
        ("single quotes", "don't", "---\nkey: 'don''t' # c\nother: 'x'\n---\n"),
        ("empty with comment", "new", "---\nkey: new   # to be filled\nother: x\n---\n"),
        ("empty with comment", ("a",), "---\nkey:   # to be filled\n  - a\nother: x\n---\n"),
        ("comment after", ("a",), "---\nkey:  # why\n  - a\nother: x # c\n---\nbody\n"),
        ("comment after", None, "---\nkey:  # why\nother: x # c\n---\nbody\n"),
        ("number", "6", "---\nkey: 6\nother: 007\n---\n"),
        ("number", "six", "---\nkey: six\nother: 007\n---\n"),
        ("plain", "6", '---\nkey: "6"\nother: x\n---\nbody\n'),
        ("date", "2025-01-02", "---\nkey: 2025-01-02\nother: 2024-06-01T10:00:00Z\n---\n"),
        ("block list", ("a", "b", "c"), "---\nkey:\n  - a\n  - b\n  - c\nother: x\n---\n"),
        ("block list at the margin", ("a", "c"), "---\nkey:\n- a\n- c\nother:\n- x\n---\n"),
        ("block list with wide gaps", ("a", "b", "c"), "---\nkey:\n  -   a\n  -   b\n  -   c\nother: x\n---\n"),
        (
            "block list with comments",
            ("new", "a", "c"),
            "---\nkey: # head\n  # above\n  - new\n  - a # first\n  # between\n  - c\n# after\nother: x\n---\n",
        ),
        ("block list of quotes", ("b: c", "d"), '---\nkey:\n  - "b: c"\n  - d\nother: x\n---\n'),
        ("block list of nested lists", ("{c: d}", "e"), "---\nkey:\n  - {c: d}\n  - e\nother: x\n---\n"),
        ("block list", "one", "---\nkey: one\nother: x\n---\n"),
        ("block list with comments", "one", "---\nkey: one # head\n  # above\n# after\nother: x\n---\n"),
        ("block list", (), "---\nkey: []\nother: x\n---\n"),
        ("flow list", ("a", "b", "c, d"), '---\nkey: [a, b, "c, d"]\nother: [x]\n---\n'),
        ("flow list with comment", ("b", "c"), "---\nkey: [ 'b', c ] # c\nother: x\n---\n"),
        ("flow list without spaces", ("a", "c", "d"), "---\nkey: [a,c,d]\nother: x\n---\n"),
        ("flow list over lines", ("a", "b", "c"), "---\nkey: [\n  a,\n  b,\n  c,\n]\nother: x\n---\n"),
        ("flow list with inner comments", ("a", "b", "c"), "---\nkey: [a, # first\n  b, c] # last\nother: x\n---\n"),
        ("wikilink without quotes", "[[New]]", '---\nkey: "[[New]]"\nother: x\n---\n'),
        ("literal scalar that keeps", "new", "---\nkey: new # head\n\n\nother: x\n---\n"),
        ("plain on the next line", "new", "---\nkey:\n  new\nother: x\n---\n"),
        ("indented mapping", ("a",), "---\n  key:\n    - a\n  other: x\n---\n"),
    ],
)
def test_an_edit_looks_as_the_person_would_have_made_it(name: str, value: object, expected: str) -> None:
    assert edited(name, key=value) == expected


@pytest.mark.parametrize(
    ("name", "changes", "expected"),
    [
        ("CRLF", {"tags": ("a",)}, "---\r\nkey: old\r\nother: x\r\ntags:\r\n  - a\r\n---\r\nbody\r\n"),
        ("block list at the margin", {"new": ("z",)}, "---\nkey:\n- a\n- b\nother:\n- x\nnew:\n- z\n---\n"),
        ("block list far in", {"new": ("z",)}, "---\nkey:\n      - a\n      - b\nother: x\nnew:\n      - z\n---\n"),
        ("indented mapping", {"new": "z"}, "---\n  key: old\n  other: x\n  new: z\n---\n"),
        ("comments on their own lines", {"new": None}, "---\n# one\nkey: old\n# two\nother: x\n# three\nnew:\n---\n"),
        ("empty block", {"pinned": True}, "---\npinned: true\n---\nbody\n"),
        ("no frontmatter, CRLF and mark", {"a": "b"}, "\ufeff---\r\na: b\r\n---\r\n# Title\r\n\r\nbody"),
        ("a rule first", {"a": "b"}, "---\na: b\n---\n---\n\nSome prose.\n\n---\n\nMore.\n"),
        ("plain", {"key": "k", "new": "m", "other": "o"}, "---\nkey: k\nother: o\nnew: m\n---\nbody\n"),
    ],
)
def test_new_properties_come_last_and_in_the_files_own_way(
    name: str, changes: dict[str, object], expected: str
) -> None:
    assert edited(name, **changes) == expected


def test_a_removed_property_leaves_the_comments_around_it() -> None:
    text = ODD_PAGES["comments on their own lines"]
    assert set_properties(text.encode(), {}, remove=("key",)).decode() == "---\n# one\n# two\nother: x\n# three\n---\n"


def test_an_anchor_that_others_use_is_not_taken_away() -> None:
    with pytest.raises(Refused, match=r"^p\.md:2: `key` uses a YAML anchor"):
        set_properties(ODD_PAGES["anchor"].encode(), {}, remove=("key",), path="p.md")


def test_splices_are_made_together() -> None:
    splices = [Splice(4, 6, "X"), Splice(0, 0, "<"), Splice(2, 4, "")]
    assert apply_splices("abcdefg", splices) == "<abXg"
