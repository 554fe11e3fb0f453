"""Odd pages whose oddness is in the file: its bytes, line ends, fences, size, or the tool that made it."""

from __future__ import annotations

from typing import Final

from benchmark.pages.oddpage import OddPage, pages_of

_BYTES: Final[dict[str, str | bytes]] = {
    "CRLF": "---\r\nkey: old\r\nother: x\r\n---\r\nbody\r\n",
    "CRLF and lists": "---\r\nkey:\r\n  - a\r\n  - b\r\nother: [x]\r\n---\r\nbody\r\n",
    "CRLF and a literal": "---\r\nkey: old\r\nother: |\r\n  a\r\n  b\r\n---\r\nbody\r\n",
    "CRLF in the block, LF below": "---\r\nkey: old\r\nother: x\r\n---\r\nbody\nmore\n",
    "LF in the block, CRLF below": "---\nkey: old\nother: x\n---\nbody\r\nmore\r\n",
    "mixed line ends": "---\r\nkey: old\nother: x\r\nthird: y\n---\nbody\r\n",
    "carriage returns alone": "---\rkey: old\rother: x\r---\rbody\r",
    "byte order mark": "\ufeff---\nkey: old\nother: x\n---\nbody\n",
    "byte order mark and CRLF": "\ufeff---\r\nkey: old\r\nother: x\r\n---\r\nbody\r\n",
    "byte order mark alone": "\ufeff",
    "no final line break": "---\nkey: old\nother: x\n---\nbody",
    "several final line breaks": "---\nkey: old\nother: x\n---\nbody\n\n\n\n",
    "blank lines before the body": "---\nkey: old\nother: x\n---\n\n\n\nbody\n",
    "indented code first": "---\nkey: old\nother: x\n---\n\n    code = 1\n    more = 2\n\nbody\n",
    "spaces at the end of lines": "---\nkey: old\nother: x\n---\nhard  \nbreak  \n   \n",
    "form feed and vertical tab in the body": "---\nkey: old\nother: x\n---\na\x0cb\x0bc\n",
    "NUL in the body": b"---\nkey: old\nother: x\n---\na\x00b\n",
    "NUL in the block": b"---\nkey: a\x00\nother: x\n---\nbody\n",
    "escape character in the block": b"---\nkey: old\nother: a\x1b[0m\n---\nbody\n",
    "control characters in the body": b"---\nkey: old\nother: x\n---\n\x01\x02\x1b[31mred\x7f\n",
    "Latin-1 in the body": b"---\nkey: old\nother: x\n---\ncaf\xe9\n",
    "Latin-1 in the block": b"---\nkey: caf\xe9\nother: x\n---\nbody\n",
    "UTF-16": "---\nkey: old\nother: x\n---\nbody\n".encode("utf-16"),
    "surrogates as bytes": b"---\nkey: old\nother: x\n---\n\xed\xa0\xbd\xed\xb8\x80\n",
    "overlong bytes": b"---\nkey: old\nother: x\n---\n\xc0\xaf\n",
    "cut in the middle of a character": "---\nkey: old\nother: x\n---\n한국".encode()[:-1],
    "Korean, Japanese, emoji": "---\n제목: 한국어\nkey: 옛것 # 주석\nother: 日本語🚀👩‍💻\n---\n본문\n",
    "decomposed text": "---\nkey: old\nother: re\u0301sume\u0301\n---\ncafe\u0301\n",
    "right to left with marks": "---\nkey: old\nother: \u202bשלום\u202c\n---\n\u200fمرحبا\n",
    "zero-width characters": "---\nkey: old\nother: a\u200bb\ufeffc\n---\n\u200b\n",
    "line separators": "---\nkey: a\u2028b\nother: c\u2029d\n---\nbody\u2028more\n",
    "next-line character": "---\nkey: old\nother: c\x85d\n---\nbody\x85more\n",
    "astral and private characters": "---\nkey: old\nother: \U0001f600\ue000\U000f0000\n---\nbody\n",
}

_FENCES: Final[dict[str, str | bytes]] = {
    "no frontmatter": "# Title\n\nbody\n",
    "no frontmatter, CRLF and mark": "\ufeff# Title\r\n\r\nbody",
    "empty file": "",
    "one line break": "\n",
    "only frontmatter": "---\nkey: old\nother: x\n---\n",
    "only frontmatter, no final break": "---\nkey: old\nother: x\n---",
    "empty block": "---\n---\nbody\n",
    "block of blank lines": "---\n\n\n---\nbody\n",
    "spaces after the fences": "---  \nkey: old\nother: x\n--- \t\nbody\n",
    "dots close": "---\nkey: old\nother: x\n...\nbody\n",
    "never closed": "---\nkey: old\nother: x\n\nbody\n",
    "rules in the body": "---\nkey: old\nother: x\n---\na\n\n---\n\nb\n\n---\nkey: not this\n---\n",
    "a rule right below": "---\nkey: old\nother: x\n---\n---\nrule\n",
    "a second block": "---\nkey: old\nother: x\n---\n---\nkey: second\n---\nbody\n",
    "prose between rules": "---\n\nSome prose.\n\n---\n\nMore.\n",
    "a list between rules": "---\n- a\n- b\n---\nbody\n",
    "a heading between rules": "---\n\n# Heading\n\n---\n\nbody\n",
    "rules of four dashes": "----\nkey: old\n----\nbody\n",
    "blank line before the fence": "\n---\nkey: old\nother: x\n---\nbody\n",
    "space before the fence": " ---\nkey: old\nother: x\n---\nbody\n",
    "comment before the fence": "<!-- made by hand -->\n---\nkey: old\nother: x\n---\nbody\n",
    "four dashes in the block": "---\nkey: old\nother: x\n----\nthird: y\n---\nbody\n",
    "setext heading first": "Title\n---\nkey: old\n---\nbody\n",
}

_TOOLS: Final[dict[str, str | bytes]] = {
    "Obsidian": (
        '---\naliases:\n  - Other name\ntags:\n  - a/b\n  - c\nkey: "[[Link]]"\ncssclasses:\n  - wide\n'
        "created: 2024-06-01T10:00\npublish: true\n---\n# Note\n\n> [!note]+ Title\n> text ^block\n\n%%hidden%%\n"
    ),
    "Obsidian template": "---\nkey: {{date}}\ntitle: {{title}}\n---\n{{date:YYYY-MM-DD}}\n",
    "Templater": "---\nkey: <% tp.date.now() %>\ntitle: <%* await tp.prompt('T') %>\n---\n<% tp.file.cursor() %>\n",
    "Obsidian Kanban": "---\n\nkanban-plugin: basic\nkey: old\n\n---\n\n## To do\n\n- [ ] one\n\n\n%% settings\n%%\n",
    "Excalidraw": "---\n\nexcalidraw-plugin: parsed\ntags: [excalidraw]\nkey: old\n\n---\n==⚠==\n\n%%\n# Drawing\n",
    "Dataview": "---\nkey: old\ndue: 2024-06-01\nrating: 5\n---\nfield:: value\n[inline:: x]\n",
    "Foam": '---\ntype: feature\nkeywords: hello, bonjour\nkey: old\n---\n# Note\n\n[[wiki]]\n\n[wiki]: wiki.md "W"\n',
    "Jekyll": '---\nlayout: post\ntitle:  "Welcome!"\ndate:   2024-06-01 10:00:00 +0900\nkey:  old\n---\n{% x %}\n',
    "Hugo, YAML": '---\ntitle: A\nkey: old\ndraft: false\nparams:\n  a: {b: c}\nweight: 10\n---\n{{< fig src="x" >}}\n',
    "Hugo, TOML": "+++\ntitle = 'A'\nkey = 'old'\ndraft = false\ntags = ['x']\n+++\nbody\n",
    "Hugo, TOML with CRLF": "+++\r\nkey = 'old'\r\nother = 2024-06-01\r\n+++\r\nbody\r\n",
    "Hugo, JSON": '{\n  "title": "A",\n  "key": "old"\n}\n\nbody\n',
    "Docusaurus": "---\nid: intro\nsidebar_position: 1\nkey: old\n---\nimport X from '@site/x';\n\n<X a={1} />\n",
    "Pandoc": "---\ntitle: A\nauthor:\n- name: B\n  affiliation: C\nabstract: |\n  Text.\nkey: old\n...\n\nbody\n",
    "Zettlr": '---\ntitle: "A"\nkeywords:\n  - x\nkey: old\nid: 20240601100000\n---\n\n@cite [-@other]\n',
    "Logseq": "key:: old\nother:: x\n\n- block\n  id:: 64a\n",
    "MultiMarkdown": "key: old\nother: x\n\nbody\n",
    "Quarto": "---\ntitle: A\nformat:\n  html:\n    toc: true\na: {b: false}\nkey: old\n---\n```{r}\n#| a: b\n```\n",
    "R Markdown": '---\ntitle: A\ndate: "`r Sys.Date()`"\nkey: old\noutput: html_document\n---\n\n```{r}\n1\n```\n',
    "Marp": "---\nmarp: true\nkey: old\nstyle: |\n  section { color: red }\n---\n# One\n\n---\n\n# Two\n",
    "basic-memory": "---\ntitle: A\npermalink: notes/a\nkey: old\n---\n- [fact] text #tag (context)\n- about [[B]]\n",
    "agent skill": '---\nname: a\ndescription: Use when: never; says "x"\nkey: old\n---\nbody\n',
    "Cursor rule": "---\ndescription: \nglobs: *.ts,*.tsx\nalwaysApply: false\nkey: old\n---\nbody\n",
}

_BROKEN: Final[dict[str, str | bytes]] = {
    "colon in a value": "---\nkey: Deploy: the sequel\nother: x\n---\nbody\n",
    "colon in another value": "---\nkey: old\nother: Deploy: the sequel\n---\nbody\n",
    "quotes in quotes": '---\nkey: "abc "def" ghi"\nother: x\n---\nbody\n',
    "quote never closed": "---\nkey: 'old\nother: x\n---\nbody\n",
    "bracket never closed": "---\nkey: [a, b\nother: x\n---\nbody\n",
    "tab for indentation": "---\nkey:\n\t- a\nother: x\n---\nbody\n",
    "backquote": "---\nkey: old\nother: `x`\n---\nbody\n",
    "at sign": "---\nkey: old\nother: @someone\n---\nbody\n",
    "line without a colon": "---\nkey: old\nloose words\nother: x\n---\nbody\n",
    "dedent to nowhere": "---\nother:\n    a: 1\n  b: 2\nkey: old\n---\nbody\n",
    "alias to nothing": "---\nkey: *nowhere\nother: x\n---\nbody\n",
    "glob as a value": "---\nkey: old\nother: **/*.md\n---\nbody\n",
    "conflict in the block": "---\n<<<<<<< a\nkey: old\n=======\nkey: x\n>>>>>>> b\nother: x\n---\nbody\n",
    "conflict in the body": "---\nkey: old\nother: x\n---\n<<<<<<< a\none\n=======\ntwo\n>>>>>>> b\n",
}


def _sizes() -> dict[str, str | bytes]:
    line = "The quick brown fox jumps over the lazy dog, and so on until the line ends.\n"
    return {
        "5 MB of body": "---\nkey: old\nother: x\n---\n" + line * 66_000,
        "10,000 headings": "---\nkey: old\nother: x\n---\n"
        + "".join(f"## Part {n}\n\ntext\n\n" for n in range(10_000)),
        "one line of 1 MB": "---\nkey: old\nother: x\n---\n" + "word " * 200_000 + "\n",
        "a value of 50 kB": f"---\nkey: old\nother: {'word ' * 10_000}end\n---\nbody\n",
        "a quoted value of 50 kB": f'---\nkey: old\nother: "{"wörd: " * 7_000}end"\n---\nbody\n',
        "2,000 keys": "---\nkey: old\n" + "".join(f"k{n}: {n:04}\n" for n in range(2_000)) + "---\nbody\n",
        "5,000 items": "---\nkey: old\nother:\n" + "".join(f"  - item {n}\n" for n in range(5_000)) + "---\nbody\n",
        "300 kB of frontmatter": "---\nkey: old\nother: |\n" + f"  {line}" * 4_000 + "---\nbody\n",
        "lists 100 deep": f"---\nkey: old\nother: {'[' * 100}x{']' * 100}\n---\nbody\n",
        "lists 5,000 deep": f"---\nkey: old\nother: {'[' * 5_000}x{']' * 5_000}\n---\nbody\n",
    }


FILE_PAGES: Final[tuple[OddPage, ...]] = (
    *pages_of("bytes and line ends", _BYTES),
    *pages_of("fences", _FENCES),
    *pages_of("pages of other tools", _TOOLS),
    *pages_of("broken YAML", _BROKEN),
    *pages_of("sizes", _sizes()),
)
