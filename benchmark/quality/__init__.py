"""Retrieval quality of the product: sets of questions with known answers, asked through the public operations."""
