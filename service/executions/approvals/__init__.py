"""Approvals: one person's yes to one exact command, once."""
