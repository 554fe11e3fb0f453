"""MCP: the operations as tools, pages as resources, one prompt."""
