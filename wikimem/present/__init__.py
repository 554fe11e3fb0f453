"""Results in words: what terminals show and what models read over MCP."""
