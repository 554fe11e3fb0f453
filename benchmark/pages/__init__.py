"""Edits of single frontmatter keys on odd pages: wikimem beside python-frontmatter and ruamel.yaml, judged apart."""
