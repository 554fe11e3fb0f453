"""The rules of `check`: how grave each is, what it finds, and what to do about it."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

Severity = Literal["error", "warning", "note"]


class Rule(NamedTuple):
    """An error is a loss or something unseen, a warning should be looked at, a note may be nothing."""

    severity: Severity
    finds: str
    remedy: str


RULES: Final[dict[str, Rule]] = {
    "git-lock": Rule(
        "error",
        "git's index lock was left behind, and every write waits for it (seen in `status`)",
        "If no git runs there, remove the lock file.",
    ),
    "frontmatter-invalid": Rule(
        "error",
        "the frontmatter, or one property of it, does not parse",
        "Correct that line; where quotes would do, `wikimem check --fix` puts them.",
    ),
    "unquoted-wikilink": Rule(
        "warning",
        "a `[[link]]` in the frontmatter without quotes",
        "Write it with quotes; `wikimem check --fix` does.",
    ),
    "duplicate-key": Rule("warning", "a property that is given twice", "Remove one of the two; the last one counts."),
    "property-value": Rule(
        "warning",
        "a value that does not fit its property",
        "Correct the value; until then it counts as absent.",
    ),
    "mixed-property-type": Rule(
        "warning",
        "a property with values of several types, or of another type than `.obsidian/types.json` says",
        "Give it one type everywhere: Obsidian and its bases sort and filter by it.",
    ),
    "frontmatter-unclosed": Rule(
        "warning",
        "the first line is `---`, and no other closes it",
        "Close the block with another `---`, or begin the page with something else.",
    ),
    "conflict-markers": Rule(
        "error",
        "an unresolved merge",
        "Choose between the two sides, remove the markers, and save.",
    ),
    "encoding": Rule("error", "a file that is not UTF-8", "Save it as UTF-8, for example with `iconv`."),
    "control-character": Rule("warning", "a character that no text has", "Remove the character."),
    "secret": Rule(
        "error",
        "something that looks like a password, a token or a key",
        "Change it where it came from, then take it out of the page: git keeps the old text.",
    ),
    "broken-link": Rule(
        "warning",
        "a link that leads to no page",
        "Correct the link or write the page; a link to a page that was moved is mended by `wikimem check --fix`.",
    ),
    "broken-fragment": Rule(
        "warning",
        "a link to a heading or a block that its page does not have",
        "Correct the part after the `#`.",
    ),
    "missing-citation": Rule(
        "warning",
        "a source whose page or block is not there any more",
        "Point `sources` to where it is now, or take the source out and lower `confidence`.",
    ),
    "ambiguous-link": Rule(
        "warning",
        "a link that fits several pages equally well",
        "Write the path of the page that is meant.",
    ),
    "duplicate-id": Rule(
        "error",
        "two pages with one id",
        "`wikimem check --fix` gives the later one an id of its own.",
    ),
    "duplicate-title": Rule(
        "warning",
        "two active pages of one title, type and project",
        "Join them, or let one supersede the other.",
    ),
    "near-duplicate": Rule(
        "note",
        "two active pages that say the same, or nearly",
        "Join them, or let one supersede the other.",
    ),
    "duplicate-block-id": Rule(
        "warning",
        "a block id that a page has twice",
        "Give the later block another id: links lead to the first.",
    ),
    "one-sided-supersedes": Rule(
        "warning",
        "a page supersedes another, and only one of the two says so",
        "`wikimem check --fix` adds the other half.",
    ),
    "superseded-but-active": Rule(
        "warning",
        "a page that another one supersedes, with the status active",
        "Set its `status` to superseded, or take the `supersedes` out of the other.",
    ),
    "superseded-without-successor": Rule(
        "warning",
        "a superseded page, and no word of what replaced it",
        "Name the successor in `superseded_by`, or set another status.",
    ),
    "expired-but-active": Rule(
        "warning",
        "a page whose `ttl` has run out, with the status active",
        "Confirm it (set `confirmed` to today), or set its `status` to expired.",
    ),
    "ended-but-active": Rule(
        "note",
        "a page that held until a day in the past, with the status active",
        "Set its `status` to expired, or correct `valid_to`. Searches leave it out already.",
    ),
    "orphan": Rule(
        "note",
        "a page without a link to or from another",
        "Link it where a reader would look for it, if it is to be found that way.",
    ),
    "case-collision": Rule(
        "warning",
        "names that some file systems take for one",
        "Rename one of them (`wikimem move`).",
    ),
    "name-not-portable": Rule(
        "warning",
        "a name that some file systems cannot hold",
        "Rename it (`wikimem move`); the title may stay as it is.",
    ),
    "name-not-linkable": Rule(
        "warning",
        "a name that no link in Obsidian can hold",
        "Rename it (`wikimem move`) without `# ^ [ ] | :` and `%%`; the title may stay as it is.",
    ),
    "conflict-copy": Rule(
        "warning",
        "a copy that a sync tool made",
        "Compare the two, keep what is right in the one without the mark, and delete the other.",
    ),
    "obsidian-git-conflict": Rule(
        "error",
        "a note of Obsidian Git that a merge waits to be resolved",
        "Resolve the files that it lists, commit, and delete it: until then Obsidian Git commits nothing.",
    ),
    "graph-triple": Rule(
        "warning",
        "a line of the graph's files that is no triple",
        "Correct the line, or take it out: it says nothing.",
    ),
    "graph-edge": Rule(
        "warning",
        "an edge that lacks an end, or was changed by hand",
        "State another edge (`wikimem link`) instead of changing one.",
    ),
    "graph-assertion": Rule(
        "warning",
        "an assertion without its edge or its source",
        "Bring its lines back from git, or take the rest of it out.",
    ),
    "graph-entity": Rule(
        "note",
        "a statement about something that is no entity and no page",
        "Write the subject as `<urn:wikimem:type:name>`.",
    ),
    "graph-unknown-predicate": Rule(
        "note",
        "a relation that is not in the vocabulary",
        "Use one of the relations that `wikimem help graph` lists; until then it is kept as it is.",
    ),
    "graph-self-edge": Rule(
        "note",
        "an edge from an entity to itself",
        "Take it back with `wikimem link --retract`, or leave it: it is not walked.",
    ),
    "graph-ends-before-start": Rule(
        "warning",
        "an edge that ends before it starts",
        "State the right end with `wikimem link --valid-to`.",
    ),
    "graph-weight": Rule("warning", "a weight that is not between 0 and 1", "Correct it; until then it counts as 1."),
    "graph-time": Rule("warning", "a time in the graph that is no time", "Correct it: ISO 8601, in UTC."),
    "graph-date": Rule("warning", "a date in the graph that is no date", "Correct it: ISO 8601, such as 2025-03."),
    "too-large": Rule("error", "a file too large to be indexed", "Split it into several pages."),
    "unreadable": Rule("error", "a file or folder that cannot be read", "Change its permissions."),
    "file-name": Rule("error", "a name that is not UTF-8, or holds a control character", "Rename the file."),
    "not-a-file": Rule("warning", "something named like a page that is no regular file", "Move it away."),
    "nested-repository": Rule(
        "warning",
        "a folder that is a git repository of its own",
        "Make it a vault of its own, or remove its `.git`.",
    ),
    "symlink": Rule("warning", "a symbolic link to a file that is no page", "Put the file itself there."),
    "broken-symlink": Rule("warning", "a symbolic link that leads nowhere", "Remove the link."),
    "link-leaves-vault": Rule(
        "warning",
        "a symbolic link that leads out of the vault",
        "Copy the file into the vault, or remove the link.",
    ),
    "git-ownership": Rule(
        "warning",
        "git does not trust the owner of the folder",
        "Run the `git config` command that the message names, if the folder is yours.",
    ),
    "ignored-vault": Rule(
        "error",
        "the repository around the vault ignores it",
        "Take the folder out of the `.gitignore` above it.",
    ),
}
"""Every rule that any part of wikimem reports."""


def severity_of(rule: str) -> Severity:
    """How grave a rule is; a warning for one that is not known."""
    return RULES[rule].severity if rule in RULES else "warning"


def remedy_of(rule: str) -> str:
    """What to do about what a rule finds; empty for one that is not known."""
    return RULES[rule].remedy if rule in RULES else ""
