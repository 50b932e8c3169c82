"""Delivery: what the service does next about a command that a connector carries."""
