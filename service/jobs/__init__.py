"""Use cases started by time: the outbox relay and the keeping of the index."""
