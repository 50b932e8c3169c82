"""The rehearsal: an agent is killed and started again, and what became of its work is compared."""
