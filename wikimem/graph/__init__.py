"""The graph: entities, the relations between them, who asserts them, and when they hold."""
