"""Recovery: what a fresh session has to do first, decided from the record alone."""
