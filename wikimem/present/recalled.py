"""Text from the vault as it is given to a model: labelled as recalled data, between fences that it cannot close."""

from __future__ import annotations

from wikimem.search.fence import fenced


def recalled(text: str) -> str:
    """The text with its label and fences. The words stay exact, since an edit has to repeat them exactly."""
    return fenced([text])
