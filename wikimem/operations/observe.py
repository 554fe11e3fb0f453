"""observe: record something that happened in a session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from wikimem.model.sessions import ObserveResult
from wikimem.operations.answering import notes_of
from wikimem.operations.registry import Arg, operation

if TYPE_CHECKING:
    from wikimem.wiki import Wiki


@operation(
    "write",
    examples=(
        "wikimem observe decision 'Use jose, because the edge has no Node crypto' --agent codex --session 7f3a",
        "wikimem observe error 'npm test: 2 failed' --files src/auth.ts --session 7f3a",
    ),
)
def observe(
    wiki: Wiki,
    kind: Annotated[
        str, Arg("What it is: decision, prompt, error, note, another word, or a kind of event.", positional=True)
    ],
    text: Annotated[
        str, Arg("What happened, in a line or a few; - reads standard input.", positional=True, stdin=True)
    ],
    session: Annotated[
        str | None, Arg("The session that it belongs to; without one, the caller's of this day in this folder.")
    ] = None,
    files: Annotated[list[str], Arg("A file that it is about; repeat for several.")] = [],  # noqa: B006
    command: Annotated[str, Arg("The command that ran.")] = "",
) -> ObserveResult:
    """Record something that happened in a session, as the hooks of an agent do; it goes onto the session's page."""
    from wikimem.memory.sessions.byhand import Given, observe

    redacted = dict(wiki.redacted)
    view = wiki.on_behalf(session=session) if session else wiki
    done = observe(view, Given(kind, text, files, command))
    view.notes += done.notes
    return ObserveResult(
        observation=done.observation,
        session=done.session,
        path=done.flushed.path if done.flushed else None,
        commit=done.flushed.commit if done.flushed else None,
        redacted=redacted,
        notes=notes_of(wiki),
    )
