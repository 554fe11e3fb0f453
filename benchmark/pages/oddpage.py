"""What one odd page of the corpus is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class OddPage:
    """A page as bytes. `key` is the property that the edits are about; `group` says in what way the page is odd."""

    name: str
    group: str
    data: bytes
    key: str = "key"


def pages_of(group: str, texts: dict[str, str | bytes], keys: dict[str, str] | None = None) -> tuple[OddPage, ...]:
    """Pages of one group, by name; text is encoded as UTF-8. `keys` names the key of pages where it is not `key`."""
    return tuple(
        OddPage(name, group, text.encode("utf-8") if isinstance(text, str) else text, (keys or {}).get(name, "key"))
        for name, text in texts.items()
    )
