"""A small client for language models, off until this user's own configuration names one (see `wikimem help llm`)."""
