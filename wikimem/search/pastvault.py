"""The vault at an earlier commit, open to be searched: checked out and indexed in temporary folders."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wikimem.wiki import Wiki


@contextlib.contextmanager
def vault_at(wiki: Wiki, commit: bytes) -> Iterator[Wiki]:
    """The vault of `wiki` as it was at `commit`, for the same caller; gone from the disk afterwards.

    Its settings are those of that commit, this user's are those of now. Raises what `check_out` raises.
    """
    from wikimem.vault.checkout import check_out
    from wikimem.vault.config import read_vault_config
    from wikimem.vault.folders import VaultFolders, index_stamp, user_key
    from wikimem.wiki import Wiki as OpenWiki

    # In the user's own cache folder: what is in the vault is nobody else's business.
    with tempfile.TemporaryDirectory(prefix="past-", dir=wiki.folders.cache) as place:
        folder = Path(place)
        root = check_out(wiki.repository, commit, folder / "tree")
        folders = VaultFolders(wiki.folders.key, folder / "cache", folder / "state")
        folders.cache.mkdir(mode=0o700)
        folders.state.mkdir(mode=0o700)
        key = user_key()
        past = OpenWiki(
            root,
            folders,
            config=read_vault_config(root),
            user=wiki.user,
            key=key,
            stamp=index_stamp(key, root),
            caller=wiki.caller,
            clock=wiki.clock,
            progress=wiki.progress,
        )
        try:
            yield past
        finally:
            past.close()
