"""Leases: who may go on with a run now, and what they may do."""
