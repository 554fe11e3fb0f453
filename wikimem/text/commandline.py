"""A shell's command line, taken apart: which programs it runs, with their words, through wrappers and substitutions.

    commands_in('cd api && timeout 20 npm test')  # [["cd", "api"], ["npm", "test"]]

It is read the way a shell reads it as far as that tells the programs: quotes, `$(…)`, subshells, loops and
here-documents. Keywords, assignments and redirections are left out, wrappers (`sudo`, `nice`, `xargs`, `uv run`) with
their options, and `bash -c` stands for the line that it is given. What is no valid line gives what can be told of it.
Nothing here raises.
"""

from __future__ import annotations

from wikimem.text.redact_values import compiled, word_set

MOST_CHARACTERS = 20_000
"""Of a command line that are read."""

_MOST_DEPTH = 8
_MOST_WRAPPERS = 12
_RUN = r"[^\s\\'\"$`()<>;|&#]+"
_BREAK = r"\|\||&&|\|&|;;?&?|[|&\n]"
_REDIRECTION = r"&>>?|<<<|<<-?|[<>]{1,2}[&|]?"
_IN_QUOTES = r"[^\\\"$`]+"
_DELIMITER = r"[ \t]*(?:'([^'\n]*)'|\"([^\"\n]*)\"|\\?([^\s;|&<>()]+))"
_ASSIGNED = r"(?s)[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=.*"
_KEYWORDS = word_set("if then elif else fi while until do done esac ! { } time coproc")
_HEADS = word_set("for select case function")
_SHELLS = word_set("sh bash zsh dash ksh fish ash")
_LINES = word_set("watch eval parallel xargs")
_SCRIPT_OPTION = r"-[a-zA-Z]*c|--command"
_PYTHON = r"(?:python|pypy)[\d.]*(?:\.exe)?"

# What each wrapper does with what follows: options that take a value, and words before the command.
_WRAPPERS: dict[str, tuple[str, int]] = {
    "sudo": ("-u -g -h -p -C -r -t -U -D -R -T --user --group --chdir", 0),
    "doas": ("-u -C", 0),
    "env": ("-u -C -S --unset --chdir", 0),
    "nice": ("-n --adjustment", 0),
    "ionice": ("-c -n -p --class --classdata", 0),
    "timeout": ("-k -s --kill-after --signal", 1),
    "time": ("-f -o --format --output", 0),
    "xargs": ("-n -I -P -L -d -a -E -s --max-args --max-procs --replace --delimiter --arg-file", 0),
    "parallel": ("-j -N --jobs", 0),
    "stdbuf": ("-i -o -e", 0),
    "taskset": ("", 1),
    "flock": ("-w -E --timeout", 1),
    "chrt": ("", 1),
    "watch": ("-n --interval", 0),
    "exec": ("-a", 0),
    "npx": ("-p --package -w --workspace", 0),
    "bunx": ("", 0),
    "pnpx": ("", 0),
    "uvx": ("--from --with -p --python", 0),
    **dict.fromkeys(("command", "builtin", "nohup", "setsid", "unbuffer", "caffeinate", "chronic", "eval"), ("", 0)),
}
# The same for what only runs another program after a word of its own.
_RUNNERS: dict[str, tuple[str, str]] = {
    "uv": ("run", "--with --with-requirements --with-editable -p --python --project --directory --extra --group "
                  "--env-file --package --index --refresh-package"),
    "poetry": ("run", "-C --directory -P --project"),
    "pipenv": ("run", "--python"),
    "pdm": ("run", "-p --project"),
    "hatch": ("run", "-e --env"),
    "rye": ("run", ""),
    "pixi": ("run", "-e --environment"),
    "pipx": ("run", "--spec --python"),
    "conda": ("run", "-n --name -p --prefix"),
    "mamba": ("run", "-n --name -p --prefix"),
    "bundle": ("exec", ""),
    "mise": ("exec", ""),
    "coverage": ("run", "--source --omit --include --rcfile --context --data-file"),
}  # fmt: skip


def commands_in(line: str) -> list[list[str]]:
    """The words of each program that a command line runs, in order, without quotes; see the module."""
    return _commands(line[:MOST_CHARACTERS], 0)


def program_of(words: list[str]) -> str:
    """The name of the program that the words of a command run, without its folder."""
    name = words[0].replace("\\", "/").rpartition("/")[2] if words else ""
    return name[:-4] if name.lower().endswith(".exe") else name


def _commands(line: str, depth: int) -> list[list[str]]:
    if depth > _MOST_DEPTH:
        return []
    reader = _Reader(line, depth)
    reader.read()
    return reader.found


class _Reader:
    """Reads one line from its beginning to its end; `found` are its commands."""

    def __init__(self, text: str, depth: int) -> None:
        self.text = text
        self.depth = depth
        self.at = 0
        self.found: list[list[str]] = []
        self.bodies: list[tuple[str, str]] = []

    def read(self, closing: str = "") -> None:
        """Read commands up to `closing`, or to the end; `at` is behind it then."""
        words: list[str] = []
        word: str | None = None
        target = False
        while self.at < len(self.text):
            char = self.text[self.at]
            plain = compiled(_RUN).match(self.text, self.at)
            if plain is not None:
                word = (word or "") + plain[0]
                self.at = plain.end()
                continue
            piece = self._piece(char, begins=word is None)
            if piece is not None:
                word = (word or "") + piece if piece or char != "#" else word
                continue
            redirected = self._redirection()
            if redirected and word is not None and word.isdigit():
                word = None
            if word is not None and not target:
                words.append(word)
            target = redirected or (target and word is None)
            word = None
            if redirected:
                continue
            if char in " \t\r\f\v" or not (char == closing or self._ends(words)):
                self.at += 1
                continue
            if char == "(" and words and self.text[self.at - 1] not in " \t\n":
                words = []  # a function that is defined
            self._take(words)
            words, target = [], False
            if char == closing:
                self.at += 1
                return
            self._pass()
        self._take([*words, word] if word is not None and not target else words)

    def _ends(self, words: list[str]) -> bool:
        """Whether what stands here ends a command: not within `[[ … ]]`."""
        return words[:1] != ["[["] or "]]" in words

    def _pass(self) -> None:
        """Go behind what ended a command, and behind the here-documents that follow its line."""
        found = compiled(_BREAK).match(self.text, self.at)
        ended = self.text[self.at] == "\n"
        self.at = found.end() if found is not None else self.at + 1
        while ended and self.bodies:
            program, delimiter = self.bodies.pop(0)
            end = compiled(rf"(?m)^\t*{_quoted(delimiter)}$").search(self.text, self.at)
            body = self.text[self.at : end.start() if end is not None else len(self.text)]
            if program in _SHELLS:
                self.found += _commands(body, self.depth + 1)
            self.at = end.end() if end is not None else len(self.text)

    def _piece(self, char: str, *, begins: bool) -> str | None:
        """What a quote, an escape, a substitution or a comment adds to a word; None where it is none of these."""
        following = self.text[self.at + 1 : self.at + 2]
        if char == "\\":
            self.at += 2
            return "" if following == "\n" else following
        if char == "'":
            end = self.text.find("'", self.at + 1)
            end = end if end >= 0 else len(self.text)
            piece, self.at = self.text[self.at + 1 : end], end + 1
            return piece
        if char == '"':
            self.at += 1
            return self._quoted()
        if char == "`" or (char in "$<>" and following == "("):
            return self._substituted(char)
        if char == "$":
            self.at += 1
            return char
        if char == "#":
            end = self.text.find("\n", self.at) if begins else self.at + 1
            self.at = end if end >= 0 else len(self.text)
            return "" if begins else char
        return None

    def _quoted(self) -> str:
        parts: list[str] = []
        while self.at < len(self.text) and self.text[self.at] != '"':
            char = self.text[self.at]
            plain = compiled(_IN_QUOTES).match(self.text, self.at)
            if plain is not None:
                parts.append(plain[0])
                self.at = plain.end()
            elif char == "\\":
                parts.append(self.text[self.at + 1 : self.at + 2])
                self.at += 2
            elif char == "`" or self.text[self.at + 1 : self.at + 2] == "(":
                parts.append(self._substituted(char))
            else:
                parts.append(char)
                self.at += 1
        self.at += 1
        return "".join(parts)

    def _substituted(self, char: str) -> str:
        """Take the commands of a substitution; in its place stands a `$`."""
        self.depth += 1
        if char == "`":
            end = self.text.find("`", self.at + 1)
            end = end if end >= 0 else len(self.text)
            self.found += _commands(self.text[self.at + 1 : end], self.depth)
            self.at = end + 1
        elif self.depth > _MOST_DEPTH:
            self.at = len(self.text)
        elif self.text.startswith("$((", self.at):
            end = self.text.find("))", self.at)
            self.at = end + 2 if end >= 0 else len(self.text)
        else:
            self.at += 2
            self.read(")")
        self.depth -= 1
        return "$"

    def _redirection(self) -> bool:
        found = compiled(_REDIRECTION).match(self.text, self.at)
        if found is None:
            return False
        self.at = found.end()
        if found[0] in ("<<", "<<-"):
            delimiter = compiled(_DELIMITER).match(self.text, self.at)
            if delimiter is not None:
                self.bodies.append(("", next(part for part in delimiter.groups() if part is not None)))
        return True

    def _take(self, words: list[str]) -> None:
        plain = _without_keywords(words)
        if not plain:
            return
        if self.bodies and program_of(plain) in _SHELLS:
            self.bodies = [(program_of(plain), delimiter) for _, delimiter in self.bodies]
        self.found += _unwrapped(plain, self.depth)


def _quoted(text: str) -> str:
    from re import escape

    return escape(text)


def _without_keywords(words: list[str]) -> list[str]:
    at = 0
    while at < len(words) and (words[at] in _KEYWORDS or compiled(_ASSIGNED).fullmatch(words[at])):
        at += 1
    return [] if words[at : at + 1] and words[at] in _HEADS else words[at:]


def _unwrapped(words: list[str], depth: int) -> list[list[str]]:
    """What a wrapper runs in the end: a command, or those of the line that a shell is given."""
    for _ in range(_MOST_WRAPPERS):
        program = program_of(words)
        if program in _SHELLS or program == "su":
            script = _script(words)
            return _commands(script, depth + 1) if script else [words]
        inner = _inner(program, words)
        if not inner:
            return [words]
        if program in _LINES and (program == "eval" or any(map(str.isspace, inner[0]))):
            return _commands(" ".join(inner), depth + 1)
        words = inner
    return [words]


def _script(words: list[str]) -> str:
    """The line that a shell is given with `-c`; agents that join their words without quotes give it in several."""
    for at, word in enumerate(words[1:], 1):
        if compiled(_SCRIPT_OPTION).fullmatch(word):
            return " ".join(words[at + 1 :])
    return ""


def _inner(program: str, words: list[str]) -> list[str]:
    """The command after a wrapper, its options and its own words; empty for what wraps nothing."""
    if program == "command" and words[1:2] and words[1] in ("-v", "-V"):
        return []
    if compiled(_PYTHON).fullmatch(program):
        return _module(words[1:])
    if program in _WRAPPERS:
        valued, positions = _WRAPPERS[program]
        return _without_keywords(_after_options(words[1:], valued, positions))
    runner = ("run", _RUNNERS["uv"][1]) if program == "uv" and words[1:2] == ["tool"] else _RUNNERS.get(program)
    if runner is None:
        return []
    told, valued = runner
    rest = _after_options(words[1 + (words[1:2] == ["tool"]) :], valued, 0)
    return _after_options(rest[1:], valued, 0) if rest[:1] == [told] else []


def _after_options(words: list[str], valued: str, positions: int) -> list[str]:
    """What follows options and so many words; `-m` names the program of a Python module."""
    takes_value = valued.split()
    at = 0
    while at < len(words):
        word = words[at]
        if word == "--":
            at += 1
        elif word in ("-m", "--module"):
            return words[at + 1 :]
        elif word.startswith("-"):
            at += 2 if word in takes_value else 1
        elif compiled(_ASSIGNED).fullmatch(word):
            at += 1
        elif positions:
            positions -= 1
            at += 1
        else:
            break
    return words[at:]


def _module(words: list[str]) -> list[str]:
    """What `python -m` runs, by the module's name."""
    at = 0
    while at < len(words) and words[at].startswith("-"):
        if words[at] == "-m":
            return words[at + 1 :]
        if words[at] == "-c":
            return []
        at += 2 if words[at] in ("-X", "-W") else 1
    return []
