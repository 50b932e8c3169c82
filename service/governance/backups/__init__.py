"""Copies of the record, and putting one back without bringing back what was erased."""
