"""The language server on standard input and output. It reads vaults and open buffers, and writes to neither."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

from lsprotocol import types
from msgspec import Struct
from pygls.exceptions import FeatureRequestError
from pygls.lsp.server import LanguageServer

from wikimem import __version__
from wikimem.errors import WikimemError
from wikimem.model.authoring import Finding
from wikimem.operations.authoring import findings_of_place, findings_of_text
from wikimem.operations.completing import complete
from wikimem.operations.pointing import definition, hover, references, sections
from wikimem.surfaces.lsp import answers
from wikimem.surfaces.lsp.desk import Desk, OpenPage, Start
from wikimem.surfaces.lsp.positions import Encoding, Lines
from wikimem.text.redact import mask_without_key

log = logging.getLogger(__name__)

Result = TypeVar("Result")

TYPING_REST_S: Final = 0.3
"""How long somebody has to stop typing before the text is looked at."""
TRIGGERS: Final = ("[", "#", "^", ":", "/")

_WATCHER: Final = "wikimem-pages"


class Buffer(Struct, frozen=True):
    """An open file as it is in the editor. The framework's own store takes two spellings of a URI for one."""

    file: Path
    text: str
    version: int | None


class Server(LanguageServer):
    """The handlers' common ground: the desk, what is under way for each open page, what was said already."""

    def __init__(self, start: Start) -> None:
        super().__init__("wikimem", __version__, text_document_sync_kind=types.TextDocumentSyncKind.Full)
        self.desk = Desk(start, self._note)
        self.asked_to_shut_down = False
        self.buffers: dict[str, Buffer] = {}
        """The open files of this machine, by URI as the client writes it."""
        self._placed: dict[str, tuple[Finding, ...]] = {}
        """Findings that hold until the page is saved again."""
        self._checks: dict[str, asyncio.Task[None]] = {}
        self._said: set[str] = set()

    # Questions

    async def ask(self, uri: str, work: Callable[[OpenPage], Result], *, fresh: bool = False) -> Result | None:
        """Do `work` on an open page; None where the file is in no vault, or its vault cannot be opened, which is said
        once."""
        buffer = self.buffers.get(uri)
        if buffer is None:
            return None
        texts = {each.file: each.text for each in self.buffers.values()}
        try:
            return await self.desk.run(buffer.file, texts, work, fresh=fresh)
        except WikimemError as error:
            self._say(error)
            return None

    def lines(self, page: OpenPage) -> Lines:
        return Lines(page.page.text, self.encoding)

    @property
    def encoding(self) -> Encoding:
        """What the client counts characters by; UTF-16 unless it asked for another."""
        agreed = self.workspace.position_encoding
        return "utf-8" if agreed == "utf-8" else "utf-32" if agreed == "utf-32" else "utf-16"

    def uri_of(self, file: Path) -> str:
        """As the client writes it where the file is open there."""
        known = (uri for uri, buffer in list(self.buffers.items()) if buffer.file == file)
        return next(known, file.as_uri())

    def keep(self, uri: str, text: str, version: int | None) -> None:
        """Take the text of an open document; of one that is no file, nothing is kept, and nothing is said."""
        if file := answers.file_of(uri):
            self.buffers[uri] = Buffer(file, text, version)

    def _say(self, error: WikimemError) -> None:
        message = mask_without_key(f"wikimem: {error.message}. {error.hint}".strip())
        if message not in self._said:
            self._said.add(message)
            kind = types.MessageType.Warning if error.kind == "refused" else types.MessageType.Error
            self.window_show_message(types.ShowMessageParams(kind, message))

    def _note(self, note: str) -> None:
        log.warning("%s", note)

    # Diagnostics

    def check(self, uri: str, *, saved: bool, rest_s: float = 0.0) -> None:
        """Look at a page after `rest_s` seconds, unless it is to be looked at again by then."""
        if earlier := self._checks.pop(uri, None):
            earlier.cancel()
        task = asyncio.get_running_loop().create_task(self._check(uri, saved=saved, rest_s=rest_s))
        self._checks[uri] = task
        task.add_done_callback(self._checked)

    def check_all(self, rest_s: float = 0.0) -> None:
        """As `check` of every open page: another page, or another's file, has changed."""
        for uri in self.buffers:
            self.check(uri, saved=True, rest_s=rest_s)

    def forget(self, uri: str) -> None:
        """The page was closed: what was said of it goes."""
        if task := self._checks.pop(uri, None):
            task.cancel()
        self.buffers.pop(uri, None)
        self._placed.pop(uri, None)
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))

    async def _check(self, uri: str, *, saved: bool, rest_s: float) -> None:
        await asyncio.sleep(rest_s)
        if uri not in self.buffers:
            return
        version = self.buffers[uri].version
        saved = saved or uri not in self._placed

        def work(page: OpenPage) -> tuple[tuple[Finding, ...], tuple[Finding, ...] | None, Lines]:
            placed = findings_of_place(page.wiki, page.page.path, page.pages(), page.skipped) if saved else None
            return findings_of_text(page.wiki, page.page, page.read), placed, self.lines(page)

        found = await self.ask(uri, work, fresh=saved)
        if found is None:
            return
        of_text, placed, lines = found
        if placed is not None:
            self._placed[uri] = placed
        shown = answers.diagnostics([*of_text, *self._placed[uri]], lines)
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, shown, version))

    def _checked(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            self._bug(error)

    # Failures

    def report_server_error(self, error: Exception, source: Any) -> None:
        """A message that could not be understood, or a bug in a notification's handler; the server goes on."""
        if source is not FeatureRequestError:
            self._bug(error)

    def _bug(self, error: BaseException) -> None:
        log.error("%s", "".join(traceback.format_exception(error)))
        said = mask_without_key(f"wikimem: {type(error).__name__}; see the server's log")
        self.window_log_message(types.LogMessageParams(types.MessageType.Error, said))


def build_server(start: Start) -> Server:
    """The server with its handlers; all work on vaults goes through its desk."""
    server = Server(start)
    _add_requests(server)
    _add_notifications(server)
    return server


def _add_requests(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=list(TRIGGERS)))
    async def _completion(params: types.CompletionParams) -> types.CompletionList | None:
        def work(page: OpenPage) -> types.CompletionList:
            lines = server.lines(page)
            found = complete(page.wiki, page.page, lines.offset(params.position), page.read, page.pages)
            return answers.completion_list(found, lines)

        return await server.ask(params.text_document.uri, work)

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def _hover(params: types.HoverParams) -> types.Hover | None:
        markdown = _shows_markdown(server.client_capabilities)

        def work(page: OpenPage) -> types.Hover | None:
            lines = server.lines(page)
            found = hover(page.wiki, page.page, lines.offset(params.position), page.read)
            return answers.hover(found, lines, markdown=markdown) if found else None

        return await server.ask(params.text_document.uri, work)

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    async def _definition(params: types.DefinitionParams) -> list[types.Location] | None:
        def work(page: OpenPage) -> list[types.Location]:
            place = definition(page.wiki, page.page, server.lines(page).offset(params.position), page.read)
            return answers.locations([place] if place else [], _uris(server, page), server.encoding)

        return await server.ask(params.text_document.uri, work, fresh=True)

    @server.feature(types.TEXT_DOCUMENT_REFERENCES)
    async def _references(params: types.ReferenceParams) -> list[types.Location] | None:
        def work(page: OpenPage) -> list[types.Location]:
            offset = server.lines(page).offset(params.position)
            declared = params.context.include_declaration
            found = references(page.wiki, page.page, offset, page.read, opened=page.opened, declared=declared)
            return answers.locations(found, _uris(server, page), server.encoding)

        return await server.ask(params.text_document.uri, work, fresh=True)

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    async def _symbols(params: types.DocumentSymbolParams) -> list[types.DocumentSymbol] | None:
        return await server.ask(
            params.text_document.uri, lambda page: answers.symbols(sections(page.page), server.lines(page))
        )


def _uris(server: Server, page: OpenPage) -> answers.Locate:
    return lambda place: server.uri_of(page.wiki.root / place.path)


def _shows_markdown(client: types.ClientCapabilities) -> bool:
    hovers = client.text_document.hover if client.text_document else None
    return types.MarkupKind.Markdown in (hovers.content_format or () if hovers else ())


def _add_notifications(server: Server) -> None:
    @server.feature(types.INITIALIZED)
    async def _initialized(_: types.InitializedParams) -> None:
        await _watch_pages(server)

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def _opened(params: types.DidOpenTextDocumentParams) -> None:
        document = params.text_document
        server.keep(document.uri, document.text, document.version)
        server.check(document.uri, saved=True)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def _changed(params: types.DidChangeTextDocumentParams) -> None:
        document = params.text_document
        if document.uri in server.buffers and params.content_changes:
            server.keep(document.uri, params.content_changes[-1].text, document.version)
            server.check(document.uri, saved=False, rest_s=TYPING_REST_S)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def _saved(_: types.DidSaveTextDocumentParams) -> None:
        server.desk.expect_changes()
        server.check_all()

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def _closed(params: types.DidCloseTextDocumentParams) -> None:
        server.forget(params.text_document.uri)

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def _files_changed(_: types.DidChangeWatchedFilesParams) -> None:
        server.desk.expect_changes()
        server.check_all(TYPING_REST_S)

    @server.feature(types.SHUTDOWN)
    def _shut_down(_: None) -> None:
        server.asked_to_shut_down = True


async def _watch_pages(server: Server) -> None:
    """Ask the client to say when pages change on disk, where it can."""
    workspace = server.client_capabilities.workspace
    watching = workspace.did_change_watched_files if workspace else None
    if watching is None or not watching.dynamic_registration:
        return
    options = types.DidChangeWatchedFilesRegistrationOptions([types.FileSystemWatcher("**/*.md")])
    wanted = types.Registration(_WATCHER, types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
    await server.client_register_capability_async(types.RegistrationParams([wanted]))


class _Masked(logging.Formatter):
    """What is logged may hold what a client sent; an editor may keep it in a file."""

    def format(self, record: logging.LogRecord) -> str:
        return mask_without_key(super().format(record))


def serve(start: Start) -> int:
    """Serve until the client says to exit or closes the stream. The exit code is 1 where it exits unasked.

    Nothing but the protocol goes to standard output: what else is printed there goes to standard error.
    """
    handler = logging.StreamHandler()
    handler.setFormatter(_Masked("%(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    output = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    server = build_server(start)
    try:
        server.start_io(sys.stdin.buffer, output)
    finally:
        server.desk.close()
    return 0 if server.asked_to_shut_down else 1


__all__ = ["Start", "build_server", "serve"]
