"""Sourced, content-addressed facts: chunking, versions, trust and citation."""
