"""Coding agents: what each one reports through its hooks, and how that becomes an event in the spool."""
