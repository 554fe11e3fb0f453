"""Questions with known answers, asked of a vault one by one: what came, where the answers stood, how long it took."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Final, Literal

from msgspec import Struct

from wikimem.errors import Invalid, NotFound
from wikimem.model.evaluation import EvalQuestion
from wikimem.model.hit import PageRow
from wikimem.search.configuration import Configuration
from wikimem.search.evaluation import places, score
from wikimem.search.filters import make_filter
from wikimem.search.hits import Hit
from wikimem.text.dates import parse_date

if TYPE_CHECKING:
    from wikimem.wiki import Wiki

Level = Literal["page", "passage"]

_BLOCK: Final = "^"


class Expected(Struct, frozen=True):
    """An answer: the page with this id, at passage level the part of it that `fragment` names, if one does."""

    address: str
    id: str
    fragment: str = ""

    @property
    def key(self) -> str:
        """Its name in a ranking."""
        return f"{self.id}#{self.fragment}" if self.fragment else self.id


class Answered(Struct, frozen=True):
    """One question asked: its hits, best first, each expected answer's rank, the metrics, and milliseconds."""

    question: EvalQuestion
    expected: tuple[Expected, ...]
    hits: tuple[Hit, ...]
    ranks: dict[str, int]
    scores: dict[str, float]
    ms: float


def expected_of(wiki: Wiki, address: str) -> Expected:
    """What an address such as `PAGE`, `PAGE#heading` or `PAGE#^block` names. Raises what `Wiki.find` raises, and
    NotFound or Invalid where the page has no such part, or several."""
    inner = address.removeprefix("[[").removesuffix("]]") if address.startswith("[[") else address
    try:
        return Expected(address, wiki.find(inner).id)
    except NotFound:
        page, hash_, fragment = inner.partition("#")
        if not hash_ or not page.strip() or not fragment.strip():
            raise
        row = wiki.find(page.strip())
    _span(_text_of(wiki, row), fragment.strip())
    return Expected(address, row.id, fragment.strip())


def ask(
    wiki: Wiki,
    question: EvalQuestion,
    expected: Sequence[Expected],
    configuration: Configuration,
    *,
    level: Level = "page",
    limit: int = 10,
    project: str | None = None,
) -> Answered:
    """Ask one question as the `search` operation does, and judge what came. `project` is the question's scope.

    The index must be up to date. Raises Invalid for a date that is none.
    """
    from wikimem.search.edges import asserted_edges
    from wikimem.search.reranker import reranker_of
    from wikimem.search.search import OK, RERANKER, search
    from wikimem.search.synonyms import vault_table

    moment = parse_date(question.now, wiki.clock(), "now").start if question.now else wiki.clock()
    as_of = parse_date(question.as_of, moment, "as_of") if question.as_of else None
    where = make_filter(now=moment, as_of=as_of, project=project)
    begun = time.perf_counter()
    with asserted_edges(wiki, where) as edges:
        outcome = search(
            wiki.index,
            question.question,
            where,
            now=moment,
            read_page=wiki.page_to_recall,
            mask=wiki.redactor.mask,
            limit=limit,
            streams=configuration.streams,
            group=level,
            fusion=configuration.fusion,
            edges=edges,
            reranker=reranker_of(wiki.user) if configuration.reranked else None,
            synonyms=vault_table(wiki.root),
        )
    elapsed = (time.perf_counter() - begun) * 1000
    wanted = {each.key: each for each in expected} if level == "passage" else {each.id: each for each in expected}
    if outcome.answered.get(RERANKER, OK) != OK:
        wiki.notes.append(f"the reranker did not answer every question: {outcome.answered[RERANKER]}")
    hits = outcome.hits
    ranked = [_held(wiki, hit, wanted.values(), level) for hit in hits]
    return Answered(question, tuple(wanted.values()), hits, places(ranked, wanted), score(ranked, wanted), elapsed)


def _held(wiki: Wiki, hit: Hit, expected: Collection[Expected], level: Level) -> tuple[str, ...]:
    """The names of the answers that a hit gives."""
    own = [each for each in expected if each.id == hit.id]
    if level == "page" or not own:
        return tuple(each.id for each in own)
    return tuple(each.key for each in own if not each.fragment or _overlaps(wiki, hit, each.fragment))


def _overlaps(wiki: Wiki, hit: Hit, fragment: str) -> bool:
    page = wiki.page_to_recall(hit.path)
    if page is None:
        return False
    try:
        start, end = _span(page.text, fragment)
    except (NotFound, Invalid):
        return False  # not there at the revision that is asked
    return hit.start < end and start < hit.start + len(hit.passage)


def _span(text: str, fragment: str) -> tuple[int, int]:
    """Where in a page a section or a block stands."""
    from wikimem.text.markdown import section_span

    if not fragment.startswith(_BLOCK):
        start, _, end = section_span(text, fragment)
        return start, end
    begin = 0
    for line in text.splitlines(keepends=True):
        if line.rstrip().endswith(" " + fragment):
            return begin, begin + len(line)
        begin += len(line)
    raise NotFound(f"no block '{fragment}'", hint="A block's id stands at the end of its line.")


def _text_of(wiki: Wiki, row: PageRow) -> str:
    page = wiki.page_to_recall(row.path)
    if page is None:
        raise NotFound(f"'{row.path}' is gone", hint="`wikimem log` tells what happened to it.")
    return page.text
