"""A generated vault: pages of some 150 words with a Zipf-like vocabulary, links, tags and frontmatter, under git."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

WORDS_OF_A_PAGE = 150
PAGES_OF_A_FOLDER = 250
VOCABULARY = 30_000
TYPES = ("decision", "fact", "error", "procedure", "lesson")


def make_vocabulary(rng: random.Random) -> list[str]:
    """Pronounceable made-up words, no two alike."""
    syllables = [consonant + vowel for consonant in "bdfgklmnprstvz" for vowel in "aeiou"]
    words: dict[str, None] = {}
    while len(words) < VOCABULARY:
        words["".join(rng.choices(syllables, k=rng.randint(2, 4)))] = None
    return list(words)


def page_path(number: int) -> str:
    return f"pages/{number // PAGES_OF_A_FOLDER:04}/Page {number}.md"


def page_text(rng: random.Random, words: list[str], weights: list[float], number: int) -> str:
    """One page; a tenth of them link to an earlier one."""
    body = rng.choices(words, cum_weights=weights, k=WORDS_OF_A_PAGE)
    lines = [" ".join(body[at : at + 15]).capitalize() + "." for at in range(0, WORDS_OF_A_PAGE, 15)]
    link = f"\nSee [[Page {rng.randrange(number)}]].\n" if number and rng.random() < 0.1 else ""
    kind = TYPES[number % len(TYPES)]
    return f"---\ntype: {kind}\ntags: [{body[0]}, {body[1]}]\n---\n# {' '.join(body[:4])} {number}\n\n" + (
        "\n\n".join([" ".join(lines[:5]), "## Details", " ".join(lines[5:])]) + "\n" + link
    )


def make_vault(root: Path, pages: int, seed: int = 1) -> list[str]:
    """Write the pages and commit them all at once with git. Returns queries of 3 to 6 words that occur in them."""
    rng = random.Random(seed)
    words = make_vocabulary(rng)
    weights: list[float] = []
    total = 0.0
    for rank in range(1, len(words) + 1):
        total += 1 / rank
        weights.append(total)
    for number in range(pages):
        file = root / page_path(number)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(page_text(rng, words, weights, number), encoding="utf-8")
    git = ["git", "-C", str(root), "-c", "user.name=b", "-c", "user.email=b@example.org", "-c", "gc.auto=0"]
    subprocess.run(["git", "init", "-q", "-b", "main", str(root)], check=True)
    subprocess.run([*git, "add", "-A"], check=True)
    subprocess.run([*git, "commit", "-q", "-m", "pages"], check=True)
    return [" ".join(rng.choices(words[20:5000], k=rng.randint(3, 6))) for _ in range(60)]
