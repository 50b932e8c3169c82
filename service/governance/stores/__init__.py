"""The stores of personal text, one module for what belongs together: how each is erased and counted."""
