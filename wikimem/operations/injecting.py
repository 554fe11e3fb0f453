"""What hooks give an agent unasked: asked of an open vault, by the resident process or by the hook itself.

Not an operation: no person and no agent calls it. `asked` and the answer are JSON objects, see `injected`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from wikimem.errors import Invalid
from wikimem.model.caller import Caller, Progress

if TYPE_CHECKING:
    from wikimem.wiki import Wiki

NO_PROJECT: Final = ""
"""The scope of a session outside of any code base: pages that belong to no project, and not those of every one."""

FORGOTTEN: Final = "compact"
"""The source of a session that goes on after its agent forgot what it had read: its own page is news to it then."""


def open_to_inject(root: str, cwd: str, progress: Progress | None = None) -> Wiki:
    """The vault at `root` for a session in `cwd`. Raises as `open_wiki` does."""
    from wikimem.wiki import open_wiki

    place = Path(cwd or "/")
    return open_wiki(root, cwd=place, caller=Caller(cwd=place), progress=progress)


def injected(wiki: Wiki, asked: Mapping[str, Any], *, as_indexed: bool = False) -> dict[str, Any]:
    """The answer to a hook: `text` for the model (empty: nothing to say), `given`, and `tokens` and `vault_tokens`.

    `asked` holds `kind` (session_start or prompt), `source`, `prompt` and `session` of the event, and `given`: the keys
    of what the session was given before, as earlier answers name them. Where the vault has no index yet nothing is
    said: to make one takes longer than an agent waits. With `as_indexed` nobody looks for what has changed since the
    index was written: a page that did is read anew, one that is gone is left out, and one that is new is not found.
    Raises Invalid for what no hook asks.
    """
    from wikimem.model.hit import PageFilter
    from wikimem.search.injection import Injection, Occasion, pack_injection

    kind, source, prompt, session = (_text(asked, name) for name in ("kind", "source", "prompt", "session"))
    budget = budget_for(wiki, kind)
    found = Injection()
    if budget and not wiki.index.is_empty():
        if not as_indexed:
            wiki.refresh()
        now = wiki.clock()
        found = pack_injection(
            wiki.index,
            Occasion(
                prompt if kind == "prompt" else "",
                budget,
                frozenset(_texts(asked.get("given", []))),
                "" if source == FORGOTTEN else session,
            ),
            PageFilter(as_of=now, project=wiki.project or NO_PROJECT, statuses=("active",)),
            now=now,
            read_page=wiki.page_to_recall,
            mask=wiki.redactor.mask,
        )
    if found.text:
        wiki.count_tokens(given=found.tokens, whole=found.vault_tokens)
    return {
        "text": wiki.redactor.mask(found.text),
        "given": list(found.given),
        "tokens": found.tokens,
        "vault_tokens": found.vault_tokens,
    }


def budget_for(wiki: Wiki, kind: str) -> int:
    """Tokens for that kind of event: the user's setting, or the vault's where that is less; 0 for nothing."""
    if kind == "session_start":
        return min(wiki.user.inject_at_start, wiki.config.inject_at_start)
    return min(wiki.user.inject_at_prompt, wiki.config.inject_at_prompt) if kind == "prompt" else 0


def _text(asked: Mapping[str, Any], name: str) -> str:
    value = asked.get(name, "")
    if not isinstance(value, str):
        raise Invalid(f"{name}: a text is expected")
    return value


def _texts(value: object) -> Sequence[str]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise Invalid("given: a list of texts is expected")
    return value
