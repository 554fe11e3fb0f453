"""Search: ask every stream, weigh further evidence, fuse, boost lightly, spread over sessions, check hits on disk."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Final, Literal, Protocol

from msgspec import Struct
from msgspec.structs import replace

from wikimem.errors import Invalid, Unavailable
from wikimem.index.dated import pages_made
from wikimem.index.manifest import PageRows
from wikimem.index.parts import Allowed, Missing
from wikimem.model.hit import PageFilter, PassageRow, Scored, Trace
from wikimem.model.page import Page
from wikimem.search.boosts import LARGEST_BOOST, LARGEST_DROP, page_boosts, phrase_boost
from wikimem.search.candidates import Candidate, ordered, total, with_dates, with_parts, with_preceding
from wikimem.search.compound import subquestions
from wikimem.search.current import PageReader, UnchangedText, parse_every_page
from wikimem.search.diversity import diversify
from wikimem.search.evidence import close_reading, said_pages, share_in_company, whole_pages
from wikimem.search.fuse import DEFAULT_FUSION, Fused, Fusion, leaning_on_words
from wikimem.search.hits import Hit, hit_of
from wikimem.search.origins import Origins
from wikimem.search.query import Query, parse_query
from wikimem.search.reranker import MOST_DOCUMENTS, RerankError
from wikimem.search.streams import STREAM_NAMES, EdgeWalks, GraphStream, Stream, VectorsStream, WordsStream
from wikimem.search.synonyms import pages_with, passages_with, synonym_pages, synonym_passages
from wikimem.text.analysis import is_stop_word
from wikimem.text.synonyms import Table

if TYPE_CHECKING:
    from wikimem.index.index import Index

DEPTH: Final = 200
"""Passages asked of each stream, or twice the limit where that is more. Paging ends with what they give, so that
the order of one page of hits does not depend on how many came before it."""

PAGES_OF_THE_TIME: Final = 50
"""Where a question names a time and no more pages than this are of it, their best passages are looked at in any case:
what was done on a Friday ten days ago may share one common word with the question."""
PASSAGES_OF_THE_TIME: Final = 20

LIFTED: Final = 50
"""So many hits, and whatever a boost could bring among them, are boosted: looking at the titles and dates of all that
was found took a third of a search. What comes after them is in the order of what was found."""

PHRASE_WINDOW: Final = 50
"""How many of the best candidates are read to see whether they hold a quoted phrase."""

PASSAGES_OF_A_PAGE: Final = 3
"""Passages that a page shows: the best and two more."""

VECTOR_FLOOR: Final = 0.4
"""The cosine below which a passage is no answer when no word of the query is in the index and the model knows few.

Every text is some way from every other, so something is always nearest. Measured with the shipped model on texts of
our own: 200 queries of made-up words (random letters, and the classics such as "xyzzy plugh") against 2,700
docstrings of the standard library, and against 30 notes about a shop. The best cosine of a made-up query was below
0.41 for 99 of 100 against the docstrings, and below 0.30 against the notes.
"""

VECTOR_FLOOR_OF_WORDS: Final = 0.2
"""The same when the model has at least half of the query's words whole: then it is a real question, put in other words
than the page's. Paraphrases without a shared word had a median cosine of 0.22 in the same measurement."""

VECTOR_LEAST: Final = 0.1
"""The cosine below which a passage is no answer in any case: it would only fill up the list of a small vault.

Of the passages that answer a question, 1 in 100 lies below 0.10 on LoCoMo and below 0.17 on CoSQA (development halves,
whole turn or function as passage, measured when this was chosen)."""

OK: Final = "ok"

RERANKER: Final = "reranker"
"""Its name in the trace and among what answered."""

_HALF: Final = 0.5
_WORDS: Final = re.compile(r"[^\W_]+")

Group = Literal["page", "passage"]


class SearchOutcome(Struct, frozen=True):
    """Hits, best first. `answered` names each stream that was asked: `ok`, or why it could not answer.

    `stale` counts the pages met on the way that the index was wrong about; `next_offset` is None at the end.
    """

    hits: tuple[Hit, ...]
    answered: Mapping[str, str]
    stale: int = 0
    next_offset: int | None = None


class Reranker(Protocol):
    """Something that reads a question beside passages: `wikimem.search.reranker` has the one that there is."""

    def order(self, query: str, documents: Sequence[str]) -> list[int]:
        """All places of `documents`, best first. Raises RerankError where it cannot say."""
        ...


class _Found(Struct, frozen=True):
    """What was retrieved: passages by stream and by close reading, whole pages, and what each stream answered.

    `pages` are rankings of page numbers: by their words, and by those that the person said. `by_synonym` is the share
    (0 to 1) of a passage's score for words that comes from words that stand for the question's.
    """

    rankings: dict[str, list[Scored]]
    pages: dict[str, list[tuple[int, float]]]
    answered: dict[str, str]
    by_synonym: dict[int, float]


def search(
    index: Index,
    query_text: str,
    where: PageFilter,
    *,
    now: datetime,
    read_page: Callable[[str], Page | None],
    mask: Callable[[str], str],
    unchanged: UnchangedText = parse_every_page,
    limit: int = 10,
    offset: int = 0,
    streams: Sequence[str] = STREAM_NAMES,
    group: Group = "page",
    fusion: Fusion = DEFAULT_FUSION,
    edges: EdgeWalks | None = None,
    reranker: Reranker | None = None,
    synonyms: Table | None = None,
) -> SearchOutcome:
    """Find what answers a query, as it stands on disk now.

    `read_page` gives the current page of a path, None when it is gone, and `unchanged` spares that for those which are
    as they were indexed; `mask` hides secrets in whatever is given out; `edges` is what the graph asserts beyond links;
    `synonyms` is a vault's table, None the common one. Raises Invalid for an empty query, a limit, offset or stream
    that makes no sense, and Unavailable when the only stream that was asked for is missing.
    """
    _check(limit, offset, streams)
    query = parse_query(query_text, now, synonyms)
    allowed = index.allowed(where)
    answered: dict[str, str] = {}

    def ranked(asked: Query) -> list[Candidate]:
        found = _retrieve(index, asked, allowed, streams, max(DEPTH, 2 * limit), edges)
        for name, answer in found.answered.items():
            answered.setdefault(name, answer)
        leaning = found.rankings.get("words") and _is_foreign(index, asked)
        return _candidates(index, asked, found, group, leaning_on_words(fusion) if leaning else fusion, now)

    candidates = ranked(query)
    if parts := [ranked(parse_query(part, now, synonyms)) for part in subquestions(query_text)]:
        candidates = ordered(with_parts(candidates, parts, _page_of if group == "page" else _passage_of))
    reader = PageReader(read_page, mask, where, unchanged)
    candidates = _with_phrases(query, candidates, reader)
    if reranker is not None:
        candidates, answered[RERANKER] = _reranked(reranker, query, candidates, reader)
    origins = Origins(index)
    hits = diversify(
        candidates,
        origins=lambda candidate: origins.of(candidate.row, by_page=group == "passage"),
        verify=lambda candidate: _verified(query, candidate, reader),
        window=limit,
    )
    given = list(islice(_distinct(hits), offset, offset + limit + 1))
    return SearchOutcome(
        hits=tuple(given[:limit]),
        answered=answered,
        stale=len(reader.stale),
        next_offset=offset + limit if len(given) > limit else None,
    )


def _page_of(candidate: Candidate) -> int:
    return candidate.page


def _passage_of(candidate: Candidate) -> int:
    return candidate.passages[0].id


def _check(limit: int, offset: int, streams: Sequence[str]) -> None:
    if limit < 1:
        raise Invalid(f"limit is {limit}, and must be at least 1")
    if offset < 0:
        raise Invalid(f"offset is {offset}, and cannot be negative", hint="Pass the cursor of the answer before.")
    unknown = [name for name in streams if name not in STREAM_NAMES]
    if unknown or not streams:
        named = f"there is no stream '{unknown[0]}'" if unknown else "no stream was named"
        raise Invalid(named, hint=f"Choose from: {', '.join(STREAM_NAMES)}.")


def _retrieve(
    index: Index, query: Query, allowed: Allowed, names: Collection[str], limit: int, edges: EdgeWalks | None
) -> _Found:
    rankings: dict[str, list[Scored]] = {}
    answered: dict[str, str] = {}
    then = _of_the_time(index, query, allowed)

    def ask(stream: Stream) -> None:
        reason = stream.unavailable(query)
        answered[stream.name] = reason or OK
        if reason is None:
            ranking = stream.retrieve(query, allowed, limit)
            if then is not None and stream.name != "graph":
                ranking = _joined(ranking, stream.retrieve(query, then, PASSAGES_OF_THE_TIME))
            rankings[stream.name] = ranking

    pages: dict[str, list[tuple[int, float]]] = {}
    by_synonym: dict[int, float] = {}
    if "words" in names:
        ask(WordsStream(index))
        pages["page"] = whole_pages(index, query, allowed, limit)
        if query.synonyms:
            standing = synonym_passages(index, query, allowed, limit)
            rankings["words"] = passages_with(rankings["words"], standing)
            by_synonym = {e.passage: standing[e.passage] / e.score for e in rankings["words"] if e.passage in standing}
            pages["page"] = pages_with(pages["page"], synonym_pages(index, query, allowed, limit))
        if query.first_person:
            pages["said"] = said_pages(index, query, allowed, limit)
    if "vectors" in names:
        ask(VectorsStream(index, floor=VECTOR_LEAST if rankings.get("words") else _floor(index, query)))
    read: dict[str, list[Scored]] = {}
    if answered.get("vectors") == OK:
        read = close_reading(index, query, rankings)
    if "graph" in names:
        ask(GraphStream(index, found=dict(rankings), edges=edges))
    # A question that no stream can read has no answer; a stream that is not there has not looked.
    if not rankings and isinstance(index.vectors, Missing):
        reasons = "; ".join(f"{name}: {reason}" for name, reason in answered.items())
        raise Unavailable(f"no stream can answer ({reasons})", hint="Run `wikimem status` to see what is missing.")
    return _Found(rankings | read, pages, answered, by_synonym)


def _of_the_time(index: Index, query: Query, allowed: Allowed) -> Allowed | None:
    """The pages of the time that the question names, where it names one and they are few."""
    if query.period is None:
        return None
    made = pages_made(index, query.period.start, query.period.end, PAGES_OF_THE_TIME)
    seen = [number for number in made if number in allowed]
    return Allowed(seen) if seen else None


def _joined(ranking: Sequence[Scored], others: Sequence[Scored]) -> list[Scored]:
    known = {entry.passage for entry in ranking}
    return [*ranking, *(entry for entry in others if entry.passage not in known)]


def _floor(index: Index, query: Query) -> float:
    """How near a passage must be where no word of the query is in the index."""
    return VECTOR_FLOOR if _is_foreign(index, query) else VECTOR_FLOOR_OF_WORDS


def _is_foreign(index: Index, query: Query) -> bool:
    """Whether the model has fewer than half of the query's words whole, and knows the rest by fragments only."""
    words = [word for word in _WORDS.findall(query.text.casefold()) if not is_stop_word(word)]
    return isinstance(index.vectors, Missing) or index.vectors.word_share(words) < _HALF


def _candidates(
    index: Index,
    query: Query,
    found: _Found,
    group: Group,
    fusion: Fusion,
    now: datetime,
) -> list[Candidate]:
    rankings = found.rankings
    passages = index.passages({entry.passage for ranking in rankings.values() for entry in ranking})
    rows = index.pages_by_number({passage.page for passage in passages.values()})
    known = {
        stream: [e for e in ranking if e.passage in passages and passages[e.passage].page in rows]
        for stream, ranking in rankings.items()
    }
    company = share_in_company(index) if found.pages else 1.0
    of_passages = _of_passages(known, found.pages, passages)
    paths = {e.passage: e.via for e in known.get("graph", ())}
    fused: list[tuple[Fused, tuple[PassageRow, ...], str]]
    if group == "passage":
        by_passage = fusion.fuse(of_passages, company=company)
        fused = [(entry, (passages[entry.key],), paths.get(entry.key, "")) for entry in by_passage]
    else:
        best_first = [passages[key] for key in fusion.order(of_passages, company=company)]
        of_pages = {name: [(passages[e.passage].page, e.score) for e in ranking] for name, ranking in known.items()}
        held = {passage.page for passage in passages.values()} & rows.keys()
        of_pages |= {name: [entry for entry in ranking if entry[0] in held] for name, ranking in found.pages.items()}
        fused = _by_page(fusion.fuse(of_pages, company=company), best_first, passages, paths)
    if found.by_synonym:
        fused = [(_told_apart(entry, own, found.by_synonym), own, via) for entry, own, via in fused]
    least = _least_to_lift(query, [entry.score for entry, _, _ in fused])
    candidates = [
        _candidate(query, rows, own, entry, via, now if entry.score >= least else None) for entry, own, via in fused
    ]
    if group == "passage":
        candidates = with_preceding(candidates)
    return ordered(with_dates(query, candidates))


def _of_passages(
    known: Mapping[str, Sequence[Scored]],
    pages: Mapping[str, Sequence[tuple[int, float]]],
    passages: Mapping[int, PassageRow],
) -> dict[str, list[tuple[int, float]]]:
    """The rankings over passages; the score of a whole page is that of each of its passages that were found."""
    rankings = {name: [(entry.passage, entry.score) for entry in ranking] for name, ranking in known.items()}
    of_page: dict[int, list[int]] = {}
    for passage in sorted({key for ranking in rankings.values() for key, _ in ranking}):
        of_page.setdefault(passages[passage].page, []).append(passage)
    of_pages = {
        name: [(passage, score) for page, score in ranking for passage in of_page.get(page, ())]
        for name, ranking in pages.items()
    }
    return rankings | of_pages


def _by_page(
    by_page: Sequence[Fused],
    best_first: Sequence[PassageRow],
    passages: Mapping[int, PassageRow],
    paths: Mapping[int, str],
) -> list[tuple[Fused, tuple[PassageRow, ...], str]]:
    """Give each page its best passages. It was fused with the rank of its best passage in each stream, so that streams
    which prefer different passages of one page still agree on the page."""
    best: dict[int, list[PassageRow]] = {}
    for passage in best_first:
        own = best.setdefault(passage.page, [])
        if len(own) < PASSAGES_OF_A_PAGE:
            own.append(passage)
    via = {passages[key].page: path for key, path in paths.items()}
    return [(entry, tuple(best[entry.key]), via.get(entry.key, "")) for entry in by_page]


def _told_apart(fused: Fused, passages: Sequence[PassageRow], by_synonym: Mapping[int, float]) -> Fused:
    """What words that stand for the question's gave to the best of these passages, beside what its own words gave."""
    share = max((by_synonym.get(passage.id, 0.0) for passage in passages), default=0.0)
    words = fused.parts.get("words", 0.0)
    if not share or not words:
        return fused
    parts = fused.parts | {"words": words * (1 - share), "synonyms": words * share}
    return replace(fused, parts=parts, score=math.fsum(parts.values()))


def _least_to_lift(query: Query, scores: Sequence[float]) -> float:
    """The score from which on a boost could make one of the first LIFTED hits; all, where the date may count most."""
    if query.period is not None or len(scores) <= LIFTED:
        return -math.inf
    return sorted(scores, reverse=True)[LIFTED - 1] * (1 - LARGEST_DROP) / (1 + LARGEST_BOOST)


def _candidate(
    query: Query, rows: PageRows, passages: tuple[PassageRow, ...], fused: Fused, via: str, now: datetime | None
) -> Candidate:
    """What was found as a candidate; without a `now` it is not boosted."""
    page = passages[0].page
    if now is None:
        return Candidate(page, passages, fused.score, Trace(fused.ranks, fused.parts, {}, via), rows)
    shares = page_boosts(query, rows[page], passages[0].heading, now=now)
    trace = Trace(fused.ranks, fused.parts, {name: share * fused.score for name, share in shares.items()}, via)
    return Candidate(page, passages, total(trace), trace, rows)


def _with_phrases(query: Query, candidates: list[Candidate], reader: PageReader) -> list[Candidate]:
    if not query.phrases:
        return candidates
    lifted = []
    for candidate in candidates[:PHRASE_WINDOW]:
        text = "\n".join(e.text for e in reader.excerpts(query, candidate.row, candidate.passages))
        base = math.fsum(candidate.trace.parts.values())
        shares = phrase_boost(query, f"{candidate.row.title}\n{text}")
        boosts = candidate.trace.boosts | {name: share * base for name, share in shares.items()}
        trace = replace(candidate.trace, boosts=boosts)
        lifted.append(replace(candidate, score=total(trace), trace=trace))
    return ordered([*lifted, *candidates[PHRASE_WINDOW:]])


def _reranked(
    reranker: Reranker, query: Query, candidates: list[Candidate], reader: PageReader
) -> tuple[list[Candidate], str]:
    """The best candidates in the reranker's order, and what it answered.

    They share out anew the scores that they have, so that the whole stays in order; the difference is in the trace.
    """
    best: list[Candidate] = []
    texts: list[str] = []
    for each in candidates[:MOST_DOCUMENTS]:
        # One that is not there any more has none, and is left out of the hits later.
        excerpts = reader.excerpts(query, each.row, each.passages)
        if excerpts:
            best.append(each)
            texts.append("\n".join([reader.mask(each.row.title), *(excerpt.text for excerpt in excerpts)]))
    if not best:
        return candidates, OK
    try:
        order = reranker.order(reader.mask(query.text), texts)
    except RerankError as error:
        return candidates, str(error)
    moved: list[Candidate] = []
    for rank, (place, holder) in enumerate(zip(order, best, strict=True), start=1):
        each = best[place]
        ranks = each.trace.ranks | {RERANKER: rank}
        boosts = each.trace.boosts | {RERANKER: holder.score - each.score}
        moved.append(replace(each, score=holder.score, trace=replace(each.trace, ranks=ranks, boosts=boosts)))
    kept = {id(each) for each in best}
    return [*moved, *(each for each in candidates if id(each) not in kept)], OK


def _verified(query: Query, candidate: Candidate, reader: PageReader) -> Hit | None:
    excerpts = reader.excerpts(query, candidate.row, candidate.passages)
    row = reader.current(candidate.row)
    if row is None or not excerpts:
        return None
    return hit_of(row, excerpts, candidate.trace, candidate.score, reader.mask)


def _distinct(hits: Iterator[Hit]) -> Iterator[Hit]:
    """Leave out a passage that was given already: two passages of a page that changed may both become its best."""
    given: set[tuple[str, int]] = set()
    for hit in hits:
        place = (hit.path, hit.start)
        if place not in given:
            given.add(place)
            yield hit
