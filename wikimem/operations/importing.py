"""import: take over a graph that was written elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

from wikimem.model.graph import ImportHost, ImportResult
from wikimem.operations.answering import notes_of
from wikimem.operations.registry import Arg, operation

if TYPE_CHECKING:
    from wikimem.wiki import Wiki

MOST_SKIPPED: Final = 50


@operation(
    "write",
    idempotent=True,
    examples=(
        "wikimem import nt graph.nt --dry-run",
        "wikimem import agentmemory export.json --project shop-api",
        "wikimem import basic-memory ~/basic-memory --observations",
    ),
)
def import_(
    wiki: Wiki,
    host: Annotated[ImportHost, Arg("Where it comes from; nt is any file of N-Triples.", positional=True)],
    path: Annotated[str, Arg("The file; for basic-memory the folder of its notes.", positional=True, raw=True)],
    project: Annotated[str | None, Arg("Project of the files, functions and decisions in it.")] = None,
    observations: Annotated[bool, Arg("With basic-memory: take observations too, as properties.")] = False,
    dry_run: Annotated[bool, Arg("Only say what would be added.")] = False,
) -> ImportResult:
    """Take relations into the graph, in one commit: from N-Triples, agentmemory or basic-memory.

    Each edge is stated by the file that it stands in; importing a file again adds only what is new in it. Relations
    that wikimem does not know become `related_to` with their words, predicates of N-Triples are kept and reported. A
    line that cannot be read is named, and then nothing is written.
    """
    from wikimem.memory.graphimport import import_graph

    refreshed = wiki.refresh()
    done = import_graph(wiki, host, path, project=project or wiki.project, observations=observations, dry_run=dry_run)
    mask = wiki.redactor.mask
    return ImportResult(
        files=done.reading.files,
        edges=done.new + done.known,
        new=done.new,
        known=done.known,
        foreign={mask(name): count for name, count in sorted(done.reading.foreign.items())},
        reworded={mask(name): count for name, count in sorted(done.reading.reworded.items())},
        skipped=tuple(map(mask, done.skipped[:MOST_SKIPPED])),
        more=max(0, len(done.skipped) - MOST_SKIPPED),
        redacted=dict(wiki.redacted),
        commit=done.commit,
        dry_run=dry_run,
        notes=notes_of(wiki, refreshed),
    )
