"""The resident process: it keeps a vault open between commands, so that one costs little more than starting Python."""
