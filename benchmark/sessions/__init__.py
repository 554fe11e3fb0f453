"""How much of what sessions said comes back within a token budget, against giving all of it."""
