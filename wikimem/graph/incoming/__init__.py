"""Reads graphs that were written elsewhere: N-Triples, basic-memory's notes, agentmemory's export."""
