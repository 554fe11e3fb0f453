"""Each operation's result as plain text.

People read it in a terminal and models over MCP, so it is short and carries what the next call needs: ids, paths,
revisions, cursors. Everything else is in the JSON form.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import singledispatch
from typing import Any, Final
from unicodedata import east_asian_width

from wikimem.model.results import (
    CaptureStatus,
    CheckResult,
    ContextResult,
    DiskStatus,
    EditResult,
    ForgetResult,
    HitResult,
    LinksResult,
    ListResult,
    LogResult,
    MergeLeftover,
    MoveResult,
    PageRef,
    ReadResult,
    ReindexResult,
    RememberResult,
    SearchResult,
    StatusResult,
    TraceResult,
)
from wikimem.model.setupresults import DoctorResult, InitResult, TrustResult

SHORT_ID: Final = 8
"""Characters of an id's end that are shown. Six are accepted; eight tell a million pages apart."""
SHORT_COMMIT: Final = 10
ANSWERED: Final = "ok"
"""What a stream says that answered; anything else is the reason why it did not."""
MOST_LINKS: Final = 12
MOST_NAMES: Final = 8


@singledispatch
def text(result: Any) -> str:
    """The result in words, without a newline at the end. Raises TypeError for a type that nobody gave a form."""
    raise TypeError(f"{type(result).__name__} has no text form")


@text.register
def _search(result: SearchResult) -> str:
    lines = [line for number, hit in enumerate(result.hits, 1) for line in (*_hit(number, hit), "")]
    if not result.hits:
        scope = f" in project '{result.project}'" if result.project else ""
        lines = [f"Nothing found for '{result.query}'{scope}.", ""]
    lines += _streams(result.streams)
    if result.behind:
        lines.append(f"{result.behind} pages are not indexed yet.")
    if result.cursor:
        lines.append(f"More: --cursor {result.cursor}")
    return "\n".join(lines).rstrip("\n")


def _hit(number: int, hit: HitResult) -> list[str]:
    facts = [hit.type, hit.project or "", "" if hit.status == "active" else hit.status, _validity(hit), _trust(hit)]
    lead = f"{number}. "
    indent = " " * len(lead)
    lines = [f"{lead}{hit.title}  [{_short(hit.id)}]", f"{indent}{hit.path}  ({', '.join(filter(None, facts))})"]
    if hit.heading:
        lines.append(f"{indent}# {hit.heading}")
    for passage in (hit.passage, *hit.more):
        lines += _indented(passage, indent + "  ")
    if hit.sources:
        lines.append(f"{indent}sources: {_some(hit.sources)}")
    if hit.trace is not None:
        lines.append(f"{indent}why: {trace_in_words(hit.trace, hit.score)}")
    return lines


def _validity(hit: HitResult) -> str:
    if hit.valid_from and hit.valid_to:
        return f"held {hit.valid_from} to {hit.valid_to}"
    if hit.valid_to:
        return f"held until {hit.valid_to}"
    return f"since {hit.valid_from}" if hit.valid_from else ""


def _trust(hit: HitResult) -> str:
    sure = "" if hit.confidence is None else f" {hit.confidence:g}"
    return f"by {hit.trust}{sure}"


def trace_in_words(trace: TraceResult, score: float) -> str:
    """How a hit was found and ranked: `words 1st, vectors 3rd; boosts pinned 1.2; score 0.0421`."""
    ranks = [("words", trace.words), ("vectors", trace.vectors), ("graph", trace.graph)]
    found = ", ".join(f"{name} {_ordinal(rank)}" for name, rank in ranks if rank is not None) or "no stream"
    parts = [found]
    if trace.boosts:
        parts.append("boosts " + ", ".join(f"{name} {value:.3g}" for name, value in trace.boosts.items()))
    if trace.graph_path:
        parts.append(f"path {trace.graph_path}")
    return "; ".join([*parts, f"score {score:.4f}"])


def _ordinal(rank: int) -> str:
    ending = "th" if 10 <= rank % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(rank % 10, "th")
    return f"{rank}{ending}"


def _streams(streams: Mapping[str, str]) -> list[str]:
    return [f"{name} did not answer: {said}" for name, said in streams.items() if said != ANSWERED]


@text.register
def _context(result: ContextResult) -> str:
    if not result.items:
        return "\n".join(["Nothing in memory fits this.", *_streams(result.streams)])
    receipt = f"{len(result.items)} memories, about {result.tokens} of {result.budget} tokens"
    receipt += f"; the whole vault is about {result.vault_tokens}."
    return "\n".join([result.text.rstrip("\n"), "", receipt, *_streams(result.streams)])


@text.register
def _read(result: ReadResult) -> str:
    head = [f"{result.title}  [{result.id}]", f"{result.path}  ({result.type}, revision {result.revision})"]
    if not result.writable:
        head.append("This page is never edited: it cannot be read without loss. See problems.")
    shown = [
        f"{key}: {', '.join(value) if isinstance(value, tuple) else value}"
        for key, value in result.frontmatter.items()
        if value is not None and key not in ("id", "title", "type")
    ]
    tail = []
    if result.links_out:
        out = [
            f"{link.path or link.text}{'' if link.path else ' (missing)'}{_kind(link.kind)}"
            for link in result.links_out
        ]
        tail.append(f"links to: {_some(out, MOST_LINKS)}")
    if result.links_in:
        tail.append(f"linked from: {_some([f'{link.path}{_kind(link.kind)}' for link in result.links_in], MOST_LINKS)}")
    tail += [f"problem: {each}" for each in result.problems]
    parts = ["\n".join([*head, *shown]), result.body.strip("\r\n"), "\n".join(tail)]
    return "\n\n".join(part for part in parts if part)


def _kind(kind: str) -> str:
    return "" if kind in ("wikilink", "markdown", "embed") else f" ({kind})"


@text.register
def _remember(result: RememberResult) -> str:
    lines = [_page_line("Already known" if result.existing else "Remembered", result.page)]
    lines += _commit(result.commit)
    lines += [f"superseded: {path}" for path in result.superseded]
    lines += [f"disputed, for a person to decide: {path}" for path in result.disputed]
    lines += _redacted(result.redacted)
    if result.similar:
        lines.append("similar, unchanged: " + _some([f"{each.title} [{_short(each.id)}]" for each in result.similar]))
    return "\n".join(lines)


@text.register
def _edit(result: EditResult) -> str:
    lines = [_page_line("Edited", result.page), *_commit(result.commit), f"revision: {result.revision}"]
    return "\n".join([*lines, *_redacted(result.redacted)])


@text.register
def _move(result: MoveResult) -> str:
    if result.moved_from == result.page.path:
        return f"{result.page.path} is there already"
    lines = [_page_line("Moved", result.page), f"from: {result.moved_from}", *_commit(result.commit)]
    if result.rewritten:
        lines.append(f"links rewritten: {result.links} on {_some(result.rewritten, MOST_LINKS)}")
    return "\n".join([*lines, *(f"left as it was: {each}" for each in result.left)])


@text.register
def _links(result: LinksResult) -> str:
    if not result.links:
        return f"No links to or from {result.page.path}."
    rows = [
        (
            link["from"],
            "->",
            link["to"] or f"[[{link['text']}]]",
            "missing" if link["broken"] else "" if link["to"] else "file",
            _kind(link["kind"]).strip(" ()"),
        )
        for link in result.links
    ]
    return "\n".join([*_table(rows), *(["There are more: --limit shows them."] if result.more else [])])


@text.register
def _check(result: CheckResult) -> str:
    would = "would mend" if result.dry_run else "mended"
    lines = [f"{would}: {each}" for each in result.fixed]
    lines += [f"left: {each}" for each in result.left] + _commit(result.commit)
    lines += [
        f"{each.path}{f':{each.line}' if each.line else ''}: {each.severity}: {each.message} [{each.rule}]"
        + (" (fixable)" if each.fixable else "")
        for each in result.problems
    ]
    if not result.total:
        return "\n".join([*lines, "No problems."])
    rest = f"; {len(result.problems)} are shown" if len(result.problems) < result.total else ""
    counts = ", ".join(f"{count} {rule}" for rule, count in result.counts.items())
    remedies = {each.rule: each.remedy for each in result.problems if each.remedy}
    what_to_do = [f"  {rule}: {remedy}" for rule, remedy in sorted(remedies.items())]
    return "\n".join([*lines, f"{result.total} problems{rest}: {counts}", *what_to_do])


@text.register
def _forget(result: ForgetResult) -> str:
    done = "Would forget" if result.dry_run else "Forgot"
    lines = [_page_line(done, page) for page in result.pages]
    lines += _commit(result.commit)
    if result.removed is not None:
        gone = result.removed
        verb = "would go" if result.dry_run else "gone"
        lines.append(f"{verb} from the index: {gone.pages} pages, {gone.passages} passages, {gone.links} links")
    if result.unlinked:
        lines.append(f"links replaced by their text: {_some(result.unlinked, MOST_LINKS)}")
    if result.links_in:
        lines.append(f"pages that link there: {_some(result.links_in, MOST_LINKS)}")
    if result.commit:
        lines.append(f"git keeps it: `git revert {result.commit[:SHORT_COMMIT]}` brings it back")
    return "\n".join(lines)


@text.register
def _list(result: ListResult) -> str:
    if not result.pages:
        return "No pages."
    rows = [
        (_short(page.id), page.type, "" if page.status == "active" else page.status, page.title, page.path)
        for page in result.pages
    ]
    lines = [*_table(rows), "", f"{len(rows)} of {result.total} pages"]
    if result.next:
        lines.append(f"More: --cursor {result.next}")
    return "\n".join(lines)


@text.register
def _log(result: LogResult) -> str:
    lines = [] if result.entries else ["No commits."]
    for entry in result.entries:
        who = entry.agent or entry.author
        how = f"{entry.op} by {who}" if entry.op else f"by {who}"
        session = f", session {entry.session}" if entry.session else ""
        lines.append(
            f"{entry.commit[:SHORT_COMMIT]} {entry.time[:16].replace('T', ' ')} {entry.subject}  ({how}{session})"
        )
    if result.made:
        lines += ["", "committed to the code by this session:"]
        lines += [
            f"{each.commit[:SHORT_COMMIT]} {each.time[:16].replace('T', ' ')} {each.subject}  ({each.kind})"
            for each in result.made
        ]
    return "\n".join(lines)


@text.register
def _status(result: StatusResult) -> str:
    pages = ", ".join(f"{count} {name}" for name, count in sorted(result.pages.items(), key=lambda each: -each[1]))
    index, git = result.index, result.git
    commit = f" at {git.commit[:SHORT_COMMIT]}" if git.commit else ", no commit yet"
    changes = "nothing uncommitted" if not git.dirty else f"{git.dirty} files uncommitted"
    remote = "" if git.ahead is None else f", {git.ahead} ahead and {git.behind or 0} behind its upstream"
    rows = [
        ("vault", result.vault),
        ("pages", f"{result.total}" + (f": {pages}" if pages else "")),
        ("project", result.project or "none for the working directory"),
        ("projects", _some(result.projects) if result.projects else "none"),
        (
            "index",
            f"{index.passages} passages, {index.links} links ({index.broken_links} broken), "
            f"{index.behind} pages behind",
        ),
        *(("stream", f"{name}: {said}") for name, said in index.streams.items()),
        ("model", index.model or "none"),
        (
            "git",
            f"{git.branch or 'no branch'}{commit}, {changes}{remote}"
            + (f", in a {git.operation}" if git.operation else ""),
        ),
        ("resident", result.resident),
        ("watching", result.watching),
        ("disk", ", ".join(f"{_size(size)} {what}" for what, size in _disk_parts(result.disk))),
        ("capture", _captured(result.capture)),
        *(("hooks", f"{agent}: {said}") for agent, said in result.capture.hooks.items()),
        ("tokens", f"about {result.tokens.given} given, {result.tokens.saved} saved"),
        *([("llm", result.llm)] if result.llm else []),
        *(("to mend", _leftover(each)) for each in result.to_mend),
        ("problems", str(result.problem_count)),
    ]
    lines = [*_table(rows)]
    lines += [
        f"  {each.path}{f':{each.line}' if each.line else ''}: {each.message} ({each.rule})" for each in result.problems
    ]
    if result.problem_count > len(result.problems):
        lines.append(f"  and {result.problem_count - len(result.problems)} more")
    return "\n".join(lines)


def _captured(capture: CaptureStatus) -> str:
    parts = [
        f"{capture.waiting} event{'' if capture.waiting == 1 else 's'} waiting"
        + (f" since {capture.oldest}" if capture.oldest else "")
    ]
    parts += [f"{capture.set_aside} set aside as damaged"] if capture.set_aside else []
    parts += [f"{capture.not_kept} not kept, see hooks.log"] if capture.not_kept else []
    parts += [] if capture.hooks else ["no agent is connected"]
    return ", ".join(parts)


def _disk_parts(disk: DiskStatus) -> list[tuple[str, int]]:
    return [("pages", disk.pages), ("in git", disk.git), ("index", disk.index)]


def _size(count: int) -> str:
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} bytes"


def _leftover(left: MergeLeftover) -> str:
    merge = f", since the merge {left.commit[:SHORT_COMMIT]} by {left.author}" if left.commit else ""
    return f"{left.path} has {left.what}{merge}"


@text.register
def _doctor(result: DoctorResult) -> str:
    lines = []
    for each in result.checks:
        lines.append(f"{each.state:<4}  {each.name}: {each.message}")
        if each.remedy:
            lines.append(f"      {each.remedy}")
    counts = {state: sum(each.state == state for each in result.checks) for state in ("ok", "warn", "fail")}
    return "\n".join([*lines, ", ".join(f"{count} {state}" for state, count in counts.items() if count)])


@text.register
def _reindex(result: ReindexResult) -> str:
    lines = [f"Indexed {result.indexed} pages and removed {result.removed} in {result.seconds:.1f} s."]
    lines += [f"skipped: {each}" for each in result.skipped]
    return "\n".join([*lines, *(f"differs: {each}" for each in result.differences)])


@text.register
def _init(result: InitResult) -> str:
    would = "would be " if result.dry_run else ""
    kept = "existing files stay as they are" if result.existing else "a new folder"
    lines = [f"{result.vault} {'would be' if result.dry_run else 'is'} a vault ({kept})"]
    if result.git_init:
        lines.append(f"a git repository {would}made there")
    lines += [f"{would}written: {path}" for path in result.made]
    lines += [f"{would}excluded from git: {pattern}" for pattern in result.excluded]
    lines += [f"{would}added: {path}" for path in result.native]
    lines += [f"there already, and stays: {path}" for path in result.kept]
    if result.native:
        lines.append("what is added is in no commit: commit it, or delete it, as you like")
    lines += _commit(result.commit)
    if result.default:
        lines.append("it is your default vault")
    return "\n".join(lines)


@text.register
def _trust_result(result: TrustResult) -> str:
    return f"{result.vault} is trusted now ({result.pages} pages)"


def _page_line(done: str, page: PageRef) -> str:
    return f"{done}: {page.title}  [{_short(page.id)}]\n{page.path}  ({page.type})"


def _commit(commit: str | None) -> list[str]:
    return [f"commit: {commit[:SHORT_COMMIT]}"] if commit else []


def _redacted(redacted: Mapping[str, int]) -> list[str]:
    if not redacted:
        return []
    kinds = ", ".join(f"{count} {kind}" for kind, count in redacted.items())
    return [f"taken out before writing: {kinds}"]


def _short(page_id: str) -> str:
    return page_id[-SHORT_ID:]


def _some(listed: Sequence[str], most: int = MOST_NAMES) -> str:
    names = list(dict.fromkeys(listed))
    rest = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + rest


def _indented(passage: str, indent: str) -> list[str]:
    return [f"{indent}{line}".rstrip() for line in passage.strip("\r\n").splitlines() if line.strip()]


def _table(rows: Iterable[Sequence[str]]) -> list[str]:
    """Columns side by side; those that are empty in every row are left out."""
    table = [[" ".join(cell.splitlines()) for cell in row] for row in rows]
    widths = [max(_width(cell) for cell in column) for column in zip(*table, strict=True)]
    return [
        "  ".join(
            cell + " " * (width - _width(cell)) for cell, width in zip(row, widths, strict=True) if width
        ).rstrip()
        for row in table
    ]


def _width(cell: str) -> int:
    """Columns that a terminal gives a text: two for a wide character."""
    return sum(2 if east_asian_width(char) in "WF" else 1 for char in cell)
