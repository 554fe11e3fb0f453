"""Law 1: whatever happened to the vault, the index answers as one that is made from the files as they are now."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from wikimem.index.index import Index, Missing
from wikimem.model.page import FileStat, Page
from wikimem.text.analysis import query_terms
from wikimem.text.page import parse_page

NAMES = ("jose", "Jose", "auth", "plan", "a/plan", "b/plan", "b/c/jose", "認証")
WORDS = ("red", "blue", "tokens", "verify", "認証", "snake_case", "[[jose]]", "[[plan]]", "[[b/plan|x]]", "[[key]]")
HEADERS = ("", "title: Tokens", "aliases: [key]", "aliases: [jose, plan]", "tags: [red]", "status: superseded")
QUESTIONS = ("red", "verify tokens", "認証", "snake_case key", "plan jose")

page_text = st.builds(
    lambda header, words: f"---\n{header}\n---\n# {words[0]}\n" + "\n\n".join(words),
    st.sampled_from(HEADERS),
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=6),
)
step = st.one_of(
    st.tuples(st.just("put"), st.dictionaries(st.sampled_from(NAMES), page_text, min_size=1, max_size=4)),
    st.tuples(st.just("remove"), st.lists(st.sampled_from(NAMES), min_size=1, max_size=3)),
    st.tuples(st.just("rename"), st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES))),
)


def parsed(name: str, text: str) -> tuple[Page, FileStat]:
    data = text.encode()
    return parse_page(f"{name}.md", data), FileStat(len(data), 5, 6)


def answers(index: Index) -> dict[str, object]:
    """All that the index says, with page numbers, which are its own affair, replaced by paths."""
    paths = {row.number: row.path for row in index.list_pages()}
    said: dict[str, object] = {"manifest": index.manifest(), "counts": index.counts(), "stale": index.stale}
    for number, path in paths.items():
        row = index.page(path)
        assert row is not None
        passages = index.page_passages(number)
        said[path] = (
            [getattr(row, name) for name in row.__slots__ if name != "number"],
            [(passage.id, passage.ordinal, passage.heading, passage.start, passage.end) for passage in passages],
            index.links_out(path),
            index.links_in(path),
            [row.path for row in index.find_pages(row.title)],
        )
        walk = index.links.walk({number: 1.0}, 2, None)
        said[f"walk from {path}"] = sorted((paths[page], score, via) for page, score, via in walk)
    vectors = index.vectors
    assert not isinstance(vectors, Missing)
    for question in QUESTIONS:
        said[f"words {question}"] = index.words.search(query_terms(question), 50, None)
        said[f"vectors {question}"] = vectors.search(question, 50, None)
        named = index.links.named_in(question)
        said[f"named {question}"] = {paths[page]: weight for page, weight in named.items()}
    said["ids"] = (index.words.ids(), vectors.ids())
    return said


@settings(max_examples=20, deadline=None)
@given(st.lists(step, min_size=1, max_size=8))
def test_any_history_answers_as_a_rebuild(steps: list[tuple[str, object]]) -> None:
    vault: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        grown = Index.open(Path(folder) / "grown", stamp="s", model=None)
        for kind, what in steps:
            before = dict(vault)
            if kind == "put" and isinstance(what, dict):
                vault.update(what)
            elif kind == "remove" and isinstance(what, list):
                vault = {name: text for name, text in vault.items() if name not in what}
            elif kind == "rename" and isinstance(what, tuple) and what[0] in vault:
                vault[what[1]] = vault.pop(what[0])
            changed = [parsed(name, text) for name, text in vault.items() if before.get(name) != text]
            grown.update(changed, [f"{name}.md" for name in before if name not in vault], mask=str)
        built = Index.open(Path(folder) / "built", stamp="s", model=None)
        built.update([parsed(name, text) for name, text in vault.items()], (), mask=str)
        assert answers(grown) == answers(built)
        grown.close()
        built.close()
