"""The second stage of a search: orders what the index found by looking at its texts together."""
