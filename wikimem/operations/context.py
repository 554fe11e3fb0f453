"""context: what an agent should know now, packed into a token budget."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from wikimem.model.results import ContextItem, ContextResult
from wikimem.operations.answering import date_text, notes_of, search_scope
from wikimem.operations.registry import Arg, operation
from wikimem.text.dates import parse_date

if TYPE_CHECKING:
    from wikimem.wiki import Wiki


@operation(
    "read",
    idempotent=True,
    examples=(
        "wikimem context 'add refresh tokens to the auth middleware' --budget 1500",
        "wikimem context 'fix the flaky checkout test' --files src/checkout.ts",
    ),
)
def context(
    wiki: Wiki,
    query: Annotated[str, Arg("The task or question at hand.", positional=True)],
    budget: Annotated[
        int | None, Arg("Most tokens to give; 2000 unless the vault's settings say otherwise.", ge=50, le=200_000)
    ] = None,
    project: Annotated[str | None, Arg("The project at hand, instead of the working directory's.")] = None,
    files: Annotated[list[str], Arg("A file at hand; repeat for several. Pages that name it come in.")] = [],  # noqa: B006
    now: Annotated[str | None, Arg("The date that 'today' means in the question.")] = None,
) -> ContextResult:
    """Pack what matters for a task into a token budget: pinned pages first, then what fits the task and files."""
    from wikimem.search.context import pack_context
    from wikimem.search.edges import asserted_edges
    from wikimem.search.filters import make_filter
    from wikimem.search.synonyms import vault_table

    moment = parse_date(now, wiki.clock(), "now").start if now else wiki.clock()
    refreshed = wiki.refresh()
    scope, _ = search_scope(wiki, project)
    where = make_filter(now=moment, project=scope)
    with asserted_edges(wiki, where, keep_missing=bool(refreshed.why)) as edges:
        pack = pack_context(
            wiki.index,
            query,
            where,
            budget=budget or wiki.config.context_budget,
            files=tuple(files),
            now=moment,
            read_page=wiki.page_to_recall,
            mask=wiki.redactor.mask,
            edges=edges,
            synonyms=vault_table(wiki.root),
        )
    wiki.count_tokens(given=pack.tokens, whole=pack.vault_tokens)
    return ContextResult(
        text=pack.text,
        items=tuple(
            ContextItem(
                id=item.id,
                path=item.path,
                title=item.title,
                type=item.type,
                heading=item.heading,
                whole=item.whole,
                tokens=item.tokens,
                confidence=item.confidence,
                trust=item.trust,
                valid_from=date_text(item.valid_from),
                valid_to=date_text(item.valid_to),
                revision=item.revision,
            )
            for item in pack.items
        ),
        tokens=pack.tokens,
        vault_tokens=pack.vault_tokens,
        budget=budget or wiki.config.context_budget,
        project=scope,
        behind=refreshed.behind,
        streams=dict(pack.answered),
        notes=(*((pack.note,) if pack.note else ()), *notes_of(wiki, refreshed)),
    )
