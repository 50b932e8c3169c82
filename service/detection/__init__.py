"""What stands in a text that policy must know of: secrets, personal data, words to a model. Signals only."""
