"""How many secrets the redaction gate finds, how often it raises a false alarm, and what it costs."""
