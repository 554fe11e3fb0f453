"""What extraction gives: an edge between two named things, with the words that say it."""

from __future__ import annotations

from msgspec import Struct


class Named(Struct, frozen=True):
    """A thing by type and name, as it is written or as a known entity is called."""

    type: str
    name: str


class Extracted(Struct, frozen=True):
    """`relation` is a name of the vocabulary; `quote` stands in the source word for word.

    `block` is the id of the observation that says it, where one does. Weight 1.0 is said in so many words, 0.5 follows
    from what is said, 0.1 is a guess.
    """

    subject: Named
    relation: str
    object: Named
    weight: float
    quote: str
    reasoning: str = ""
    alternatives: tuple[str, ...] = ()
    block: str = ""


class Setting(Struct, frozen=True):
    """What a text is about, where that is known: who decides in it, which code base, which error it describes.

    Any of them may be None. `file` is the file whose text it is, or that an observation edited.
    """

    decision: Named | None = None
    error: Named | None = None
    project: Named | None = None
    file: Named | None = None

    @property
    def chooser(self) -> Named | None:
        """What a choice is attributed to: the decision that the page records, else the project."""
        return self.decision or self.project
