"""What a run saw and did outside: observations (tool results) and effects (external operations)."""
