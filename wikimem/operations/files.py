"""files: what is known of some files of the code base."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from wikimem.errors import Invalid
from wikimem.model.sessions import CoEdited, FileFix, FileKnowledge, FileMention, FileSession, FilesResult
from wikimem.operations.answering import date_text, notes_of, page_ref, search_scope, session_commit
from wikimem.operations.registry import Arg, operation

if TYPE_CHECKING:
    from wikimem.memory.sessions.aboutfiles import About
    from wikimem.memory.sessions.listing import Session
    from wikimem.text.sessionpage import Observation
    from wikimem.wiki import Wiki


@operation(
    "read",
    idempotent=True,
    examples=(
        "wikimem files src/middleware/auth.ts",
        "wikimem files src/orders/number.ts src/orders/index.ts --limit 3",
    ),
)
def files(
    wiki: Wiki,
    paths: Annotated[list[str], Arg("A file, by its path or the end of it; several may be given.", positional=True)],
    project: Annotated[str | None, Arg("The project of these files, instead of the working directory's.")] = None,
    limit: Annotated[int, Arg("Most sessions, and most co-edited files, of each file.", ge=1, le=100)] = 10,
) -> FilesResult:
    """Show what is known of some files: decisions, errors and fixes, sessions and commits, what changed with them."""
    from wikimem.memory.sessions.aboutfiles import about_file

    if not paths or not all(path.strip() for path in paths):
        raise Invalid("files: no file was named", hint="Name one, such as src/auth.ts.")
    refreshed = wiki.refresh()
    scope, _ = search_scope(wiki, project)
    found = [about_file(wiki, path, scope) for path in paths]
    return FilesResult(
        files=tuple(_knowledge(wiki, about, limit) for about in found),
        project=scope,
        notes=notes_of(wiki, refreshed),
    )


def _knowledge(wiki: Wiki, about: About, limit: int) -> FileKnowledge:
    from wikimem.text.oneline import as_written

    mask = wiki.redactor.mask
    return FileKnowledge(
        file=mask(about.file),
        decisions=tuple(page_ref(wiki, row) for row in about.decisions),
        errors=tuple(page_ref(wiki, row) for row in about.errors),
        fixes=tuple(
            FileFix(mask(as_written(fix.text)), tuple(session.address(block) for block in fix.ids))
            for session, fix in about.fixes[:limit]
        ),
        sessions=tuple(_session(wiki, session, seen) for session, seen in about.sessions[:limit]),
        coedited=tuple(CoEdited(path, count) for path, count in about.coedited.most_common(limit)),
        pages=tuple(page_ref(wiki, row) for row in about.pages),
    )


def _session(wiki: Wiki, session: Session, seen: list[Observation]) -> FileSession:
    from wikimem.memory.sessions.commits import LABELS, commit_of
    from wikimem.text.oneline import as_written

    mask = wiki.redactor.mask
    page = session.parts[0].page
    commits = [(commit, each) for each in seen if (commit := commit_of(each)) is not None]
    stands = {commit.hash for commit, _ in session.commits}
    mentions = tuple(
        FileMention(
            each.when.isoformat(timespec="seconds"),
            mask(f"{each.label}: {as_written(each.body)}"),
            session.address(each.id),
        )
        for each in seen
        if each.label not in LABELS
    )
    return FileSession(
        session.name,
        mask(page.title),
        page.meta.agent,
        date_text(session.started),
        session.parts[-1].page.path,
        mentions,
        tuple(session_commit(wiki, session, each, line.id) for each, line in commits if each.hash in stands),
    )
