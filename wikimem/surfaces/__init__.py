"""Doors to the operations. Each parses its own input, runs the operation, and presents the result."""
