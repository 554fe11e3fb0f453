"""Entities and relations that a text states, found by rules: no model, no network, and rather too few than wrong.

mentions      what in a sentence names a file, a function, a library, an error or a person
sentences     the sentences, code blocks and observations of a page
decisions     what was chosen, what was rejected, what took whose place (English and Korean)
relations     uses, depends on, causes, fixes, is in; and how people relate to things
installed     imports, manifests, lock files and install commands
failures      errors, and where they were thrown
extract       all of it over a page or over observations
"""
