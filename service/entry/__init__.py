"""Surfaces, each thin: HTTP and the command line."""
