"""Results in words: what terminals show and what models read over MCP."""

from wikimem.present import connect as connect  # gives its results their text form
from wikimem.present import evaluation as evaluation
from wikimem.present import graph as graph
from wikimem.present import sessions as sessions  # likewise
