"""The language server: completion, hover, diagnostics, definition and references for the pages of a vault."""
