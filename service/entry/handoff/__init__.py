"""A run kept in a folder: pulled from the service, followed, and sent lines that were written there."""
