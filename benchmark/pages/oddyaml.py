"""Odd pages whose oddness is in how the frontmatter's YAML is written."""

from __future__ import annotations

from typing import Final

from benchmark.pages.oddpage import OddPage, pages_of

_SCALARS: Final[dict[str, str | bytes]] = {
    "plain": "---\nkey: old\nother: x\n---\nbody\n",
    "double quotes": '---\nkey: "old" # c\nother: "x"\n---\nbody\n',
    "single quotes": "---\nkey: 'it''s' # c\nother: 'x ''y'''\n---\nbody\n",
    "hash in quotes": "---\nkey: \"a # b\"\nother: 'c # d'\n---\nbody\n",
    "hash without a space": "---\nkey: C#x\nother: F#\n---\nbody\n",
    "escapes": '---\nkey: "tab\\there \\u00e9"\nother: "\\x41\\/\\_"\n---\nbody\n',
    "nothing": "---\nkey:\nother:\n---\nbody\n",
    "nothing, then blanks and a comment": "---\nkey:   # to be filled\nother: x\n---\nbody\n",
    "spellings of null": "---\nkey: ~\na: null\nb: Null\nc: NULL\nd: ''\n---\nbody\n",
    "the Norway problem": "---\nkey: NO\na: no\nb: Yes\nc: on\nd: OFF\ne: y\nf: n\n---\nbody\n",
    "true in its spellings": "---\nkey: true\na: True\nb: TRUE\nc: tRue\n---\nbody\n",
    "octals": "---\nkey: 0o7\na: 010\nb: 007\nc: 0o14\nd: 0b101\ne: 0x1F\nf: 08\n---\nbody\n",
    "floats": "---\nkey: 1e3\na: 1.0e+3\nb: .5\nc: 1.50\nd: .inf\ne: -.INF\nf: 1.\n---\nbody\n",
    "not a number": "---\nkey: .nan\na: .NaN\nb: x\n---\nbody\n",
    "digits with underscores": "---\nkey: 1_000\na: 1_0.5\nb: 12_34_56\n---\nbody\n",
    "sexagesimals": "---\nkey: 12:30:45\na: 12:30\nb: 190:20:30.15\n---\nbody\n",
    "dates": "---\nkey: 2024-06-01\na: 2024-06-01T10:00:00Z\nb: 2024-6-1\nc: 2001-12-14 21:59:43.10 -5\n---\nbody\n",
    "dates that are none": "---\nkey: 2024-13-01x\na: 0000-00\nb: 2024-W05\n---\nbody\n",
    "versions and money": "---\nkey: 1.10\na: 3.10.0\nb: $5\nc: 10%\nd: +1\n---\nbody\n",
    "long integer": "---\nkey: 12345678901234567890123\na: 0xFFFFFFFFFFFFFFFFFF\n---\nbody\n",
    "plain over three lines": "---\nkey: a\n  b\n  c # end\nother: x\n---\nbody\n",
    "plain on the next line": "---\nkey:\n  a\nother:\n  x\n---\nbody\n",
    "quotes over two lines": '---\nkey: "a\n  b" # c\nother: "x\n\n  y"\n---\nbody\n',
    "quotes with a running backslash": '---\nkey: "a \\\n  b"\nother: "c\\\n  \\ d"\n---\nbody\n',
    "URL and path": "---\nkey: https://example.org/a?b=c#d\nother: C:\\notes\\x.md\n---\nbody\n",
    "equals and less": "---\nkey: =\nother: <\na: '='\n---\nbody\n",
    "wikilink in quotes": '---\nkey: "[[Page|shown]]"\nother: "[[Other#Part]]"\n---\nbody\n',
    "wikilink without quotes": "---\nkey: [[Target]]\nother: [[Else]]\n---\nbody\n",
    "trailing spaces": "---\nkey: old   \nother: x  \n---\nbody  \n",
    "no-break spaces": "---\nkey: \u00a0old\u00a0\nother: \u00a0\n---\nbody\n",
    "tab after the colon": "---\nkey:\told\nother:\tx\n---\nbody\n",
    "tab before a comment": "---\nkey: old\t# c\nother: x\t\t# d\n---\nbody\n",
    "tab inside a value": '---\nkey: a\tb\nother: "c\td"\n---\nbody\n',
}

_BLOCK_SCALARS: Final[dict[str, str | bytes]] = {
    "literal": "---\nkey: |\n  a\n  # text\n\n  b\nother: x\n---\nbody\n",
    "literal, stripped": "---\nkey: |-\n  a\n  b\nother: |-\n  c\n---\nbody\n",
    "literal, kept": "---\nkey: |+ # head\n  a\n\n\nother: |+\n  b\n\n---\nbody\n",
    "folded": "---\nkey: >\n  a\n  b\n\n  c\nother: >\n  one\n  two\n\n    more\n  three\n---\nbody\n",
    "folded, stripped": "---\nkey: >-\n  a\n  b\n\n# c\nother: >-\n  x\n---\nbody\n",
    "folded, very long": f"---\nkey: old\nother: >\n  {'word ' * 60}end\nlast: 'x {'y ' * 70}z'\n---\nbody\n",
    "indentation given": "---\nkey: |2\n    a\n  b\nother: |1\n  c\n---\nbody\n",
    "indentation and chomping": "---\nkey: >2-\n    a\n  b\nother: |+2\n    c\n\n---\nbody\n",
    "dashes inside a literal": "---\nkey: old\nother: |\n  ---\n  x: y\n  ...\n---\nbody\n",
    "literal that is empty": "---\nkey: |\nother: >-\n---\nbody\n",
    "literal with trailing spaces": "---\nkey: old\nother: |\n  a  \n  b \n---\nbody\n",
    "literal in a list": "---\nkey:\n  - |\n    - a\n    # text\n  - b\nother:\n  - >-\n    c\n    d\n---\nbody\n",
    "literal that is last": "---\nother: x\nkey: |\n  a\n  b\n---\nbody\n",
}

_LISTS: Final[dict[str, str | bytes]] = {
    "block list": "---\nkey:\n  - a\n  - b\nother:\n  - x\n---\nbody\n",
    "block list at the margin": "---\nkey:\n- a\n- b\nother:\n- x\n---\nbody\n",
    "block list far in": "---\nkey:\n          - a\n          - b\nother:\n          - x\n---\nbody\n",
    "block lists in two styles": "---\nkey:\n- a\nother:\n    - x\n    - y\nthird:\n  -  z\n---\nbody\n",
    "block list with blank lines": "---\nkey:\n\n  - a\n\n  - b\n\nother:\n\n  - x\n---\nbody\n",
    "block list with wide gaps": "---\nkey:\n  -   a\n  -   b\nother:\n  -   x\n---\nbody\n",
    "block list with an empty item": "---\nkey:\n  -\n  - b\nother:\n  -\n---\nbody\n",
    "block list of quotes": "---\nkey:\n  - 'a'\n  - \"b: c\"\nother:\n  - 'x'\n---\nbody\n",
    "block list of lists": "---\nkey:\n  - - a\n    - b\n  - {c: d}\nother:\n  - - - x\n---\nbody\n",
    "block list of mappings": "---\nkey:\n  - name: a\n    n: 1\n  - name: b\nother:\n- name: x\n  n: 2\n---\nbody\n",
    "block list with a running quote": '---\nkey:\n  - "a\n    - b"\n  - c\nother: x\n---\nbody\n',
    "block list that is last": "---\nother: x\nkey:\n  - a\n  - b\n---\nbody\n",
    "block list of wikilinks": '---\nkey:\n  - [[A]]\n  - "[[B]]"\nother: [[[C]], [[D]]]\n---\nbody\n',
    "flow list": "---\nkey: [a, b]\nother: [x]\n---\nbody\n",
    "flow list, cramped": "---\nkey: [a,b,c]\nother: [x,y]\n---\nbody\n",
    "flow list, spaced": "---\nkey: [ a, 'b' ] # c\nother: [ x , y ]\n---\nbody\n",
    "flow list over lines": "---\nkey: [\n  a,\n  b,\n]\nother: [\n    x,\n    y ]\n---\nbody\n",
    "flow list with comments": "---\nkey: [a, # first\n  b] # last\nother: [ # head\n  x ]\n---\nbody\n",
    "flow list at the margin": "---\nkey: [a,\nb]\nother: [\nx\n]\n---\nbody\n",
    "empty list and mapping": "---\nkey: []\nother: {}\n---\nbody\n",
    "list of odd scalars": "---\nkey: [no, 1e3, 0o7, ~]\nother: [yes, 12:30, 1_000, 2024-01-01, null]\n---\nbody\n",
    "tags as people type them": "---\nkey: a, b\nother: '#x'\nthird: a b c\n---\nbody\n",
}

_COMMENTS: Final[dict[str, str | bytes]] = {
    "comment after": "---\nkey: old  # why\nother: x # c\n---\nbody\n",
    "comment of quotes": '---\nkey: old # it\'s: "c"\nother: x # [a\n---\nbody\n',
    "comments on lines of their own": "---\n# one\nkey: old\n# two\nother: x\n# three\n---\nbody\n",
    "comments everywhere": (
        "---\n# top\nkey: # head\n  # above\n  - a # first\n  # between\n  - b\n# after\n"
        "other: x # c\n  # low\n---\nbody\n"
    ),
    "comments far in": "---\nkey: old\n        # far\nother: x\n    # less\n---\nbody\n",
    "comments and blank lines": "---\n\n# one\n\nkey: old\n\n\n# two\n\nother: x\n\n---\nbody\n",
    "comment at the end": "---\nkey: old\nother:\n  a: 1\n  # of other\n# of all\n---\nbody\n",
    "comment aligned": "---\nkey: old        # a\nother: long one # b\nk: v            # c\n---\nbody\n",
    "only comments": "---\n# nothing yet\n# TODO: fill\n---\nbody\n",
    "banner of comments": "---\n###########\n# SECTION #\n###########\nkey: old\n#other: x\n---\nbody\n",
}

_ANCHORS: Final[dict[str, str | bytes]] = {
    "anchor on the key's value": "---\nkey: &a old\nother: *a\n---\nbody\n",
    "anchor elsewhere": "---\nkey: old\nbase: &a [x, y]\nother: *a\n---\nbody\n",
    "anchored list": "---\nkey: &a\n  - x\nother: *a\n---\nbody\n",
    "alias as the value": "---\nother: &a old\nkey: *a\n---\nbody\n",
    "alias in a block list": "---\nother: &a old\nkey:\n  - *a\n  - b\n---\nbody\n",
    "alias in a flow list": "---\nother: &a old\nkey: [*a, b]\n---\nbody\n",
    "anchor never used": "---\nkey: old\nother: &unused x\n---\nbody\n",
    "merge key": "---\nbase: &a {x: 1, y: 2}\nkey: old\nother:\n  <<: *a\n  y: 3\n---\nbody\n",
    "merge key at the top": "---\nbase: &a {key: old, x: 1}\n<<: *a\nkey: own\n---\nbody\n",
    "merge of several": "---\na: &a {x: 1}\nb: &b {y: 2}\nkey: old\nother:\n  <<: [*a, *b]\n---\nbody\n",
    "standard tags": "---\nkey: !!str 5\nother: !!int '7'\nset: !!set {a, b}\n---\nbody\n",
    "binary": "---\nkey: old\nother: !!binary aGVsbG8=\n---\nbody\n",
    "tags of one's own": "---\nkey: !mine x\nother: !theirs [y]\n---\nbody\n",
    "Python tag": "---\nkey: !!python/object/apply:os.getcwd []\nother: y\n---\nbody\n",
    "directive": "---\n%YAML 1.2\nkey: old\n---\nbody\n",
}

_KEYS: Final[dict[str, str | bytes]] = {
    "keys in quotes": "---\n\"key\": old\n'other': x\n---\nbody\n",
    "space before the colon": "---\nkey : old\nother  : x\n---\nbody\n",
    "question mark": "---\n? key\n: old\n? other\n: x\n---\nbody\n",
    "keys that are no text": "---\n1: x\nkey: old\ntrue: y\n2024-01-01: z\n~: n\n1.5: f\n---\nbody\n",
    "keys that are lists": "---\n[a, b]: x\nkey: old\n{c: d}: y\n---\nbody\n",
    "keys with spaces": "---\nmy key: old\nother key: x\n---\nbody\n",
    "keys with dots and dashes": "---\nkey: old\na.b-c_d/e: x\n-dash: y\n---\nbody\n",
    "key with a colon": '---\nkey: old\n"a: b": x\nc:d: y\n---\nbody\n',
    "key of emoji": "---\n🚀: old\n🗂️ other: x\n---\nbody\n",
    "key in Korean": "---\n제목: 한국어\n열쇠: 옛것 # 주석\n---\n본문\n",
    "key from right to left": "---\nמפתח: ישן\nعنوان: نص # تعليق\n---\nשלום\n",
    "key decomposed": "---\ncafe\u0301: old\ncaf\u00e9: x\n---\nbody\n",
    "keys that differ in case": "---\nkey: old\nKey: x\nKEY: y\n---\nbody\n",
    "key twice": "---\nkey: a\nother: x\nkey: b\n---\nbody\n",
    "another key twice": "---\nkey: a\nother: x\nother: y\n---\nbody\n",
    "key inside another": "---\nother:\n  key: inner\nkey: old\n---\nbody\n",
    "empty key": "---\nkey: old\n'': x\n---\nbody\n",
    "indented mapping": "---\n  key: old\n  other: x\n---\nbody\n",
    "nested mapping": "---\nkey:\n  a: 1\n  b:\n    c: [2]\nother: x\n---\nbody\n",
    "nested mapping elsewhere": "---\nkey: old\nother:\n    a: 1 # c\n\n    b:\n         c: 2\n---\nbody\n",
    "flow mapping": "---\nkey: {a: 1}\nother: {b: 2, c: [3]}\n---\nbody\n",
    "JSON between the fences": '---\n{"key": "old", "other": "x"}\n---\nbody\n',
    "deep indentation": "---\nkey: old\n" + "".join(f"{'  ' * n}a{n}:\n" for n in range(40)) + "  " * 40 + "x\n---\n",
}

_NAMED_KEYS: Final = {
    "keys with spaces": "my key",
    "key of emoji": "🚀",
    "key in Korean": "열쇠",
    "key from right to left": "מפתח",
    "key decomposed": "cafe\u0301",
}

YAML_PAGES: Final[tuple[OddPage, ...]] = (
    *pages_of("scalars", _SCALARS),
    *pages_of("block scalars", _BLOCK_SCALARS),
    *pages_of("lists", _LISTS),
    *pages_of("comments", _COMMENTS),
    *pages_of("anchors and tags", _ANCHORS),
    *pages_of("keys", _KEYS, _NAMED_KEYS),
)
