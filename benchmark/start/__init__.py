"""What a command costs from the shell, with and without the resident process, beside starting Python alone."""
