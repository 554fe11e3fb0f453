"""How many of the edges that a reader finds extraction finds, and how many of its own are right."""
