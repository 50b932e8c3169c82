"""What may be kept, shown and done: YAML in, verdicts with reasons out."""
