"""How the graph grows: load, add, walk, a date in the past, memory; beside rdflib."""
