"""Words everyone uses: ids, clock, errors, paging, database, outbox, failpoints, hashing, text."""
