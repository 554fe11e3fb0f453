"""The vault at an earlier commit, open to be searched: checked out and indexed in temporary folders."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from wikimem.errors import WikimemError
from wikimem.search.synonyms import SYNONYMS_FILE, vault_table

if TYPE_CHECKING:
    from wikimem.vault.config import VaultConfig
    from wikimem.wiki import Wiki


@contextlib.contextmanager
def vault_at(wiki: Wiki, commit: bytes) -> Iterator[Wiki]:
    """The vault of `wiki` as it was at `commit`, for the same caller; gone from the disk afterwards.

    Its settings are those of that commit, and where they cannot be read those of now: nobody can mend what was
    committed. Rules of redaction are those of both, this user's settings those of now. Raises what `check_out` raises.
    """
    from wikimem.vault.checkout import check_out
    from wikimem.vault.folders import VaultFolders, index_stamp, user_key
    from wikimem.vault.pastfolder import past_folder
    from wikimem.wiki import Wiki as OpenWiki

    # In the user's own cache folder: what is in the vault is nobody else's business.
    with past_folder(wiki.folders.cache) as folder:
        root = check_out(wiki.repository, commit, folder / "tree")
        folders = VaultFolders(wiki.folders.key, folder / "cache", folder / "state")
        folders.cache.mkdir(mode=0o700)
        folders.state.mkdir(mode=0o700)
        key = user_key()
        notes: list[str] = []
        _mend_synonyms(wiki.root, root, notes)
        past = OpenWiki(
            root,
            folders,
            config=_settings(wiki.config, root, notes),
            user=wiki.user,
            key=key,
            stamp=index_stamp(key, root),
            caller=wiki.caller,
            clock=wiki.clock,
            progress=wiki.progress,
        )
        past.notes.extend(notes)
        try:
            yield past
        finally:
            past.close()


def _settings(now: VaultConfig, root: Path, notes: list[str]) -> VaultConfig:
    from wikimem.vault.config import read_vault_config

    try:
        then = read_vault_config(root)
    except WikimemError:
        notes.append("the vault's settings of then cannot be read: those of now are used")
        return now
    return replace(then, redact={**then.redact, **now.redact})


def _mend_synonyms(now: Path, root: Path, notes: list[str]) -> None:
    """Put the vault's synonyms of now in the place of those of then, where these cannot be read."""
    try:
        vault_table(root)
    except WikimemError:
        file = root / SYNONYMS_FILE
        for place in (file.parent, file):
            if place.is_symlink() or place.is_file():
                place.unlink()
            elif place == file and place.is_dir():
                shutil.rmtree(place)
        file.parent.mkdir(exist_ok=True)
        with contextlib.suppress(OSError):
            file.write_bytes((now / SYNONYMS_FILE).read_bytes())
        notes.append("the vault's synonyms of then cannot be read: those of now are used")
