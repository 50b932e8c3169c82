"""What happened: append-only, hash-chained, without a word that anybody wrote."""
