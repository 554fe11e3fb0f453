"""The labelled texts of tests/data/redaction: made when they are read, so that no file holds a whole credential.

A secret stands there as ⟦...⟧, in parts joined at `·`; a part such as `%an36` is drawn, the same way each time. What is
stored is neither the secret nor a prefix with a body after it, so a code host's scanner has nothing to find.
"""

from __future__ import annotations

import hashlib
import random
import re
import string
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parents[2] / "tests" / "data" / "redaction"
PLACES_EACH: Final = 3
"""In how many of the places of places.txt each token of tokens.txt is put."""

_ALPHABETS: Final = {
    "an": string.ascii_letters + string.digits,
    "hex": "0123456789abcdef",
    "HEX": "0123456789ABCDEF",
    "up": string.ascii_uppercase + "234567",
    "low": string.ascii_lowercase + string.digits,
    "b64_": string.ascii_letters + string.digits + "+/",
    "url": string.ascii_letters + string.digits + "-_",
    "dig": string.digits,
    "pw": string.ascii_letters + string.digits + "!@#$%^&*-_+=?.",
    "ulid": "0123456789abcdefghjkmnpqrstvwxyz",
}
_LINES: Final = {"lines": "\n", "esc": "\\n", "ind": "\n    ", "quoted": "\n> ", "added": "\n+"}
_DRAWN: Final = re.compile(rf"%({'|'.join([*_ALPHABETS, *_LINES, 'uuid'])})(\d*)")
_BREAKS: Final = re.compile(r"\\+n|\n[ >+]*")
_LEAST_PART: Final = 8


@dataclass(frozen=True, slots=True)
class Sample:
    """One text with its secrets (none in a harmless one); `held_out` samples are never looked at while tuning."""

    id: str
    kind: str
    text: str
    secrets: tuple[str, ...]

    @property
    def held_out(self) -> bool:
        """The half, by the hash of the identifier."""
        return int(self.id[-1], 16) >= 8

    def survivors(self, masked: str) -> list[str]:
        """What of the secrets is still in `masked`: a whole one, a line of one, or half of one (of 8 characters)."""
        left: list[str] = []
        for secret in self.secrets:
            for line in _BREAKS.split(secret):
                size = max(len(line) // 2, _LEAST_PART)
                pieces = {line[at : at + size] for at in range(max(len(line) - size, 0) + 1)} if line else set()
                # A piece that stands elsewhere in the text, by chance, tells nothing.
                left += [piece for piece in pieces if masked.count(piece) > self._elsewhere(piece)][:1]
        return left

    def lost(self, masked: str) -> bool:
        """Was anything but secrets replaced?"""
        rest = self.text
        for secret in sorted(self.secrets, key=len, reverse=True):
            rest = rest.replace(secret, "\0")
        kept = re.sub(r"\[redacted:[a-z0-9-]+:[0-9a-f]{8}\]", "\0", masked)
        return len(kept.replace("\0", "")) < len(rest.replace("\0", ""))

    def _elsewhere(self, piece: str) -> int:
        rest = self.text
        for secret in sorted(self.secrets, key=len, reverse=True):
            rest = rest.replace(secret, "\0")
        return rest.count(piece)


def secret_samples() -> list[Sample]:
    """Every text with a secret: the tokens in their places, then the rest."""
    return [*_tokens(), *_read("secrets.txt")]


def harmless_samples() -> list[Sample]:
    """Every text without one."""
    return [Sample(sample.id, sample.kind, sample.text, ()) for sample in _read("harmless.txt")]


def _tokens() -> Iterator[Sample]:
    places = _lines("places.txt")
    for line in _lines("tokens.txt"):
        kind, recipe = line.split("\t")
        order = random.Random(line)  # the same samples on every machine
        for place in order.sample(places, PLACES_EACH):
            yield _sample(f"token-{kind}", place.replace("⟦⟧", f"⟦{recipe}⟧"))


def _read(name: str) -> Iterator[Sample]:
    kind = ""
    for line in _lines(name):
        if line.startswith("== "):
            kind = line[3:]
        else:
            yield _sample(kind, line)


def _lines(name: str) -> list[str]:
    lines = (FOLDER / name).read_text(encoding="utf-8").split("\n")
    return [line for line in lines if line and not line.startswith("# ")]


def _sample(kind: str, line: str) -> Sample:
    digest = hashlib.sha256(f"{kind}\n{line}".encode()).hexdigest()
    draw = random.Random(digest)
    secrets: list[str] = []

    def made(found: re.Match[str]) -> str:
        secret = "".join(_part(part, draw) for part in found[1].split("·"))
        secrets.append(secret)
        return secret

    text = re.sub(r"⟦([^⟧]*)⟧", made, line.replace("⏎", "\n").replace("⇥", "\t"))
    return Sample(digest[:12], kind, text, tuple(secrets))


def _part(part: str, draw: random.Random) -> str:
    found = _DRAWN.fullmatch(part)
    if found is None:
        return part
    name, size = found[1], int(found[2] or 0)
    if name == "uuid":
        return str(uuid.UUID(int=draw.getrandbits(128), version=4))
    if name in _LINES:
        return _LINES[name].join(_run("b64_", 64 if at < size - 1 else 44, draw) for at in range(size))
    return _run(name, size or 26, draw)


def _run(name: str, size: int, draw: random.Random) -> str:
    """Random characters; of a password, such as a person chooses: it starts with a letter and holds a digit."""
    run = "".join(draw.choice(_ALPHABETS[name]) for _ in range(size))
    if name == "pw":
        return (
            f"{draw.choice(string.ascii_letters)}{draw.choice(string.digits)}{run[2:-1]}{draw.choice(_ALPHABETS['an'])}"
        )
    return run
