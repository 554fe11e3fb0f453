"""extract: find what pages state, and keep it in the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

from wikimem.model.graph import ExtractedEdge, ExtractResult, LlmReceipt, LlmRequest
from wikimem.operations.answering import notes_of
from wikimem.operations.registry import Arg, operation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wikimem.llm.client import LlmClient
    from wikimem.memory.extraction import FromPage
    from wikimem.memory.llmextraction import LlmRead
    from wikimem.model.hit import PageRow
    from wikimem.wiki import Wiki

EVERYTHING: Final = "all"
WAIT_S: Final = 10.0


@operation(
    "write",
    idempotent=True,
    examples=(
        "wikimem extract 'Use jose for JWT verification' --dry-run",
        "wikimem extract all",
        "wikimem extract all --pages",
        "wikimem extract all --llm --dry-run",
    ),
)
def extract(
    wiki: Wiki,
    page: Annotated[str, Arg("A page, or `all` for every page.", positional=True, raw=True)],
    pages: Annotated[bool, Arg("Also write what is known of entities on their pages.")] = False,
    llm: Annotated[bool, Arg("Also ask the language model that your configuration names.")] = False,
    again: Annotated[bool, Arg("With llm: ask about what has not changed since it was asked about, too.")] = False,
    dry_run: Annotated[bool, Arg("Only say what would be added; with llm, what would be sent.")] = False,
    limit: Annotated[int, Arg("Most edges to list; all are kept.", ge=1, le=100_000)] = 200,
) -> ExtractResult:
    """Find entities and relations in a page by rules, and keep them as assertions of that page, in one commit.

    Each cites the page and its words, and counts while the page says them. Nothing leaves this machine, unless llm is
    given: then the text of the pages, with secrets masked, goes to the model that your own configuration names, and
    what it finds is kept where the page says so, at half the weight. With pages, entities that have a page or three
    independent sources get a section that lists what is known of them.
    """
    from wikimem.memory.entitypages import write_entity_pages
    from wikimem.memory.extraction import extract_pages
    from wikimem.memory.llmextraction import client_of, read_pages, remember

    client = client_of(wiki) if llm else None
    refreshed = wiki.refresh(wait_s=WAIT_S)
    chosen = wiki.index.list_pages(None) if page == EVERYTHING else [wiki.find(page)]
    rows = sorted(chosen, key=lambda row: row.path)
    read = read_pages(wiki, rows, client, again=again) if client and not dry_run else None
    done = extract_pages(wiki, rows, dry_run=dry_run, more=read.stated if read else None)
    if read:
        remember(wiki, read)
    written = write_entity_pages(wiki, dry_run=dry_run) if pages else None
    edges = [edge for each in done.pages for edge in _edges(wiki, each)]
    commits = (done.commit, written.commit if written else None)
    receipt = _receipt(wiki, rows, client, read, again=again) if client else None
    return ExtractResult(
        edges=tuple(edges[:limit]),
        pages=sum(bool(each.stated) for each in done.pages),
        new=sum(len(each.fresh) for each in done.pages),
        more=max(0, len(edges) - limit),
        written=written.pages if written else (),
        theirs=written.theirs if written else (),
        commits=tuple(commit for commit in commits if commit),
        dry_run=dry_run,
        llm=receipt,
        notes=notes_of(wiki, refreshed),
    )


def _receipt(
    wiki: Wiki, rows: Sequence[PageRow], client: LlmClient, read: LlmRead | None, *, again: bool
) -> LlmReceipt:
    """What was asked and what it cost; where nothing was, what would be."""
    from wikimem.memory.llmextraction import LlmRead, planned

    plan = None if read else planned(wiki, rows, client, again=again)
    told = read or LlmRead(known=plan.known if plan else 0)
    mask, today, spent = wiki.redactor.mask, client.spent_today(), client.spent
    return LlmReceipt(
        model=client.settings.model,
        address=client.address,
        parts=told.parts,
        known=told.known,
        calls=spent.calls,
        asked=spent.asked,
        answered=spent.answered,
        estimated=spent.estimated,
        calls_today=today.calls,
        tokens_today=today.tokens,
        repaired=told.repaired,
        unread=told.unread,
        dropped=dict(told.dropped.most_common()),
        stopped=told.stopped,
        requests=tuple(
            LlmRequest(
                page=mask(part.row.path),
                part=part.number,
                parts=part.of,
                tokens=client.tokens_of(prompt),
                text=f"{prompt.system}\n{prompt.user}" if len(rows) == 1 else "",
            )
            for part, prompt in (plan.prompts if plan else ())
        ),
    )


def _edges(wiki: Wiki, said: FromPage) -> list[ExtractedEdge]:
    from wikimem.memory.extraction import EXTRACTION

    mask = wiki.redactor.mask
    fresh = {each.assertion.id for each in said.fresh}
    return [
        ExtractedEdge(
            page=mask(said.row.path),
            subject=mask(each.ends[0].address),
            predicate=each.found.relation,
            object=mask(each.ends[1].address),
            weight=each.found.weight,
            quote=mask(" ".join(each.found.quote.split())),
            reasoning=mask(each.found.reasoning),
            alternatives=tuple(map(mask, each.found.alternatives)),
            new=each.assertion.id in fresh,
            by="rules" if EXTRACTION in each.assertion.by else "llm",
        )
        for each in said.stated
    ]
