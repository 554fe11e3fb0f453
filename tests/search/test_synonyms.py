"""A search finds what is called otherwise, for less, and says how."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from wikimem.errors import Invalid, Refused
from wikimem.search.synonyms import SYNONYMS_FILE, vault_table
from wikimem.text.synonyms import table_of


def test_a_page_with_the_long_form_is_found_by_its_words_and_the_trace_tells_them_apart(vault: Any) -> None:
    vault.add(Long="Kubernetes runs the workers.", Other="Gardening in spring.")
    (hit, *_) = vault.search("k8s", streams=["words"]).hits
    assert hit.path == "Long.md"
    assert hit.trace.parts["synonyms"] > 0
    assert hit.trace.parts["words"] == pytest.approx(0.0)


def test_the_word_itself_comes_first(vault: Any) -> None:
    vault.add(Short="The k8s of the shop.", Long="The kubernetes of the shop.", Other="The rest.")
    assert vault.paths("k8s of the shop", streams=["words"])[:2] == ["Short", "Long"]
    assert "synonyms" not in vault.search("the shop", streams=["words"]).hits[0].trace.parts


def test_a_filter_holds_for_synonyms_too(vault: Any) -> None:
    vault.add(Seen="---\ntags: [a]\n---\nA database.", Hidden="---\ntags: [b]\n---\nThe database.")
    assert vault.paths("db", streams=["words"], tags=["a"]) == ["Seen"]


def test_a_vault_adds_its_own(vault: Any, tmp_path: Path) -> None:
    file = tmp_path / "v" / SYNONYMS_FILE
    file.parent.mkdir(parents=True)
    assert vault_table(tmp_path / "v") == table_of()
    file.write_text("sku, article\n", encoding="utf-8")
    vault.add(Article="Every article has a number.", Other="Gardening.")
    assert vault.paths("sku", streams=["words"], synonyms=vault_table(tmp_path / "v")) == ["Article"]
    assert vault.paths("sku", streams=["words"]) == []


def test_a_file_that_is_none_is_refused_with_its_place(tmp_path: Path) -> None:
    file = tmp_path / SYNONYMS_FILE
    file.parent.mkdir()
    file.write_bytes(b"sku, article\nsku\n")
    with pytest.raises(Invalid, match="line 2"):
        vault_table(tmp_path)
    file.write_bytes(b"sku, article\n\xff\xfe\n")
    with pytest.raises(Invalid, match="line 2: not UTF-8"):
        vault_table(tmp_path)
    file.unlink()
    file.symlink_to("/etc/hostname")
    with pytest.raises(Refused, match="not a plain file"):
        vault_table(tmp_path)
