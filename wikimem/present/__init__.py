"""Results in words: what terminals show and what models read over MCP."""

from wikimem.present import graph as graph  # gives its results their text form
