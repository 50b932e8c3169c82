"""Vendors behind our ports: index, embedder, tokens, chunker, files, keys and cipher."""
