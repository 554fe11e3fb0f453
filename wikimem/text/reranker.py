"""Reading the `reranker` table of this user's configuration."""

from __future__ import annotations

from typing import Any, Final

from wikimem.model.reranker import RerankerAddress, RerankerFolder
from wikimem.text.homepath import expand_home
from wikimem.text.webaddress import check_address, may_have_key, read_seconds

EXAMPLE: Final = '[reranker]\nurl = "http://127.0.0.1:8080/v1/rerank"\nmodel = "bge-reranker-v2-m3"\ntimeout = 2'
FOLDER_EXAMPLE: Final = '[reranker]\npath = "~/models/reranker"'
LONGEST_WAIT_S: Final = 60


class BadFolderError(ValueError):
    """What is wrong with a table that has `path`; FOLDER_EXAMPLE shows a right one."""


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
    try:
        key = expand_home(key_file) if key_file else None
    except ValueError as error:
        raise ValueError(f"key_file: {error}") from error
    if key is not None and not key.is_absolute():
        raise ValueError("key_file: an absolute path, or one that begins with ~, is expected")
    if key is not None and not may_have_key(url):
        raise ValueError("key_file: a key is sent over https only, or to this machine")
    return RerankerAddress(url, model, key, timeout_s)


def _read_folder(value: dict[str, Any]) -> RerankerFolder:
    if set(value) != {"path"} or not isinstance(value["path"], str):
        raise BadFolderError("path: a folder, and nothing else beside it, is expected")
    try:
        folder = expand_home(value["path"])
    except ValueError as error:
        raise BadFolderError(f"path: {error}") from error
    if "\0" in value["path"]:
        raise BadFolderError("path: a path is expected")
    if not folder.is_absolute():
        raise BadFolderError("path: an absolute path, or one that begins with ~, is expected")
    return RerankerFolder(folder)
