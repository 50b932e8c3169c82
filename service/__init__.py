"""Muniment: a service between an agent and its model."""
