"""Paths with `~`: a home folder that is there, and one that is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from wikimem.errors import Invalid
from wikimem.text.homepath import expand_home, named_path


def test_a_home_folder_is_put_in_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    assert expand_home("~/notes") == Path("/home/ada/notes")
    assert expand_home("notes/~x") == Path("notes/~x")
    assert expand_home("./~x") == Path("~x")


@pytest.mark.parametrize("written", ["~nobody-here/x", "~nobody-here", "~a\0b/x", "~\ud800/x"])
def test_a_home_folder_that_is_none_is_named(written: str) -> None:
    with pytest.raises(ValueError, match="there is no home folder '~"):
        expand_home(written)
    with pytest.raises(Invalid, match="--vault: there is no home folder '~") as caught:
        named_path(written, "--vault")
    assert "./~name" in caught.value.hint
