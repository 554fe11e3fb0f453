"""The manual: Markdown pages that `wikimem help` shows. Concepts are written by hand, reference pages by __main__."""
