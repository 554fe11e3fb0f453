"""The results of `graph`, `link`, `timeline` and `sparql` as plain text."""

from __future__ import annotations

from collections.abc import Sequence

from wikimem.model.graph import (
    ExportResult,
    ExtractResult,
    GraphEdge,
    GraphEntity,
    GraphResult,
    ImportResult,
    LinkResult,
    LlmReceipt,
    SparqlResult,
    TimelineResult,
)
from wikimem.present.text import SHORT_COMMIT, text


@text.register
def _graph(result: GraphResult) -> str:
    if result.picture is not None:
        return result.picture
    lines = _entity(result.entity)
    on = f" on {result.as_of}" if result.as_of else ""
    if not result.edges:
        lines += ["", f"No edge is known that holds{on}."]
    for edge in result.edges:
        lines += ["", *_edge(edge)]
    # Paths are those of the entities that are not the start, in the same order; names may hold what an arrow does.
    others = (entity for entity in result.entities if entity.distance)
    indirect = [path for entity, path in zip(others, result.paths, strict=True) if entity.distance > 1]
    if indirect:
        lines += ["", "Further away:", *(f"  {path}" for path in indirect)]
    lines += _listed("Began:", result.began) + _listed("Ended:", result.ended)
    if result.hubs:
        lines += ["", f"Not walked through, because too much is joined to it: {', '.join(result.hubs)}"]
    if result.more:
        lines.append(f"{result.more} more edges: --limit shows them.")
    return "\n".join([*lines, *(f"problem: {each}" for each in result.problems)])


def _entity(entity: GraphEntity) -> list[str]:
    lines = [f"[{entity.type}] {entity.name}" + (f"  (project {entity.project})" if entity.project else "")]
    lines += [f"{name} = {value}" for name, value in entity.properties.items()]
    if entity.aliases:
        lines.append(f"also called: {', '.join(entity.aliases)}")
    if entity.page:
        lines.append(f"page: {entity.page}")
    return lines


def _edge(edge: GraphEdge) -> list[str]:
    lines = [edge.words + (" (perhaps: its dates are not exact enough to say)" if edge.holds == "maybe" else "")]
    if edge.alternatives:
        lines.append(f"  considered: {'; '.join(edge.alternatives)}")
    evidence = f"{edge.evidence} sources" if edge.evidence != 1 else "1 source"
    lines.append(f"  weight {edge.weight:g}, {evidence}: {', '.join(edge.sources)}")
    return lines


def _listed(title: str, rows: Sequence[str]) -> list[str]:
    return ["", title, *(f"  {row}" for row in rows)] if rows else []


@text.register
def _link(result: LinkResult) -> str:
    lines = [f"Known already: {result.edge.words}"] if result.existing and result.edge else []
    if not lines:
        lines = [f"Stated: {result.edge.words}"] if result.edge else ["Taken back: nobody states it any more."]
    if result.edge:
        lines += _edge(result.edge)[1:]
    if result.commit:
        lines.append(f"commit: {result.commit[:SHORT_COMMIT]}")
    if result.redacted:
        kinds = ", ".join(f"{count} {kind}" for kind, count in result.redacted.items())
        lines.append(f"taken out before writing: {kinds}")
    return "\n".join(lines)


@text.register
def _timeline(result: TimelineResult) -> str:
    if not result.entries and not result.undated:
        return f"Nothing is dated for {result.about}."
    lines = [result.about]
    for entry in result.entries:
        lines.append(f"{entry.time}  {entry.kind}  {entry.title}")
        lines += [f"  {entry.source}" + (f" ({entry.text})" if entry.text else "")]
    return "\n".join([*lines, *_listed("Without a date:", result.undated)])


@text.register
def _sparql(result: SparqlResult) -> str:
    """Tab-separated, as SPARQL's own text format: a header, then a row to a line."""
    rows = ["\t".join(f"?{name}" for name in result.vars)]
    rows += ["\t".join(" ".join((cell or "").split()) for cell in row) for row in result.rows]
    return "\n".join([*rows, *(["There are more rows: --limit shows them."] if result.more else [])])


@text.register
def _export(result: ExportResult) -> str:
    if result.text is not None:
        return result.text
    return f"{result.count} triples written to {result.path}"


@text.register
def _import(result: ImportResult) -> str:
    verb = "would be" if result.dry_run else "were"
    files = f"{result.files} file{'s' if result.files != 1 else ''}"
    lines = [f"{result.edges} edges in {files}: {result.new} {verb} added, {result.known} were known."]
    lines += _listed("Kept, though not in the vocabulary:", [f"{n} x <{iri}>" for iri, n in result.foreign.items()])
    lines += _listed("Became related_to:", [f"{n} x {name}" for name, n in result.reworded.items()])
    lines += _listed("Not taken:", result.skipped)
    lines += [f"  and {result.more} more"] if result.more else []
    if result.redacted:
        kinds = ", ".join(f"{count} {kind}" for kind, count in result.redacted.items())
        lines.append(f"taken out before writing: {kinds}")
    return "\n".join([*lines, *([f"commit: {result.commit[:SHORT_COMMIT]}"] if result.commit else [])])


def _llm(told: LlmReceipt, *, dry_run: bool) -> list[str]:
    if dry_run:
        tokens = sum(each.tokens for each in told.requests)
        lines = [f"Would be sent to {told.model} at {told.address}: {len(told.requests)} requests, {tokens} tokens."]
        lines += [
            f"  {each.page}" + (f", part {each.part} of {each.parts}" if each.parts > 1 else "") + f": {each.tokens}"
            for each in told.requests
        ]
        lines += [line for each in told.requests if each.text for line in ("", *each.text.splitlines())]
    else:
        about = "about " if told.estimated else ""
        lines = [
            f"{told.model} at {told.address}: {told.parts} parts of pages in {told.calls} requests, {about}"
            f"{told.asked} tokens asked and {told.answered} answered."
        ]
    lines.append(f"Today: {told.calls_today} requests, {told.tokens_today} tokens.")
    lines += [f"{told.known} parts have not changed since they were asked about: --again asks."] if told.known else []
    lines += [f"{told.repaired} answers were right only at the second time."] if told.repaired else []
    lines += [f"{told.unread} answers could not be read."] if told.unread else []
    lines += _listed("Dropped:", [f"{count} x {reason}" for reason, count in told.dropped.items()])
    return [*lines, *([f"Stopped: {told.stopped}"] if told.stopped else [])]


@text.register
def _extract(result: ExtractResult) -> str:
    lines: list[str] = []
    page = ""
    for edge in result.edges:
        if edge.page != page:
            page = edge.page
            lines.append(page)
        mark = "+" if edge.new else " "
        found = f"{edge.weight:g}, language model" if edge.by == "llm" else f"{edge.weight:g}"
        lines.append(f"{mark} {edge.subject} --{edge.predicate}--> {edge.object} ({found})")
        lines.append(f"    \u201c{edge.quote}\u201d")
        lines += [f"    because {edge.reasoning}"] if edge.reasoning else []
        lines += [f"    instead of {', '.join(edge.alternatives)}"] if edge.alternatives else []
    verb = "would be" if result.dry_run else "were"
    lines.append(f"{result.new} new statements {verb} added, from {result.pages} pages.")
    lines += [f"{result.more} more are not shown: --limit shows them."] if result.more else []
    lines += _llm(result.llm, dry_run=result.dry_run) if result.llm else []
    lines += _listed("Pages of entities " + ("that would change:" if result.dry_run else "written:"), result.written)
    lines += _listed("Left as somebody edited them:", result.theirs)
    lines += [f"commit: {commit[:SHORT_COMMIT]}" for commit in result.commits]
    return "\n".join(lines)
