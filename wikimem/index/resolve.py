"""Which page a link means: Obsidian's rules, the same for every link, whenever it is asked."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable
from typing import Final

from wikimem.index.naming import name_key, stem_of, without_suffix
from wikimem.text.lazyregex import lazily

Lookup = Callable[[str, str], Iterable[tuple[int, str]]]
"""(kind of name, key) -> number and path of the pages that have it; see `naming.keys_of`."""

_ATTACHMENT: Final = lazily(
    r"\.(?:png|jpe?g|gif|bmp|svg|webp|avif|tiff?|ico|mp3|wav|m4a|ogg|flac|3gp|mp4|webm|ogv|mov|mkv|pdf|canvas|base|"
    r"zip|gz|csv|json|ya?ml|toml|xml|html?|css|txt|docx?|xlsx?|pptx?|py|js|mjs|ts|tsx|jsx|sh|go|rs|c|h|cpp|java|rb|"
    r"sql|ipynb|excalidraw|epub|drawio|log|lock|ini|cfg|conf|rst)$",
    re.IGNORECASE,
)


def is_attachment(target: str) -> bool:
    """Whether a target that is no page names a file of another kind, or a folder, which the index does not hold."""
    return target.endswith("/") or _ATTACHMENT.search(target) is not None


def link_keys(target: str) -> tuple[str, str]:
    """The keys under which a page can begin or cease to be what `target` means: the whole of it, and its last part."""
    cleaned = without_suffix(target.strip().rstrip("/"))
    return name_key(cleaned), name_key(cleaned.rsplit("/", 1)[-1])


def resolve_link(source: str, target: str, kind: str, lookup: Lookup) -> int | None:
    """The number of the page that `target`, written on the page at `source`, means; None where it means none.

    In order: the page itself (no target), a path relative to the page (`./`, `../`, and every Markdown link), the path
    from the root of the vault, the end of a path or the bare file name, an alias, a title. Capitals matter only to
    choose between pages that differ in nothing else. Of several pages the one beside the linking page wins, then the
    one that is fewest folders deep, then the shortest path, then the alphabet.
    """
    target = target.strip()
    if not target:
        return _pick(lookup("path", name_key(without_suffix(source))), source, source)
    folder = posixpath.dirname(source)
    wanted = without_suffix(target).strip("/")
    tries: list[str] = []
    if target.startswith(("./", "../")) or (kind == "markdown" and not target.startswith("/")):
        tries.append(posixpath.normpath(posixpath.join(folder, without_suffix(target))))
    if not target.startswith(("./", "../")):
        tries.append(posixpath.normpath(wanted) if wanted else "")
    for path in tries:
        if path and not path.startswith("../"):
            found = _pick(lookup("path", name_key(path)), source, path)
            if found is not None:
                return found
    if target.startswith(("/", "./", "../")) or not wanted:
        return None
    ending = "/" + name_key(wanted)
    by_name = [
        (number, path)
        for number, path in lookup("stem", name_key(wanted.rsplit("/", 1)[-1]))
        if ("/" + name_key(without_suffix(path))).endswith(ending)
    ]
    for candidates in (by_name, lookup("alias", name_key(target)), lookup("title", name_key(target))):
        found = _pick(candidates, source, wanted)
        if found is not None:
            return found
    return None


def _pick(candidates: Iterable[tuple[int, str]], source: str, wanted: str) -> int | None:
    folder = posixpath.dirname(source)
    exact = stem_of(wanted)

    def order(candidate: tuple[int, str]) -> tuple[bool, bool, bool, int, int, str]:
        path = candidate[1]
        return (
            without_suffix(path) != without_suffix(wanted),
            stem_of(path) != exact,
            posixpath.dirname(path) != folder,
            path.count("/"),
            len(path),
            path,
        )

    best = min(candidates, key=order, default=None)
    return best[0] if best else None
