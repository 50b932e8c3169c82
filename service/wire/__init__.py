"""Request and response shapes: pydantic only."""
