"""What a hook costs an agent."""
