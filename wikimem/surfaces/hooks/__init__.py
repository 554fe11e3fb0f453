"""The door for agents' hooks: an event on standard input, at most an answer on standard output, always exit 0."""
