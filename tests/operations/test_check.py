"""check: every rule finds what it is for, and --fix mends just what takes no judgement."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

import wikimem
from wikimem.errors import Invalid
from wikimem.memory.checkrules import RULES, remedy_of, severity_of
from wikimem.present.text import text

Desk = Any

ULID = "01JDZK3V9Q4T8M2X7B5C1R6W0N"


def found(desk: Desk, *rules: str, **arguments: Any) -> list[tuple[str, str]]:
    return [(each.rule, each.path) for each in desk.run("check", rule=list(rules), **arguments).problems]


def settle(desk: Desk) -> None:
    desk.git("add", "-A")
    desk.git("commit", "-qm", "by hand")


def test_a_new_vault_has_no_errors_or_warnings(desk: Desk) -> None:
    desk.run("remember", title="Port", text="8080, see [[Home]]")
    done = desk.run("check", strict=True)
    assert [each for each in done.problems if each.severity != "note"] == []
    assert done.failed is False


def test_links(desk: Desk) -> None:
    desk.put("a/Deploy.md", "x\n")
    desk.put("b/Deploy.md", "x\n")
    desk.put("b/Beside.md", "[[Deploy]] means the one beside\n")
    desk.put(
        "c/Links.md",
        "---\nup: '[[nowhere]]'\n---\n[[Deploy]] [[a/Deploy]] [x](../b/Deploy.md) [[/a/Deploy]]\n\n"
        "[[gone]] ![[pic.png]] [[gone too|x]] `[[not a link]]` [out](https://example.org)\n[x](gone/away.md)\n",
    )
    done = desk.run("check", rule=["broken-link", "ambiguous-link"])
    assert [(each.rule, each.path, each.line) for each in done.problems] == [
        ("broken-link", "c/Links.md", 2),
        ("ambiguous-link", "c/Links.md", 4),
        ("broken-link", "c/Links.md", 6),
        ("broken-link", "c/Links.md", 6),
        ("broken-link", "c/Links.md", 7),
    ]
    ambiguous = next(each for each in done.problems if each.rule == "ambiguous-link")
    assert "'a/Deploy.md'" in ambiguous.message
    assert "'b/Deploy.md'" in ambiguous.message
    assert done.counts == {"ambiguous-link": 1, "broken-link": 4}


def test_ambiguity_of_aliases_and_titles(desk: Desk) -> None:
    desk.put("a.md", "---\naliases: [ship]\n---\n# One title\n")
    desk.put("b.md", "---\naliases: [ship]\n---\n# One title\n")
    desk.put("c/x.md", "[[ship]] [[One title]] [[a]]\n")
    assert found(desk, "ambiguous-link") == [("ambiguous-link", "c/x.md")] * 2


def test_duplicates(desk: Desk) -> None:
    desk.put("a.md", f"---\nid: {ULID}\n---\nx\n")
    desk.put("b.md", f"---\nid: {ULID.lower()}\n---\ny\n")
    desk.put("one.md", "---\ntype: fact\ntitle: Same\n---\n")
    desk.put("two.md", "---\ntype: fact\ntitle: same\n---\n")
    desk.put("three.md", "---\ntype: fact\ntitle: Same\nproject: other\n---\n")
    desk.put("four.md", "---\ntype: fact\ntitle: Same\nstatus: superseded\nsuperseded_by: '[[one]]'\n---\n")
    assert found(desk, "duplicate-id", "duplicate-title") == [("duplicate-id", "b.md"), ("duplicate-title", "two.md")]


def test_pages_that_cannot_be_read_well(desk: Desk) -> None:
    desk.put("colon.md", "---\ntitle: Deploy: the sequel\n---\nbody\n")
    desk.put("backtick.md", "---\nkey: `C:\\agent\\x`\n---\nbody\n")
    desk.put("rule.md", "---\nnever closed\n")
    desk.put("list.md", "---\nrelated:\n  - [[Target]]suffix\n---\n")
    desk.put("merge.md", "a\n<<<<<<< HEAD\n[[x]]\n=======\ny\n>>>>>>> main\n")
    desk.put("dates.md", "---\nvalid_from: someday\nconfidence: 7\n---\n")
    desk.put("good.md", "fine\n")
    (desk.root / "latin.md").write_bytes(b"line\ncaf\xe9\n")
    (desk.root / "big.md").write_bytes(b"x" * 10_000_001)
    (desk.root / "dangling.md").symlink_to("nothing.md")
    done = desk.run("check")
    at = {(each.rule, each.path, each.line) for each in done.problems if each.rule not in ("orphan", "broken-link")}
    assert at == {
        ("frontmatter-invalid", "colon.md", 2),
        ("frontmatter-invalid", "backtick.md", 2),
        ("frontmatter-unclosed", "rule.md", 1),
        ("frontmatter-invalid", "list.md", 2),
        ("conflict-markers", "merge.md", 2),
        ("property-value", "dates.md", 2),
        ("property-value", "dates.md", 3),
        ("encoding", "latin.md", 2),
        ("too-large", "big.md", None),
        ("broken-symlink", "dangling.md", None),
    }
    assert {each.path for each in done.problems if each.fixable} == {"colon.md", "backtick.md", "list.md"}
    assert desk.run("search", query="fine").hits[0].path == "good.md"


def test_a_secret_is_reported_by_kind_and_never_shown(desk: Desk) -> None:
    secret = "ghp_" + "Ab3" * 12
    desk.put("keys.md", f"one\ntwo {secret}\n")
    done = desk.run("check", rule=["secret"])
    assert [(each.path, each.line, each.severity) for each in done.problems] == [("keys.md", 2, "error")]
    assert secret not in repr(done)
    assert secret not in text(done)
    assert secret in desk.text("keys.md")


def test_names(desk: Desk) -> None:
    for path in ("Readme.md", "readme.md", "notes/a.md", "Notes/b.md", "cafe\u0301.md", "café.md", "con.md",
                 "what?.md", "sub folder /x.md", "fine  name.md", "v1.2.md", "日本語.md"):  # fmt: skip
        desk.put(path, "x\n")
    assert found(desk, "case-collision") == [
        ("case-collision", "café.md"),
        ("case-collision", "notes/a.md"),
        ("case-collision", "readme.md"),
    ]
    assert found(desk, "name-not-portable") == [
        ("name-not-portable", "cafe\u0301.md"),
        ("name-not-portable", "con.md"),
        ("name-not-portable", "sub folder /x.md"),
        ("name-not-portable", "what?.md"),
    ]


def test_copies_that_sync_tools_make(desk: Desk) -> None:
    same = f"---\nid: {ULID}\n---\nx\n"
    copies = [
        "Note (Conflicted copy laptop 202612010900).md",
        "Note (Ada's conflicted copy 2025-01-01).md",
        "Note.sync-conflict-20250101-120000-ABCDEFG.md",
        "Note_conflict-20250101-120000.md",
        "Note 2.md",
        "Note (1).md",
    ]
    for path in ("Note.md", *copies):
        desk.put(path, same)
    for path in ("Chapter.md", "Chapter 2.md", "About a conflict.md", "Plan 2.md"):
        desk.put(path, f"{path}\n")
    assert sorted(path for _, path in found(desk, "conflict-copy")) == sorted(copies)


def test_succession(desk: Desk) -> None:
    desk.run("remember", title="Old", type="decision")
    desk.run("remember", title="New", type="decision", supersedes=["Old"])
    assert found(desk, "one-sided-supersedes", "superseded-but-active", "superseded-without-successor") == []
    desk.put("p.md", "---\nsupersedes: ['[[q]]']\n---\n")
    desk.put("q.md", "---\ntitle: q\n---\n")
    desk.put("r.md", "---\nstatus: superseded\nsuperseded_by: '[[s]]'\n---\n")
    desk.put("s.md", "x\n")
    desk.put("t.md", "---\nstatus: superseded\n---\n")
    desk.put("u.md", "---\nsupersedes: ['[[u]]', '[[missing]]']\n---\n")
    assert found(desk, "one-sided-supersedes", "superseded-but-active", "superseded-without-successor") == [
        ("one-sided-supersedes", "q.md"),
        ("superseded-but-active", "q.md"),
        ("one-sided-supersedes", "s.md"),
        ("superseded-without-successor", "t.md"),
    ]


def test_an_agents_claim_to_supersede_a_person_is_not_completed(desk: Desk) -> None:
    desk.put("mine.md", "mine\n")
    desk.put("theirs.md", "---\ntrust: agent\nsupersedes: ['[[mine]]']\n---\n")
    done = desk.run("check", rule=["one-sided-supersedes"], fix=True)
    assert [(each.path, each.fixable) for each in done.problems] == [("mine.md", False)]
    assert desk.text("mine.md") == "mine\n"


def test_what_has_expired(desk: Desk) -> None:
    desk.put("a.md", "---\ncreated: 2025-01-01\nttl: P30D\n---\n")
    desk.put("b.md", "---\ncreated: 2025-01-01\nttl: P30D\npinned: true\n---\n")
    desk.put("c.md", "---\ncreated: 2025-01-01\nttl: P30D\nstatus: expired\n---\n")
    desk.put("d.md", "---\ncreated: 2025-09-01\nttl: P30D\n---\n")
    assert found(desk, "expired-but-active") == [("expired-but-active", "a.md")]
    desk.now = datetime(2026, 1, 1)
    assert found(desk, "expired-but-active") == [("expired-but-active", "a.md"), ("expired-but-active", "d.md")]


def test_orphans(desk: Desk) -> None:
    desk.put("alone.md", "[[alone]] and [[nothing]]\n")
    desk.put("a.md", "[[b]]\n")
    desk.put("b.md", "x\n")
    desk.run("remember", title="x", project="shop", text="[[b]]")
    assert found(desk, "orphan") == [("orphan", "alone.md")]


def test_strict_counts_what_is_not_a_note(desk: Desk) -> None:
    desk.put("alone.md", "x\n")
    assert desk.run("check", strict=True).failed is False
    desk.put("b.md", "[[nowhere]]\n")
    assert desk.run("check", strict=True).failed is True
    assert desk.run("check").failed is False
    assert desk.run("check", strict=True, rule=["duplicate-id"]).failed is False


def test_without_fix_nothing_is_written(desk: Desk) -> None:
    desk.put("a.md", "---\nup: [[b]]\n---\n")
    settle(desk)
    for arguments in ({}, {"dry_run": True}, {"dry_run": True, "fix": True}):
        done = desk.run("check", **arguments)
        assert done.commit is None
        assert desk.git("status", "--porcelain") == ""
        assert bool(done.fixed) == bool(arguments)
    assert done.fixed == ("a.md: put quotes round values that YAML misreads",)


def test_fix_mends_in_one_commit_and_touches_nothing_else(desk: Desk) -> None:
    raw = b"\xef\xbb\xbf---\r\n# why\r\nup:   [[b]]   # the parent\r\nrel:\r\n- [[c]]\r\n- x\r\n---\r\ntext"
    (desk.root / "a.md").write_bytes(raw)
    desk.put("colon.md", "---\ntitle: Deploy: the sequel   \ntags: [x]\n---\nbody: a: b\n")
    desk.put("windows.md", "---\nkey: `C:\\agent\\x`\n---\nx")
    desk.put("hopeless.md", "---\ntitle: 'open\nkey: a: b\n---\n")
    desk.put("comment.md", "---\ntitle: a: b # which of it?\n---\n")
    desk.put("nested.md", "---\nmatrix: [[1, 2], [3, 4]]\n---\n")
    settle(desk)
    head = desk.git("rev-list", "--count", "HEAD")
    done = desk.run("check", fix=True)
    assert int(desk.git("rev-list", "--count", "HEAD")) == int(head) + 1
    assert desk.git("status", "--porcelain") == ""
    assert "Wikimem-Op: check" in desk.git("log", "-1", "--format=%B")
    assert (desk.root / "a.md").read_bytes() == raw.replace(b"[[b]]", b'"[[b]]"').replace(b"[[c]]", b'"[[c]]"')
    assert desk.text("colon.md") == '---\ntitle: "Deploy: the sequel"   \ntags: [x]\n---\nbody: a: b\n'
    assert desk.text("windows.md") == '---\nkey: "`C:\\\\agent\\\\x`"\n---\nx'
    assert sorted(each.partition(":")[0] for each in done.fixed) == ["a.md", "colon.md", "windows.md"]
    assert {each.path for each in done.problems if each.rule == "frontmatter-invalid"} == {"hopeless.md", "comment.md"}
    assert desk.run("read", page="colon.md").title == "Deploy: the sequel"
    assert desk.run("check", fix=True).commit is None


def test_the_later_copy_gets_an_id_of_its_own(desk: Desk) -> None:
    page = f"---\nid: {ULID} # mine\ntitle: T\n---\nx\n"
    desk.put("z/original.md", page)
    settle(desk)
    desk.put("a.md", page)
    desk.put("z/Original (conflicted copy).md", page)
    settle(desk)
    done = desk.run("check", fix=True, rule=["duplicate-id"])
    assert done.problems == ()
    assert desk.text("z/original.md") == page
    ids = {desk.run("read", page=path).id for path in ("z/original.md", "a.md", "z/Original (conflicted copy).md")}
    assert len(ids) == 3
    assert ULID in ids
    assert re.fullmatch(r"---\nid: [0-9A-Z]{26} # mine\ntitle: T\n---\nx\n", desk.text("a.md"))


def test_the_missing_half_is_added(desk: Desk) -> None:
    desk.put("x/p.md", "---\nsupersedes: ['[[q]]']\n---\n")
    desk.put("q.md", "---\ntitle: q\n---\nbody\n")
    desk.put("r.md", "---\nstatus: superseded\nsuperseded_by: '[[s]]'\n---\n")
    desk.put("s.md", "no frontmatter\n")
    desk.put("y/p.md", "the same name\n")
    done = desk.run("check", fix=True, rule=["one-sided-supersedes"])
    assert done.problems == ()
    assert desk.text("q.md") == '---\ntitle: q\nsuperseded_by:\n  - "[[x/p]]"\n---\nbody\n'
    assert desk.text("s.md") == '---\nsupersedes:\n  - "[[r]]"\n---\nno frontmatter\n'


def test_a_copy_that_a_sync_tool_made_supersedes_nothing(desk: Desk) -> None:
    desk.run("remember", title="Old way", type="decision", text="Tabs.")
    done = desk.run("remember", title="New way", type="decision", text="Spaces.", supersedes=["Old way"])
    new = desk.text(done.page.path)
    folder = done.page.path.rpartition("/")[0]
    copies = ["New way.sync-conflict-20261201-101010-ABCDEFG.md", "New way (conflicted copy).md", "New way 2.md"]
    for number, name in enumerate(copies):
        desk.put(f"{folder}/{name}", new.replace("Spaces.", f"Spaces, {number} of them."))
    settle(desk)
    old = desk.text(f"{folder}/Old way.md")
    for _ in range(2):
        done = desk.run("check", fix=True)
        assert found(desk, "one-sided-supersedes", "superseded-but-active") == []
        assert sorted(path for _, path in found(desk, "conflict-copy")) == sorted(f"{folder}/{each}" for each in copies)
    assert found(desk, "duplicate-id") == []
    assert desk.text(f"{folder}/Old way.md") == old
    assert desk.text(f"{folder}/New way.md") == new


def test_the_missing_half_names_the_page_and_not_its_copy(desk: Desk) -> None:
    desk.put("Old.md", "---\ntitle: Old\n---\n")
    desk.put("New.md", "---\nsupersedes: ['[[Old]]']\n---\nspaces\n")
    desk.put("New (conflicted copy).md", "---\nsupersedes: ['[[Old]]']\n---\nmore spaces\n")
    desk.run("check", fix=True)
    assert desk.text("Old.md") == '---\ntitle: Old\nsuperseded_by:\n  - "[[New]]"\n---\n'


def test_links_do_not_follow_to_a_copy_of_a_page_that_is_gone(desk: Desk) -> None:
    desk.put("New way.md", f"---\nid: {ULID}\n---\nspaces\n")
    desk.put("a.md", "[[New way]]\n")
    settle(desk)
    (desk.root / "New way.md").rename(desk.root / "New way (conflicted copy).md")
    desk.run("check", fix=True)
    assert desk.text("a.md") == "[[New way]]\n"
    assert ("broken-link", "a.md") in found(desk, "broken-link")


def test_of_a_key_given_twice_the_last_one_counts_and_the_answer_says_so(desk: Desk) -> None:
    desk.put("a.md", "---\nconfidence: 0.2\nconfidence: 0.9\n---\n")
    assert desk.run("read", page="a.md").frontmatter["confidence"] == "0.9"
    (problem,) = desk.run("check", rule=["duplicate-key"]).problems
    assert "last one counts" in problem.message
    assert "last one counts" in remedy_of("duplicate-key")


def test_the_hint_for_pages_of_one_id_names_what_tells_them_apart(desk: Desk) -> None:
    for path in ("a.md", "b.md"):
        desk.put(path, f"---\nid: {ULID}\ntitle: T\n---\n")
    for address in (ULID, "T"):
        with pytest.raises(Invalid) as caught:
            desk.run("read", page=address)
        assert caught.value.hint == "Use the path; `wikimem check --fix` gives the copy an id of its own."
    desk.run("check", fix=True)
    with pytest.raises(Invalid) as caught:
        desk.run("read", page="T")
    assert caught.value.hint == "Use the path or the end of the id."


def test_an_agent_mends_quotes_but_no_property_of_a_person(desk: Desk) -> None:
    desk.put("p.md", "---\nsupersedes: [[q]]\n---\n")
    desk.put("q.md", "x\n")
    settle(desk)
    done = desk.run("check", by="codex", fix=True)
    assert desk.text("p.md") == '---\nsupersedes: "[[q]]"\n---\n'
    assert desk.text("q.md") == "x\n"
    assert [each.partition(":")[0] for each in done.left] == ["q.md"]
    assert desk.git("log", "-1", "--format=%an") == "codex"


def test_a_rule_that_is_none_is_refused(desk: Desk) -> None:
    with pytest.raises(Invalid) as caught:
        desk.run("check", rule=["broken-links"])
    assert "broken-link" in caught.value.hint


def test_the_list_may_be_cut_and_the_counts_are_whole(desk: Desk) -> None:
    desk.put("a.md", " ".join(f"[[n{number}]]" for number in range(20)) + "\n")
    done = desk.run("check", limit=5)
    assert len(done.problems) == 5
    assert done.total == sum(done.counts.values())
    assert done.counts["broken-link"] == 20
    assert "5 are shown" in text(done)


def test_every_rule_that_is_reported_is_known() -> None:
    said = set()
    for module in Path(wikimem.__file__).parent.rglob("*.py"):
        if module.parent.name == "graph":  # reports on its own files, in its own words
            continue
        source = module.read_text(encoding="utf-8")
        said.update(re.findall(r'(?:Problem|_fault|Fault|report)\(\s*"([a-z]+(?:-[a-z]+)*)"', source))
    assert {"broken-link", "encoding", "duplicate-key", "too-large"} - said == {"broken-link"}
    assert said - set(RULES) - {"valid_to"} == set()
    assert (severity_of("never heard of"), remedy_of("never heard of")) == ("warning", "")


def test_every_rule_says_what_to_do_in_the_manual_and_in_the_answer(desk: Desk) -> None:
    assert all(rule.finds and rule.remedy.endswith(".") for rule in RULES.values())
    manual = (Path(wikimem.__file__).parent / "manual" / "check.md").read_text(encoding="utf-8")
    for name, rule in RULES.items():
        assert f"| `{name}` | {rule.severity} | {rule.finds} | {rule.remedy} |" in manual.splitlines()
    desk.put("a.md", "[[nowhere]]\n")
    done = desk.run("check", rule=["broken-link"])
    assert done.problems[0].remedy == RULES["broken-link"].remedy
    assert f"  broken-link: {RULES['broken-link'].remedy}" in text(done).splitlines()


def test_the_command_exits_with_1_only_when_strict(home: Any, vault: Path, run: Callable[..., Any]) -> None:
    (vault / "a.md").write_text("[[nowhere]]\n")
    plain = run("check")
    assert plain.code == 0
    assert "a.md:1: warning: 'nowhere' leads to no page [broken-link]" in plain.stdout
    strict = run("check", "--strict", "--json")
    assert strict.code == 1
    assert strict.json["schema"] == "wikimem/check/1"
    assert strict.json["failed"] is True
    (vault / "a.md").unlink()
    assert run("check", "--strict").code == 0
    subprocess.run(["git", "-C", str(vault), "status", "--porcelain"], check=True)
