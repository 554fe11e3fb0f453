"""A generated vault: pages of some 150 words with a Zipf-like vocabulary, links, tags and frontmatter, under git."""

from __future__ import annotations

import hashlib
import json
import random
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from wikimem.vault.layout import FOLDER_LIMIT, KIND_FOLDERS
from wikimem.vault.names import folded

WORDS_OF_A_PAGE = 150
VOCABULARY = 30_000
TYPES = ("decision", "fact", "error", "procedure", "lesson")
PROJECTS = (None, "atlas", "borealis", "cirrus")
"""Pages are spread over these evenly, so a vault of 100,000 has 5,000 in each of 20 folders."""
QUERIES = 60
GIT_AS = ("-c", "user.name=b", "-c", "user.email=b@example.org", "-c", "gc.auto=0")
_LIST = "generated.json"


@dataclass(frozen=True, slots=True)
class GeneratedVault:
    """A vault that was made, in `folder`: its pages in the order they were made, and queries that occur in them.

    `runs` is how often each thing is measured on it.
    """

    folder: Path
    paths: tuple[str, ...]
    queries: tuple[str, ...]
    runs: int = 25

    @property
    def root(self) -> Path:
        return self.folder / "vault"

    def spread(self, count: int, phase: int = 0) -> tuple[str, ...]:
        """So many pages from all over the vault; those of another phase are others, where there are enough pages."""
        step = max(1, len(self.paths) // count)
        return tuple(self.paths[(at * step + phase) % len(self.paths)] for at in range(count))

    def texts(self) -> Iterator[tuple[str, str]]:
        """Path and text of every page, as it is now."""
        return ((path, (self.root / path).read_text(encoding="utf-8")) for path in self.paths)


def make_vocabulary(rng: random.Random) -> list[str]:
    """Pronounceable made-up words, no two alike."""
    syllables = [consonant + vowel for consonant in "bdfgklmnprstvz" for vowel in "aeiou"]
    words: dict[str, None] = {}
    while len(words) < VOCABULARY:
        words["".join(rng.choices(syllables, k=rng.randint(2, 4)))] = None
    return list(words)


def page_paths(pages: int) -> Iterator[str]:
    """Where wikimem would put pages of these types and projects, made one after the other."""
    held: Counter[str] = Counter()
    for number in range(pages):
        kind = KIND_FOLDERS[TYPES[number % len(TYPES)]]
        project = PROJECTS[number // len(TYPES) % len(PROJECTS)]
        folder = f"global/{kind}" if project is None else f"projects/{project}/{kind}"
        name = f"Page {number}.md"
        digits = iter(hashlib.blake2b(folded(name).encode("utf-8"), digest_size=8).hexdigest())
        while held[folder] >= FOLDER_LIMIT:
            folder = f"{folder}/{next(digits)}"
        held[folder] += 1
        yield f"{folder}/{name}"


def page_text(rng: random.Random, words: list[str], weights: list[float], number: int) -> str:
    """One page; a tenth of them link to an earlier one."""
    body = rng.choices(words, cum_weights=weights, k=WORDS_OF_A_PAGE)
    lines = [" ".join(body[at : at + 15]).capitalize() + "." for at in range(0, WORDS_OF_A_PAGE, 15)]
    link = f"\nSee [[Page {rng.randrange(number)}]].\n" if number and rng.random() < 0.1 else ""
    kind = TYPES[number % len(TYPES)]
    return f"---\ntype: {kind}\ntags: [{body[0]}, {body[1]}]\n---\n# {' '.join(body[:4])} {number}\n\n" + (
        "\n\n".join([" ".join(lines[:5]), "## Details", " ".join(lines[5:])]) + "\n" + link
    )


def make_vault(folder: Path, pages: int, *, seed: int = 1, progress: Callable[[str], None] = print) -> GeneratedVault:
    """Write the pages into `folder`/vault, commit them all at once with git, and pack what git stored."""
    rng = random.Random(seed)
    words = make_vocabulary(rng)
    weights: list[float] = []
    total = 0.0
    for rank in range(1, len(words) + 1):
        total += 1 / rank
        weights.append(total)
    root = folder / "vault"
    shutil.rmtree(root, ignore_errors=True)
    paths = tuple(page_paths(pages))
    for number, path in enumerate(paths):
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(page_text(rng, words, weights, number), encoding="utf-8")
        if number and number % 25_000 == 0:
            progress(f"{number:,} pages written")
    queries = tuple(" ".join(rng.choices(words[20:5000], k=rng.randint(3, 6))) for _ in range(QUERIES))
    git = ["git", "-C", str(root), *GIT_AS]
    subprocess.run(["git", "init", "-q", "-b", "main", str(root)], check=True)
    subprocess.run([*git, "add", "-A"], check=True)
    subprocess.run([*git, "commit", "-q", "-m", "pages"], check=True)
    progress("committed; packing")
    subprocess.run([*git, "repack", "-a", "-d", "-q"], check=True)
    return GeneratedVault(folder, paths, queries)


def keep_vault(made: GeneratedVault) -> None:
    """Note that this vault is whole, for `open_vault`."""
    listed = {"paths": made.paths, "queries": made.queries}
    (made.folder / _LIST).write_text(json.dumps(listed), encoding="utf-8")


def open_vault(folder: Path, runs: int) -> GeneratedVault:
    """The vault that was made in `folder` before, to measure each thing so often."""
    listed = json.loads((folder / _LIST).read_text(encoding="utf-8"))
    return GeneratedVault(folder, tuple(listed["paths"]), tuple(listed["queries"]), runs)


def is_made(folder: Path) -> bool:
    """Whether a vault was made in `folder` to its end."""
    return (folder / _LIST).is_file()
