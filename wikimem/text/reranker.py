"""Reading the `reranker` table of this user's configuration."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from wikimem.model.reranker import RerankerAddress, RerankerFolder
from wikimem.text.webaddress import check_address, may_have_key, read_seconds

EXAMPLE: Final = '[reranker]\nurl = "http://127.0.0.1:8080/v1/rerank"\nmodel = "bge-reranker-v2-m3"\ntimeout = 2'
LONGEST_WAIT_S: Final = 60


def read_reranker(value: Any) -> RerankerAddress | RerankerFolder:
    """The table as an address, or with `path` as a folder of this machine.

    Raises ValueError, in words, for what makes no sense or would send a key in the open.
    """
    if isinstance(value, dict) and "path" in value:
        return _read_folder(value)
    if not isinstance(value, dict) or set(value) - {"url", "model", "key_file", "timeout"}:
        raise ValueError("a table with url, and as needed model, key_file and timeout, or with path is expected")
    url, model, wait = value.get("url"), value.get("model", ""), value.get("timeout", 2)
    key_file = value.get("key_file")
    if not isinstance(url, str) or not isinstance(model, str) or not isinstance(key_file, str | None):
        raise ValueError("url, model and key_file are texts, and url is needed")
    timeout_s = read_seconds("timeout", wait, LONGEST_WAIT_S)
    check_address(url)
    key = Path(key_file).expanduser() if key_file else None
    if key is not None and not key.is_absolute():
        raise ValueError("key_file: an absolute path, or one that begins with ~, is expected")
    if key is not None and not may_have_key(url):
        raise ValueError("key_file: a key is sent over https only, or to this machine")
    return RerankerAddress(url, model, key, timeout_s)


def _read_folder(value: dict[str, Any]) -> RerankerFolder:
    if set(value) != {"path"} or not isinstance(value["path"], str):
        raise ValueError("path: a folder, and nothing else beside it, is expected")
    folder = Path(value["path"]).expanduser()
    if not folder.is_absolute():
        raise ValueError("path: an absolute path, or one that begins with ~, is expected")
    return RerankerFolder(folder)
