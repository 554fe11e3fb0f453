"""Values: frozen dataclasses that know nothing of files, git or the index."""
