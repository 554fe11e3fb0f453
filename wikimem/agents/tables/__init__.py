"""One small table for each agent: its events, what they are, where its fields lie, and how it takes an answer."""
