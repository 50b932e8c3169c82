"""What was said in a run: turns, pins taken out of them, summaries over them."""
