"""The rows of the store: its schema, and edges and assertions as rows and back."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import msgspec

from wikimem.graph.statements import Assertion, Edge, Ending
from wikimem.graph.vocabulary import ALIAS, SAME_AS
from wikimem.text.namewords import words_key
from wikimem.text.triples import Literal, Term

if TYPE_CHECKING:
    from wikimem.graph.reading import FileStatements

SCHEMA: Final = f"""
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE files (number INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, size INTEGER, mtime_ns INTEGER,
                    inode INTEGER, revision TEXT NOT NULL);
CREATE TABLE edges (file INTEGER NOT NULL, id TEXT NOT NULL, subject TEXT NOT NULL, predicate TEXT NOT NULL,
                    object TEXT NOT NULL, value INTEGER NOT NULL, datatype TEXT NOT NULL, language TEXT NOT NULL,
                    valid_from TEXT);
CREATE INDEX edges_file ON edges (file);
CREATE INDEX edges_id ON edges (id);
CREATE INDEX edges_subject ON edges (subject, value);
CREATE INDEX edges_object ON edges (object);
CREATE INDEX edges_naming ON edges (predicate) WHERE predicate IN ('{SAME_AS}', '{ALIAS}');
CREATE TABLE parts (file INTEGER NOT NULL, edge TEXT NOT NULL, source TEXT NOT NULL, said TEXT NOT NULL);
CREATE INDEX parts_file ON parts (file);
CREATE INDEX parts_edge ON parts (edge);
CREATE TABLE names (file INTEGER NOT NULL, iri TEXT NOT NULL, label TEXT NOT NULL, key TEXT NOT NULL,
                    words TEXT NOT NULL);
CREATE INDEX names_file ON names (file);
CREATE INDEX names_iri ON names (iri);
CREATE INDEX names_key ON names (key);
CREATE INDEX names_words ON names (words) WHERE words <> '';
CREATE TABLE namewords (file INTEGER NOT NULL, word TEXT NOT NULL, backwards TEXT NOT NULL, iri TEXT NOT NULL);
CREATE INDEX namewords_file ON namewords (file);
CREATE INDEX namewords_word ON namewords (word, iri);
CREATE INDEX namewords_backwards ON namewords (backwards);
CREATE TABLE problems (file INTEGER NOT NULL, rule TEXT NOT NULL, line INTEGER, message TEXT NOT NULL);
CREATE TABLE pages (path TEXT PRIMARY KEY, revision TEXT NOT NULL, iri TEXT NOT NULL, id TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX pages_iri ON pages (iri);
CREATE INDEX pages_id ON pages (id);
"""
"""What one file says is in rows with its number; `pages` are those of the search index. `words` are the words of a name
as questions are matched with them; `namewords` has each of them, and backwards, for words that are misspelt."""


def edge_row(edge: Edge) -> tuple[str, str, str, str, int, str, str, str | None]:
    term = edge.object
    text, value, datatype, language = (term, 0, "", "") if isinstance(term, str) else (term.text, 1, *term[1:])
    return edge.id, edge.subject, edge.predicate, text, value, datatype, language, edge.valid_from


def edge_of(row: Sequence[Any]) -> Edge:
    _, subject, predicate, text, value, datatype, language, valid_from = row
    term: Term = Literal(text, datatype, language) if value else text
    return Edge(subject, predicate, term, valid_from)


def name_key(name: str) -> str:
    """A name as names are looked up: casefolded, single blanks."""
    return " ".join(unicodedata.normalize("NFC", name).casefold().split())


@lru_cache(1 << 14)
def _keys(label: str) -> tuple[str, str]:
    # The same thing is named in many files.
    return name_key(label), words_key(label)


def name_rows(said: FileStatements) -> tuple[list[tuple[str, str, str, str]], list[tuple[str, str, str]]]:
    """The rows of `names` and of `namewords` for what a file calls things, without the file's number."""
    named = set(said.labels.items())
    named |= {
        (edge.subject, edge.object.text)
        for edge in said.edges.values()
        if edge.predicate == ALIAS and isinstance(edge.object, Literal)
    }
    names = [(iri, label, *_keys(label)) for iri, label in sorted(named)]
    words = {(word, iri) for iri, _, _, key in names for word in key.split()}
    return names, [(word, word[::-1], iri) for word, iri in sorted(words)]


_FIELDS: Final = (
    "weights", "quotes", "reasoning", "sentiments", "alternatives", "valid_to", "generated", "invalidated", "by",
    "projects",
)  # fmt: skip


def packed(assertion: Assertion) -> str:
    said: dict[str, Any] = {name: sorted(getattr(assertion, name)) for name in _FIELDS if getattr(assertion, name)}
    if assertion.endings:
        said["endings"] = sorted((each.time, each.through) for each in assertion.endings)
    return msgspec.json.encode(said).decode()


def unpacked(edge: str, source: str, text: str) -> Assertion:
    said = msgspec.json.decode(text)
    endings = frozenset(Ending(time, through) for time, through in said.pop("endings", ()))
    return Assertion(edge, source, endings=endings, **{name: frozenset(values) for name, values in said.items()})
