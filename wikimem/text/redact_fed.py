"""Secrets that a shell feeds to a program which reads them from its standard input.

    printf '%s\\n' SECRET | sudo -S ...        echo SECRET | gh secret set NAME        chpasswd <<< "user:SECRET"

Looked for where `echo`, `printf` or `<<` stands; then the program on the other side decides.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from wikimem.text.redact_values import compiled, is_placeholder, word_set

Found = tuple[str, int, int]
_Pieces = list[tuple[int, int, int]]

_BLANK = r"(?:[ \t]|\\\r?\n)"
# A part of a word: in quotes of some kind, what a shell would put in its place (no group), or bare.
_PIECE = (
    r"\$?\"((?:[^\"\\\n]|\\.){0,400})\"|\$?'([^'\n]{0,400})'|\\\"((?:[^\"\\\n]|\\[^\"\n]){0,400})\\\""
    r"|\$\{\{[^}\n]{0,100}\}\}|\$\{[^}\n]{0,100}\}|\$\([^()\n]{0,200}\)|`[^`\n]{0,200}`|<[^<>|\n]{1,60}>"
    r"|((?:[^\s\"'`;|&<>(){}\\]|\\[^\s\"]){1,400})"
)
_MOST_PIECES = 24
_SAYS = r"(?<![\w.\-])(?:echo|printf)(?![\w.\-])"

# Several in brackets may feed one program: (echo a; echo a) | passwd
_TO_PIPE = (
    r"(?:[ \t]*;[ \t]*(?:echo|printf|sleep)[ \t][^;|)}\n]{0,200}){0,3}[ \t]*;?[ \t]*[)}]?[ \t]*\|(?!\|)(?:[ \t]*\r?\n)?"
)

# What says that a secret is read from standard input, wherever it stands: an option, or a program for nothing else.
_IS_STDIN = r"(?:-(?=\s|$)|/dev/stdin)"
_GAP = r"[ \t]{1,8}"
_SUDO_OPTION = rf"{_BLANK}{{1,8}}(?:-[A-Za-z]{{1,9}}|--[a-z\-]{{2,30}})(?:[ =](?!-)[\w.@]{{1,40}})?"
_ASKS = "|".join(
    (
        r"(?i:-stdin)\b",
        r"--with-token\b",
        rf"--(?:pass|passphrase|password|pinentry|key)-?(?:fd|file)[ \t=]{{1,4}}(?:0\b|{_IS_STDIN})",
        r"-pass(?:in|out)?[ \t=]{1,4}[\"']?(?:stdin|fd:0)\b",
        rf"--data-file={_IS_STDIN}",
        rf"\bsudo\b(?:{_SUDO_OPTION}){{0,5}}?{_BLANK}{{1,8}}(?:-[A-Za-z]{{0,9}}S|--stdin)\b",
        r"\b(?:chpasswd|smbpasswd|kinit|vncpasswd|mkpasswd|cryptsetup)\b",
        r"\bhtpasswd[ \t]{1,8}-[A-Za-z]{0,6}i\b",
        r"\b(?:go)?pass[ \t]{1,8}insert\b",
        r"\bsecret-tool[ \t]{1,8}store\b",
        r"\bsystemd-creds[ \t]{1,8}encrypt\b",
        rf"\bgh{_GAP}(?:-\S{{1,60}}{_GAP})?secret{_GAP}set\b",
        rf"\bwrangler{_GAP}(?:pages{_GAP}|versions{_GAP})?secret[ \t:]{{1,8}}put\b",
        rf"\b(?:vercel|vc){_GAP}env{_GAP}add\b",
        rf"\bglab{_GAP}variable{_GAP}set\b",
        r"\bfunctions:secrets:set\b",
        rf"\b(?:docker|podman){_GAP}secret{_GAP}create\b",
        rf"\bcircleci{_GAP}context{_GAP}store-secret\b",
        rf"\b(?:vault{_GAP}login|rclone{_GAP}obscure){_GAP}-(?=\s|$)",
        rf"\b(?:doppler|infisical){_GAP}secrets{_GAP}set\b",
        rf"\bpulumi{_GAP}config{_GAP}set\b[^\n|]{{0,100}}--secret\b",
    )
)
# One of these stands in every command that _ASKS finds.
_HINTS = (
    "stdin", "token", "pass", "pinentry", "-key", "data-file", "sudo", "kinit", "cryptsetup", "creds", "secret", "env",
    "variable", "login", "obscure",
)  # fmt: skip
# Programs that ask for a password at once; words of prose too, so they must be the command itself.
_ITSELF = rf"{_BLANK}{{0,8}}(?:sudo{_BLANK}{{1,8}})?(?:su|passwd)(?=[ \t]|$|[\r\n\"'`])"
_REACH = 240  # characters of the other side of a pipe, or of the command before a here-string
_PAIRS = r"\bchpasswd\b"  # it takes user:password
_DOCUMENT = r"<<-?[ \t]{0,8}[\"']?(\w{1,40})[\"']?[^\n]{0,200}\n((?:[^\n]{0,400}\n){1,20}?)[ \t]{0,20}\1(?=\s|$)"
_FORMAT = r"%[\-+ #0-9.]{0,8}[a-zA-Z]"
_BREAKS = r"(?:\\{1,2}[rn0])+"
_FLAG = r"-[neE]{1,3}|--"
# What is typed to answer a question, and is no secret.
_ANSWERS = word_set("yes quit exit")


def find_fed(text: str, low: str) -> Iterator[Found]:
    """Secrets before a pipe or in a here-string, as (kind, start, end)."""
    for anchor in ("echo", "printf"):
        at = low.find(anchor)
        while at >= 0:
            yield from _piped(text, at, anchor)
            at = low.find(anchor, at + len(anchor))
    at = low.find("<<")
    while at >= 0:
        mark = compiled(r"<{2,60}").match(text, at)
        end = mark.end() if mark else at + 2
        if end - at <= 3:  # more mark a merge conflict
            yield from _here(text, at)
        at = low.find("<<", end)


def _piped(text: str, at: int, says: str) -> Iterator[Found]:
    if compiled(f"(?i:{_SAYS})").match(text, at) is None:
        return
    words, end = _words(text, at + len(says))
    pipe = compiled(_TO_PIPE).match(text, end) if words else None
    if pipe is None:
        return
    other = compiled(rf"(?:[^\n\\]|\\\r?\n|\\[^\n]){{0,{_REACH}}}").match(text, pipe.end())
    command = other.group() if other else ""
    asks = _asks(command)
    if not asks and compiled(_ITSELF).match(command) is None:
        return
    while words and compiled(_FLAG).fullmatch(_shown(text, words[0])):
        words = words[1:]
    pairs = compiled(_PAIRS).search(command) is not None
    if says == "printf" and len(words) > 1:
        conversions = len(compiled(_FORMAT).findall(_shown(text, words[0])))
        words = words[1:]
        if pairs and conversions == 2:
            words = words[1::2]  # user, password, user, password, ...
    # Who is root already feeds `su` what its command reads: a statement, which has blanks, and no password.
    if asks or (len(words) == 1 and not any(char.isspace() for char in _shown(text, words[0]))):
        yield from _secrets(text, words, pairs=pairs)


def _here(text: str, at: int) -> Iterator[Found]:
    """What `<<` or `<<<` gives to the command before it."""
    string = text.startswith("<<<", at)
    document = None if string else compiled(_DOCUMENT).match(text, at)
    if not string and document is None:
        return
    command = _command_before(text, at)
    if document is not None:
        command += text[at : document.start(2)].replace("\n", "")  # cat <<EOF | chpasswd
    if not _asks(command) and compiled(rf"(?:^|[|;&(]|^[$#>]){_ITSELF}").search(command) is None:
        return
    pairs = compiled(_PAIRS).search(command) is not None
    if document is None:
        words, _ = _words(text, at + 3, most=1)
        yield from _secrets(text, words, pairs=pairs)
        return
    start, end = document.span(2)
    while start < end:
        stop = text.find("\n", start, end)
        blanks = compiled(r"[ \t]*").match(text, start, stop)
        yield from _lines(text, blanks.end() if blanks else start, stop, pairs=pairs)
        if not pairs:
            return  # the first line is the secret, and the rest may be what the program works on
        start = stop + 1


def _asks(command: str) -> bool:
    low = command.lower()
    return any(hint in low for hint in _HINTS) and compiled(_ASKS).search(command) is not None


def _command_before(text: str, at: int) -> str:
    line = max(text.rfind("\n", max(at - _REACH, 0), at) + 1, at - _REACH, 0)
    while line > 1 and text[line - 2 : line] == "\\\n" and at - line < _REACH:
        line = text.rfind("\n", 0, line - 1) + 1
    return text[line:at]


def _words(text: str, at: int, most: int = _MOST_PIECES) -> tuple[list[_Pieces], int]:
    """The words of a command from `at`, each as its pieces (start, end, whether literal), and where they end."""
    words: list[_Pieces] = []
    for _ in range(_MOST_PIECES):
        gap = compiled(rf"{_BLANK}{{0,40}}").match(text, at)
        place = gap.end() if gap else at
        piece = compiled(_PIECE).match(text, place)
        if piece is None or (len(words) == most and place > at):
            return words, place
        number = piece.lastindex or 0
        if place > at or not words:
            words.append([])
        words[-1].append((*piece.span(number), int(number > 0)))
        at = piece.end()
    return words, at


def _shown(text: str, word: _Pieces) -> str:
    return "".join(text[start:end] for start, end, _ in word)


def _secrets(text: str, words: Sequence[_Pieces], *, pairs: bool) -> Iterator[Found]:
    for word in words:
        for start, end, literal in word:
            if literal:
                yield from _lines(text, start, end, pairs=pairs)


def _lines(text: str, start: int, end: int, *, pairs: bool) -> Iterator[Found]:
    """The lines of one literal, which a program takes one after the other; with `pairs` each is user:password."""
    at = start
    for mark in [*compiled(_BREAKS).finditer(text, start, end), None]:
        stop = mark.start() if mark else end
        if pairs and (colon := text.find(":", at, stop)) >= 0:
            at = colon + 1
        value = text[at:stop]
        plain = compiled(rf"(?:{_FORMAT}|%%|[\s:])*").fullmatch(value) or value.lower() in _ANSWERS
        if len(value) >= 3 and not plain and not is_placeholder(value):
            yield "password", at, stop
        at = mark.end() if mark else end
