"""The language server as an editor meets it: a process, JSON-RPC over its streams, unsaved buffers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.surfaces.lsp.conftest import SECRET, Editor

if TYPE_CHECKING:
    from tests.conftest import Run


@pytest.fixture
def draft(editor: Editor, notes: Path) -> Iterator[str]:
    """An open page that was never saved."""
    uri = editor.open(notes / "Draft.md", "")
    editor.diagnostics(uri)
    yield uri
    editor.close(uri)
    assert editor.diagnostics(uri) == []


def completed(editor: Editor, uri: str, written: str) -> list[tuple[str, str]]:
    """What each suggestion makes of the text, in which `|` is the cursor, by label."""
    offset = written.index("|")
    text = written.replace("|", "", 1)
    editor.change(uri, text)
    before = text[:offset]
    line, character = before.count("\n"), len(before.rpartition("\n")[2].encode("utf-16-le")) // 2
    found = editor.at("completion", uri, line, character)
    return [(item["label"], applied(text, item["textEdit"])) for item in found["items"]]


def applied(text: str, edit: dict[str, Any]) -> str:
    """The text after an edit of one line whose positions count UTF-16."""
    lines = text.split("\n")
    start, end = edit["range"]["start"], edit["range"]["end"]
    assert start["line"] == end["line"]
    line = lines[start["line"]].encode("utf-16-le")
    said = line[: 2 * start["character"]].decode("utf-16-le") + edit["newText"]
    lines[start["line"]] = said + line[2 * end["character"] :].decode("utf-16-le")
    return "\n".join(lines)


def test_it_says_what_it_can_do(env: dict[str, str], place: Path, notes: Path) -> None:
    editor = Editor(env, place, "--vault", str(notes))
    try:
        can = editor.initialize(general={"positionEncodings": ["utf-32", "utf-16"]})["capabilities"]
        assert can["positionEncoding"] == "utf-32"
        assert can["textDocumentSync"]["change"] == 1
        assert all(can[f"{each}Provider"] for each in ("hover", "definition", "references", "documentSymbol"))
        assert "[" in can["completionProvider"]["triggerCharacters"]
        uri = editor.open(notes / "sp ace/Größe 100%.md")
        found = editor.at("definition", uri, 2, 6)
        assert found[0]["uri"] == (notes / "Deploy.md").as_uri()
        assert editor.at("definition", uri, 2, 2) == []
        assert editor.end() == 0
    finally:
        editor.kill()


def test_wikilinks_are_completed_by_title_alias_and_path(editor: Editor, draft: str) -> None:
    found = dict(completed(editor, draft, "😀 see [[jo|"))
    assert found["jose"] == "😀 see [[Jose library|jose]]"
    assert found["Jose library"] == "😀 see [[Jose library]]"
    titled = dict(completed(editor, draft, "see [[jwt|]] now"))
    assert titled == {"Use jose for JWT verification": "see [[Jose library|Use jose for JWT verification]] now"}
    assert completed(editor, draft, "[[shop/|") == [("projects/shop/topics/Auth", "[[Auth]]")]
    assert completed(editor, draft, "see jo|") == []
    assert completed(editor, draft, "`[[jo|`") == []


def test_headings_and_blocks_of_the_page_that_a_link_means_are_completed(editor: Editor, draft: str) -> None:
    assert completed(editor, draft, "[[jose#|]]") == [
        ("Why", "[[jose#Why]]"),
        ("Größe 😀 of it", "[[jose#Größe 😀 of it]]"),
    ]
    assert completed(editor, draft, "[[jose#^|") == [("b1", "[[jose#^b1]]")]
    assert completed(editor, draft, "# Mine\n\n[[#m|") == [("Mine", "# Mine\n\n[[#Mine]]")]


def test_properties_and_their_values_are_completed(editor: Editor, draft: str) -> None:
    names = dict(completed(editor, draft, "---\ntitle: x\n|\n---\n"))
    assert names["type"] == "---\ntitle: x\ntype: \n---\n"
    assert "title" not in names
    assert dict(completed(editor, draft, "---\ntype: dec|\n---\n")) == {"decision": "---\ntype: decision\n---\n"}
    assert ("disputed", "---\nstatus: disputed\n---\n") in completed(editor, draft, "---\nstatus:|\n---\n")
    assert dict(completed(editor, draft, "---\nproject: s|\n---\n")) == {"shop": "---\nproject: shop\n---\n"}
    assert dict(completed(editor, draft, "---\ntags: [x, edge|]\n---\n")) == {
        "edge runtime": "---\ntags: [x, edge runtime]\n---\n"
    }
    assert dict(completed(editor, draft, "---\nsupersedes:\n  - dep|\n---\n")) == {
        "Deploy": '---\nsupersedes:\n  - "[[Deploy]]"\n---\n'
    }
    assert [label for label, _ in completed(editor, draft, "---\ntrust: |\n---\n")] == ["human", "agent", "tool", "web"]


def test_hover_says_what_a_page_is_worth(editor: Editor, draft: str) -> None:
    editor.change(draft, "See [[jose]] and [[jose#Größe 😀 of it]].\n")
    said = editor.at("hover", draft, 0, 6)
    assert said["range"] == {"start": {"line": 0, "character": 4}, "end": {"line": 0, "character": 12}}
    shown = said["contents"]["value"]
    for fact in ("**Use jose for JWT verification**", "decision", "from 2025-09-12", "confidence: 0.9", "trust: human",
                 "src/auth.ts", "no Node crypto"):  # fmt: skip
        assert fact in shown
    section = editor.at("hover", draft, 0, 20)["contents"]["value"]
    assert "Small." in section
    assert "Node crypto" not in section
    assert editor.at("hover", draft, 0, 1) is None
    assert editor.at("hover", draft, 0, 99) is None


def test_hover_on_frontmatter_explains_the_property_and_the_page(editor: Editor, notes: Path) -> None:
    uri = editor.open(notes / "Jose library.md")
    shown = editor.at("hover", uri, 5, 3)["contents"]["value"]
    assert shown.startswith("`confidence`: How sure it is")
    assert "01JDZK3V9Q4T8M2X7B5C1R6W0N" in shown
    editor.close(uri)


def test_no_secret_is_shown(editor: Editor, notes: Path, draft: str) -> None:
    text = "See [[Leak]].\n"
    editor.change(draft, text)
    shown = json.dumps(editor.at("hover", draft, 0, 6))
    assert "redacted:" in shown
    assert SECRET not in shown
    uri = editor.open(notes / "notes/Leak.md")
    found = editor.diagnostics(uri)
    assert "secret" in [each["code"] for each in found]
    assert SECRET not in json.dumps(found)
    editor.close(uri)


def test_diagnostics_come_and_go_with_edits_that_are_not_saved(editor: Editor, notes: Path, draft: str) -> None:
    version = editor.change(draft, "---\nconfidence: high\n---\n😀 [[Nowhere]] and [[jose#Nothing]] x\n")
    found = {each["code"]: each for each in editor.diagnostics(draft, version)}
    assert found["property-value"]["range"]["start"] == {"line": 1, "character": 0}
    assert found["property-value"]["range"]["end"] == {"line": 1, "character": 16}
    broken = found["broken-link"]
    assert broken["range"] == {"start": {"line": 3, "character": 3}, "end": {"line": 3, "character": 14}}
    assert "'Nowhere' leads to no page" in broken["message"]
    assert "Correct the link or write the page" in broken["message"], "the remedy of check"
    assert (broken["severity"], broken["source"]) == (2, "wikimem")
    assert "the heading 'Nothing'" in found["broken-fragment"]["message"]

    version = editor.change(draft, "---\nconfidence: 0.5\n---\n😀 [[jose]] and [[jose#Why]] x\n")
    assert editor.diagnostics(draft, version) == []
    version = editor.change(draft, f"<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x\n\nkey {SECRET}\n")
    assert {each["code"] for each in editor.diagnostics(draft, version)} == {"conflict-markers", "secret"}
    assert not (notes / "Draft.md").exists()


def test_a_heading_that_is_not_saved_yet_is_there_for_other_pages(editor: Editor, notes: Path, draft: str) -> None:
    other = editor.open(notes / "Deploy.md", "# Deploy\n\n## Fresh heading\n")
    version = editor.change(draft, "[[Deploy#Fresh heading]]\n")
    assert editor.diagnostics(draft, version) == []
    assert completed(editor, draft, "[[Deploy#fr|") == [("Fresh heading", "[[Deploy#Fresh heading]]")]
    editor.close(other)


def test_what_a_page_is_among_others_is_told_when_it_is_saved(editor: Editor, notes: Path) -> None:
    twin = notes / "notes/Deploy.md"
    twin.write_text("# Deploy\n\nAgain.\n")
    uri = editor.open(twin)
    codes = {each["code"] for each in editor.diagnostics(uri)}
    assert {"duplicate-title", "orphan"} <= codes
    twin.write_text("# Something else\n\nAs in [[jose]].\n")
    editor.change(uri, twin.read_text())
    editor.save(uri)
    while found := editor.diagnostics(uri):
        assert {each["code"] for each in found} <= {"duplicate-title", "orphan"}
    twin.unlink()
    editor.close(uri)


def test_definition_leads_to_the_page_the_heading_and_the_block(editor: Editor, notes: Path, draft: str) -> None:
    editor.change(draft, "😀 [[jose]] [[jose#größe 😀 of it]] [[jose#^b1]] [[#Mine]]\n\n# Mine\n")
    target = (notes / "Jose library.md").as_uri()

    def leads_to(character: int) -> tuple[str, int]:
        [found] = editor.at("definition", draft, 0, character)
        return found["uri"], found["range"]["start"]["line"]

    assert leads_to(5) == (target, 0)
    assert leads_to(16) == (target, 14)
    assert leads_to(42) == (target, 18)
    assert leads_to(55) == (draft, 2)


def test_references_are_the_links_to_a_page_saved_or_not(editor: Editor, notes: Path, draft: str) -> None:
    editor.change(draft, "One [[jose]] here\n")

    def linked_from(uri: str, line: int, character: int, declared: bool = False) -> list[tuple[str, int]]:
        context = {"includeDeclaration": declared}
        found = editor.at("references", uri, line, character, context=context)
        return sorted((Path(each["uri"]).name, each["range"]["start"]["character"]) for each in found)

    every = linked_from(draft, 0, 6)
    assert every == [("Auth.md", 6), ("Deploy.md", 4), ("Deploy.md", 25), ("Draft.md", 4)]
    uri = editor.open(notes / "Jose library.md")
    assert linked_from(uri, 12, 0) == every, "in its text"
    assert linked_from(uri, 10, 3) == [("Deploy.md", 25)], "on the heading Why"
    assert linked_from(uri, 10, 3, declared=True) == [("Deploy.md", 25), ("Jose%20library.md", 0)]
    editor.close(uri)


def test_headings_are_an_outline(editor: Editor, notes: Path) -> None:
    uri = editor.open(notes / "Jose library.md")
    [why] = editor.ask("textDocument/documentSymbol", {"textDocument": {"uri": uri}})
    assert (why["name"], [each["name"] for each in why["children"]]) == ("Why", ["Größe 😀 of it"])
    editor.close(uri)


def test_a_uri_may_be_written_in_any_way_that_means_the_file(editor: Editor, notes: Path) -> None:
    plain = (notes / "sp ace/Größe 100%.md").as_uri()
    odd = plain.replace("file:///", "file://localhost/").replace("G", "%47")
    uri = editor.open(notes / "sp ace/Größe 100%.md", uri=odd)
    editor.diagnostics(odd)
    [found] = editor.at("definition", uri, 2, 6)
    assert found["range"]["start"] == {"line": 0, "character": 0}
    editor.close(uri)


@pytest.mark.parametrize("uri", ["untitled:Untitled-1", "git:/x/y.md?ref=HEAD", "file://host/share/a.md", "file:a.md"])
def test_what_is_no_file_is_met_with_silence(editor: Editor, uri: str) -> None:
    editor.open(Path("x.md"), "[[Nowhere]]\n", uri=uri)
    assert editor.at("completion", uri, 0, 4) is None
    assert editor.at("hover", uri, 0, 4) is None
    editor.close(uri)
    assert editor.diagnostics(uri) == []


def test_a_file_outside_any_vault_is_met_with_silence(editor: Editor, place: Path) -> None:
    uri = editor.open(place / "README.md", "[[Nowhere]] x\n")
    assert editor.at("completion", uri, 0, 4) is None
    assert editor.at("hover", uri, 0, 4) is None
    assert editor.at("definition", uri, 0, 4) is None
    editor.close(uri)
    assert editor.diagnostics(uri) == [], "the first that is published is that of closing"


def test_a_template_gets_no_diagnostics(editor: Editor, notes: Path) -> None:
    (notes / ".wikimemignore").write_text("templates/\n")
    (notes / "templates").mkdir(exist_ok=True)
    (notes / "templates/Mine.md").write_text("[[Nowhere {{title}}]]\n")
    uri = editor.open(notes / "templates/Mine.md")
    assert editor.diagnostics(uri) == []
    editor.close(uri)


def test_a_vault_that_is_not_trusted_is_refused_once(editor: Editor, place: Path, env: dict[str, str]) -> None:
    (place / "clone/.wikimem").mkdir(parents=True)
    uris = [editor.open(place / "clone" / name, "[[Nowhere]]\n") for name in ("a.md", "b.md")]
    for uri in uris:
        assert editor.at("hover", uri, 0, 4) is None
    said = editor.wait_for(lambda message: message.get("method") == "window/showMessage")["params"]
    assert "never made or trusted" in said["message"]
    assert "wikimem trust" in said["message"]
    assert editor.at("completion", uris[0], 0, 3) is None
    assert not [each for each in editor.messages if each.get("method") == "window/showMessage"]
    for uri in uris:
        editor.close(uri)


def test_a_message_that_is_malformed_does_not_end_it(editor: Editor, draft: str) -> None:
    editor.send_raw(b"{not json")
    editor.send_raw(b'{"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": 3}}')
    editor.send_raw(b"[]")
    editor.send_raw(b"\xff\xfe")
    editor.send(method="textDocument/didChange", params={"textDocument": {"uri": "file:///x.md", "version": 1}})
    editor.send(id=9000, method="textDocument/nothingLikeIt", params={})
    error = editor.wait_for(lambda message: message.get("id") == 9000)["error"]
    assert error["code"] == -32601
    assert dict(completed(editor, draft, "[[dep|"))["Deploy"] == "[[Deploy]]"


def test_nothing_in_the_vault_is_written(editor: Editor, notes: Path) -> None:
    def state() -> dict[str, str]:
        files = sorted(each for each in notes.rglob("*") if each.is_file())
        return {str(each): hashlib.sha256(each.read_bytes()).hexdigest() for each in files}

    before = state()
    uri = editor.open(notes / "Deploy.md", "changed [[jose|")
    editor.diagnostics(uri)
    editor.at("completion", uri, 0, 15)
    editor.at("references", uri, 0, 12, context={"includeDeclaration": True})
    editor.close(uri)
    editor.diagnostics(uri)
    assert state() == before


def test_exit_without_shutdown_and_a_closed_stream_end_it(env: dict[str, str], place: Path) -> None:
    editor = Editor(env, place)
    try:
        editor.initialize()
        editor.send(method="exit")
        assert editor.process.wait(60) == 1
    finally:
        editor.kill()
    editor = Editor(env, place)
    try:
        editor.initialize()
        assert editor.process.stdin is not None
        editor.process.stdin.close()
        assert editor.process.wait(60) == 1
    finally:
        editor.kill()


def test_without_the_extra_it_says_what_to_install(run: Run, tmp_path: Path) -> None:
    (tmp_path / "pygls.py").write_text("raise ModuleNotFoundError(\"No module named 'pygls'\", name='pygls')\n")
    (tmp_path / "sitecustomize.py").write_text(f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n")
    root = Path(__file__).parents[3]
    done = run("lsp", "--json", env={"PYTHONPATH": f"{tmp_path}:{root}"})
    assert done.code == 6
    assert done.error["kind"] == "unavailable"
    assert "pip install 'wikimem[lsp]'" in done.error["hint"]
    assert done.stdout == ""
