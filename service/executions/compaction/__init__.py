"""What a summary keeps of a run: what must survive whole, and the most telling of what was said."""
