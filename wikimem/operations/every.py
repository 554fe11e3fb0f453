"""Every operation, in the order that help shows them. Adding one: a file, and a line here."""

from __future__ import annotations

from wikimem.operations.check import check
from wikimem.operations.context import context
from wikimem.operations.edit import edit
from wikimem.operations.export import export
from wikimem.operations.extract import extract
from wikimem.operations.files import files
from wikimem.operations.forget import forget
from wikimem.operations.graph import graph
from wikimem.operations.importing import import_
from wikimem.operations.link import link
from wikimem.operations.links import links
from wikimem.operations.list import list_
from wikimem.operations.log import log
from wikimem.operations.move import move
from wikimem.operations.observe import observe
from wikimem.operations.planned import PLANNED
from wikimem.operations.read import read
from wikimem.operations.registry import Operation
from wikimem.operations.reindex import reindex
from wikimem.operations.remember import remember
from wikimem.operations.search import search
from wikimem.operations.sessions import sessions
from wikimem.operations.sparql import sparql
from wikimem.operations.status import status
from wikimem.operations.timeline import timeline

OPERATIONS: tuple[Operation, ...] = (
    search,
    context,
    read,
    remember,
    edit,
    move,
    link,
    observe,
    forget,
    list_,
    links,
    graph,
    timeline,
    sparql,
    export,
    import_,
    extract,
    sessions,
    files,
    log,
    status,
    check,
    reindex,
)

__all__ = ["OPERATIONS", "PLANNED"]
