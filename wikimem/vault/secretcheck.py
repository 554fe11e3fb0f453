"""The redaction gate's second look: at whole pages, just before they are written and committed (law 4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from wikimem.errors import Refused
from wikimem.text.redact import Redactor
from wikimem.vault.commit import FileChange
from wikimem.vault.repository import Repository


class SecretCheck(Struct, frozen=True):
    """Looks for secrets in the pages of a write, before and after it, and in what is committed of them."""

    redactor: Redactor
    repository: Repository

    def check(self, changes: Sequence[FileChange]) -> None:
        """Raises Refused where a write would make a secret of two harmless texts, put a placeholder in the place of a
        person's own secret, or commit one that no commit holds yet.
        """
        before = {change.path: self._secrets(change.old) for change in changes}
        # A page that moves, with a secret that a person wrote there, brings nothing new into the vault.
        known = {tag for tags in before.values() for tag in tags}
        for change in changes:
            after = self._secrets(change.new)
            for tag, kind in after.items():
                if tag not in known:
                    raise Refused(
                        f"'{change.path}' would then hold a secret ({kind})",
                        hint="Write that a credential exists and where it is kept, not its value.",
                    )
            new = (change.new or b"").decode("utf-8", "replace")
            for tag, kind in before[change.path].items():
                if tag not in after and f":{tag}]" in new:
                    raise Refused(
                        f"'{change.path}' holds a secret ({kind}) that reading masked; this text would overwrite it",
                        hint="Leave that line out of the edit, or replace an exact passage beside it.",
                    )
            if before[change.path]:
                self._refuse_uncommitted(change.path, before[change.path])

    def _refuse_uncommitted(self, path: str, tags: Mapping[str, str]) -> None:
        """A person's uncommitted change would be committed first, as theirs; a secret in it would go into history."""
        entry = self.repository.head_entries([path])[path]
        committed = self._secrets(self.repository.file_bytes(path, entry.blob)) if entry else {}
        for tag, kind in tags.items():
            if tag not in committed:
                raise Refused(
                    f"'{path}' has an uncommitted secret ({kind}), which a write would commit",
                    hint="Take it out of the page, or commit the page yourself first.",
                )

    def _secrets(self, data: bytes | None) -> dict[str, str]:
        """Tag and kind of each secret in a page's bytes."""
        found = self.redactor.find((data or b"").decode("utf-8", "replace"))
        return {finding.tag: finding.kind for finding in found}
