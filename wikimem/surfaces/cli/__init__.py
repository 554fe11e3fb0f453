"""The command line: one command for each operation, and the processes."""
