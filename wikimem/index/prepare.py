"""From a parsed page to what the index keeps of it. The one place where page text enters the index, and is masked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from wikimem.index.naming import keys_of, stem_of
from wikimem.index.parts import LinkRow
from wikimem.index.rowfacts import expiry, moment_of, project_of
from wikimem.model.hit import PageRow
from wikimem.model.page import FileStat, Metadata, Page, Passage, Problem
from wikimem.text.passages import cut_passages
from wikimem.text.speakers import Span, cut_out, said_by_person
from wikimem.text.tokens import estimate_tokens

Mask = Callable[[str], str]

_SCHEMA_KEYS: Final = frozenset(Metadata.__struct_fields__)
_MOST_PROPERTY_TEXT: Final = 4_000
"""Characters of foreign frontmatter that are searchable: generous for people, short for a table that a tool left."""


class PreparedPassage(Struct, frozen=True):
    """A passage with the masked text of each of its fields, and a digest of them that tells whether it changed."""

    passage: Passage
    heading: str
    fields: tuple[str, ...]
    digest: bytes

    @property
    def meaning(self) -> str:
        """What its vector is made of: the words of its page and heading, and its own."""
        title, _, heading, _, body, _ = self.fields
        return "\n".join(part for part in (title, heading, body) if part)


class PreparedPage(Struct, frozen=True):
    """All that one page brings into the index. `row.number` is 0 until it is given one."""

    row: PageRow
    stat: FileStat
    names: tuple[tuple[str, str], ...]
    tags: tuple[str, ...]
    links: tuple[LinkRow, ...]
    passages: tuple[PreparedPassage, ...]
    problems: tuple[Problem, ...]


def prepare_page(page: Page, stat: FileStat, mask: Mask) -> PreparedPage:
    """Read a page for the index. Every text is masked; offsets stay those of the page as it is on disk."""
    hide = _masker(page, mask)
    meta = page.meta
    title = hide(page.title)
    aliases = tuple(hide(alias) for alias in meta.aliases)
    tags = tuple(dict.fromkeys(hide(tag) for tag in (*meta.tags, *page.tags)))
    row = PageRow(
        number=0,
        path=page.path,
        id=page.id,
        title=title,
        type=meta.type,
        status=meta.status,
        revision=page.revision,
        trust=meta.trust,
        confidence=meta.confidence,
        importance=meta.importance,
        pinned=meta.pinned,
        created=meta.created,
        confirmed=meta.confirmed,
        valid_from=meta.valid_from,
        valid_to=meta.valid_to,
        expires=expiry(meta),
        project=hide(project) if (project := meta.project or project_of(page.path)) else None,
        agent=hide(meta.agent) if meta.agent else None,
        session=hide(meta.session) if meta.session else None,
        sources=tuple(hide(source) for source in meta.sources),
        tags=tags,
        aliases=aliases,
        mtime=moment_of(stat),
        tokens=estimate_tokens(page.text),
    )
    stem = stem_of(page.path)
    other_names = "\n".join((*aliases, *(() if stem == page.title else (hide(stem),))))
    labels = "\n".join((*tags, _foreign_properties(page, hide)))
    said = said_by_person(page.text, page.body_start) or ()
    return PreparedPage(
        row=row,
        stat=stat,
        names=tuple(dict.fromkeys(keys_of(page.path, page.id, title, aliases))),
        tags=tuple(dict.fromkeys(tag.lstrip("#").casefold() for tag in tags)),
        links=tuple(
            LinkRow(page.path, hide(link.target), hide(link.fragment), hide(link.kind), None, broken=True)
            for link in page.links
        ),
        passages=tuple(
            _prepare_passage(page, passage, (title, other_names, labels), said, hide) for passage in cut_passages(page)
        ),
        problems=tuple(replace(problem, message=hide(problem.message)) for problem in page.problems),
    )


def _prepare_passage(
    page: Page, passage: Passage, shared: tuple[str, str, str], said: tuple[Span, ...], hide: Mask
) -> PreparedPassage:
    title, other_names, labels = shared
    heading = hide(passage.heading)
    body = hide(page.text[passage.start : passage.end])
    texts = (title, other_names, heading, labels, body, hide(cut_out(page.text, said, passage.start, passage.end)))
    digest = blake2b("\0".join(texts).encode("utf-8", "surrogatepass"), digest_size=16).digest()
    return PreparedPassage(passage, heading, texts, digest)


def _foreign_properties(page: Page, hide: Mask) -> str:
    """Keys that are not wikimem's, with their values: kept and searchable, whatever they mean."""
    lines = []
    for key, value in page.properties.items():
        if key not in _SCHEMA_KEYS and value:
            lines.append(f"{key} {value if isinstance(value, str) else ' '.join(value)}")
    return hide("\n".join(lines)[:_MOST_PROPERTY_TEXT])


def _masker(page: Page, mask: Mask) -> Mask:
    """A mask for the pieces of a page.

    A secret may be longer than a piece (a private key is cut into several passages) or be recognised only by what
    stands before it, so the page is masked whole; a word that is gone from it then is dropped from every piece.
    """
    masked = mask(page.text)
    if masked == page.text:
        # Only the path can bring in what is not in the text.
        return mask if mask(page.path) != page.path else _as_it_is
    hidden = frozenset(page.text.split()) - frozenset(masked.split())

    def hide(text: str) -> str:
        found = mask(text)
        if hidden.isdisjoint(found.split()):
            return found
        return "".join("" if word in hidden else word + space for word, space in _words(found))

    return hide


def _words(text: str) -> list[tuple[str, str]]:
    pieces: list[tuple[str, str]] = []
    for line in text.splitlines(keepends=True):
        words = line.split()
        pieces.extend((word, " ") for word in words)
        if words:
            pieces[-1] = (words[-1], "\n")
    return pieces


def _as_it_is(text: str) -> str:
    return text


def prepare_pages(
    batch: Iterable[tuple[Page, FileStat]],
    mask: Callable[[str], str],
    progress: Callable[[int, int], None] | None,
    done: int,
    total: int,
) -> Iterator[PreparedPage]:
    """Prepare one page after the other; `progress` is told how many of `total` are, `done` of them before these."""
    for number, (page, stat) in enumerate(batch, start=done + 1):
        yield prepare_page(page, stat, mask)
        if progress is not None:
            progress(number, max(total, number))
