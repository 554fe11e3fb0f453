"""Libraries that code says it needs: imports, manifests, lock files and install commands."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Collection, Iterator
from typing import Final

from wikimem.graph.extraction.found import Extracted, Named, Setting
from wikimem.graph.extraction.sentences import Block
from wikimem.graph.extraction.wellknown import is_built_in, is_package_name
from wikimem.graph.vocabulary import STATED

_JAVASCRIPT: Final = frozenset(("js", "jsx", "ts", "tsx", "javascript", "typescript", "mjs", "cjs", "vue", "svelte"))
_PYTHON: Final = frozenset(("py", "python", "python3", "pyi"))
_SHELL: Final = frozenset(("sh", "bash", "zsh", "shell", "console", "terminal", "text", ""))
_LANGUAGE_OF: Final = {
    **dict.fromkeys(_JAVASCRIPT, "javascript"),
    **dict.fromkeys(_PYTHON, "python"),
    "go": "go",
    "golang": "go",
    "rs": "rust",
    "rust": "rust",
}
_IMPORTS: Final = {
    "javascript": (
        re.compile(r"^[ \t]*(?:import|export)\s(?:[^'\"\n;]*?\sfrom\s+)?['\"]([^'\"\n]+)['\"]", re.MULTILINE),
        re.compile(r"\b(?:require|import)\(\s*['\"]([^'\"\n]+)['\"]\s*\)"),
    ),
    "python": (
        re.compile(r"^[ \t]*import[ \t]+([A-Za-z_][\w.]*)(?:[ \t]+as[ \t]+\w+)?[ \t]*(?:#.*)?$", re.MULTILINE),
        re.compile(r"^[ \t]*from[ \t]+([A-Za-z_][\w.]*)[ \t]+import\b", re.MULTILINE),
    ),
    "go": (re.compile(r"^[ \t]*(?:import[ \t]+)?(?:\w+[ \t]+)?\"([\w.-]+\.[\w-]+/[\w./-]+)\"", re.MULTILINE),),
    "rust": (re.compile(r"^[ \t]*(?:pub[ \t]+)?use[ \t]+([a-z_]\w*)(?:::|;)", re.MULTILINE),),
}
_DISTRIBUTIONS: Final = {
    "bs4": "beautifulsoup4",
    "yaml": "PyYAML",
    "PIL": "Pillow",
    "sklearn": "scikit-learn",
    "cv2": "opencv-python",
    "dateutil": "python-dateutil",
    "jwt": "PyJWT",
    "dotenv": "python-dotenv",
    "git": "GitPython",
}
"""Modules of Python whose distribution has another name."""
_INSTALL: Final = re.compile(
    r"(?<![\w-])(?:"
    r"npm[ \t]+(?:i|install|add)|pnpm[ \t]+(?:add|i|install)|yarn[ \t]+(?:global[ \t]+)?add"
    r"|bun[ \t]+(?:add|i|install)|deno[ \t]+add"
    r"|(?:uv[ \t]+)?pip3?[ \t]+install|python3?[ \t]+-m[ \t]+pip[ \t]+install|uv[ \t]+add|poetry[ \t]+add"
    r"|pipx[ \t]+install"
    r"|cargo[ \t]+(?:add|install)|go[ \t]+(?:get|install)|gem[ \t]+install|bundle[ \t]+add|composer[ \t]+require"
    r"|dotnet[ \t]+add[ \t]+package"
    r")[ \t]+([^\n`|&;<>()]+)"
)
_OF_PIP: Final = frozenset(("setuptools", "wheel"))
"""What is brought up to date together with pip, for pip."""
_STOPS: Final = frozenset(
    """
    and then to for in because but failed fails the with on again after so or from it which
    """.split()  # noqa: SIM905
)
_TAKES_VALUE: Final = frozenset(
    ("-r", "-c", "-e", "-t", "-i", "--features", "--index-url", "--target", "--filter", "-F", "--group")
)
_VERSION: Final = re.compile(r"(?<=.)(?:@[\w.^~*<>=-]+|\[[\w,-]+\]|[=~!<>^]=?.*|\s.*)$")
_FAILED: Final = re.compile(r"\b(?:fail(?:ed|s|ure)?|error|not found|ERR!|cannot|could not)\b", re.IGNORECASE)
_REQUIREMENT: Final = re.compile(r"^([A-Za-z0-9][\w.-]*)(?:\[[^\]]*\])?\s*(?:[=~!<>]=|===)\s*[\w.*]+", re.MULTILINE)
_TOML_TABLE: Final = re.compile(r"^\[([^\]\n]+)\]\s*$([^\[]*)", re.MULTILINE)
_TOML_KEY: Final = re.compile(r"^([A-Za-z0-9][\w-]*)\s*=\s*(?:\"|\{)", re.MULTILINE)
_DEPENDENCIES: Final = re.compile(r"^dependencies\s*=\s*\[(.*?)\]", re.MULTILINE | re.DOTALL)
_GO_REQUIRE: Final = re.compile(r"^\s*(?:require\s+)?([\w.-]+\.[\w-]+/[\w./-]+)\s+v\d", re.MULTILINE)
_LOCKED: Final = (
    re.compile(r"\"node_modules/((?:@[\w.-]+/)?[\w.-]+)\"\s*:"),
    re.compile(r"^\[\[package\]\]\s*\nname\s*=\s*\"([^\"]+)\"", re.MULTILINE),
    re.compile(r"^\"?((?:@[\w.-]+/)?[\w.-]+)@(?:npm:)?[\^~]?\d[^\n]*:\s*\n\s+version", re.MULTILINE),
)


def imported(text: str, language: str, setting: Setting) -> Iterator[Extracted]:
    """What the code of a block, or of a file, imports: its libraries, and files beside it."""
    kind = _LANGUAGE_OF.get(language)
    who = setting.file or setting.project
    if kind is None or who is None:
        return
    for pattern in _IMPORTS[kind]:
        for match in pattern.finditer(text):
            target = _target(match[1], kind, setting.file)
            if target is not None and target != who:
                yield Extracted(who, "imports", target, STATED, match[0].strip())


def installed(text: str, setting: Setting) -> Iterator[Extracted]:
    """What install commands in a text add to the project. A command that failed adds nothing."""
    if setting.project is None:
        return
    for match in _INSTALL.finditer(text):
        line_end = text.find("\n", match.end())
        if _FAILED.search(text[match.end() : line_end if line_end >= 0 else len(text)]):
            continue
        names = list(_packages(match[1]))
        itself = _itself(match[0][: match.start(1) - match.start()], names)
        for name in names:
            if name in itself:
                continue
            yield Extracted(setting.project, "depends_on", Named("library", name), STATED, match[0].strip())


def declared(block: Block, setting: Setting) -> Iterator[Extracted]:
    """What a manifest or a lock file in a code block names."""
    if setting.project is None:
        return
    for name, quote in _declared(block):
        if is_package_name(name):
            yield Extracted(setting.project, "depends_on", Named("library", name), STATED, quote)


def is_shell(language: str) -> bool:
    return language in _SHELL


def _target(name: str, kind: str, file: Named | None) -> Named | None:
    if name.startswith((".", "/", "~", "@/", "#")):
        if file is None or not name.startswith("."):
            return None
        path = posixpath.normpath(posixpath.join(posixpath.dirname(file.name), name))
        return None if path.startswith("..") or "." not in posixpath.basename(path) else Named("file", path)
    if is_built_in(name, kind):
        return None
    if kind == "javascript":
        parts = name.split("/")
        package = "/".join(parts[: 2 if name.startswith("@") else 1])
    elif kind == "go":
        package = "/".join(name.split("/")[:3])
    else:
        package = re.split(r"\.|::", name)[0]
        package = _DISTRIBUTIONS.get(package, package)
    return Named("library", package) if is_package_name(package) else None


def _itself(command: str, names: Collection[str]) -> frozenset[str]:
    """What a tool installs of itself: `pip install --upgrade pip setuptools` makes the project depend on neither."""
    tools = {word.rstrip("3") for word in command.split()} & set(names)
    return frozenset(tools | (_OF_PIP if "pip" in tools else set()))


def _packages(arguments: str) -> Iterator[str]:
    skip = False
    for word in (written.strip("\"'`,") for written in arguments.split()):
        if skip or word.startswith("-"):
            skip = not skip and word in _TAKES_VALUE
            continue
        if word.casefold() in _STOPS or word.endswith((".", ":")):
            name = _VERSION.sub("", word.rstrip(".:"))
            if word.casefold() not in _STOPS and is_package_name(name):
                yield name
            return
        name = _VERSION.sub("", word)
        if (
            not is_package_name(name)
            or "://" in word
            or word.startswith((".", "/"))
            or word.endswith((".txt", ".whl", ".gz"))
        ):
            return
        yield name


def _declared(block: Block) -> Iterator[tuple[str, str]]:
    if block.language in ("json", "jsonc", "package.json"):
        yield from _of_json(block.text)
    if block.language in ("toml", "pyproject.toml", "cargo.toml"):
        yield from _of_toml(block.text)
    if block.language in ("txt", "requirements", "requirements.txt", "pip-requirements"):
        yield from ((match[1], match[0]) for match in _REQUIREMENT.finditer(block.text))
    if block.language in ("go.mod", "gomod", "mod"):
        yield from ((match[1], match[0].strip()) for match in _GO_REQUIRE.finditer(block.text))
    for pattern in _LOCKED:
        yield from ((match[1], match[0].strip()) for match in pattern.finditer(block.text))


def _of_json(text: str) -> Iterator[tuple[str, str]]:
    try:
        said = json.loads(text)
    except ValueError:
        return
    for key in ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies"):
        wanted = said.get(key) if isinstance(said, dict) else None
        for name in wanted if isinstance(wanted, dict) else ():
            match = re.search(rf'"{re.escape(name)}"\s*:\s*"[^"\n]*"', text)
            if match:
                yield name, match[0]


def _of_toml(text: str) -> Iterator[tuple[str, str]]:
    for match in _DEPENDENCIES.finditer(text):
        for written in re.findall(r"[\"']([^\"'\n]+)[\"']", match[1]):
            name = re.split(r"[\s\[=~!<>;@]", written)[0]
            if name:
                yield name, written
    for table in _TOML_TABLE.finditer(text):
        if re.fullmatch(r"(?:.*\.)?(?:dev-|build-)?dependencies", table[1].strip()):
            for key in _TOML_KEY.finditer(table[2]):
                line = table[2][key.start() :].splitlines()[0]
                if key[1] != "python":
                    yield key[1], line
