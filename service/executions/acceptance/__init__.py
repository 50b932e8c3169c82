"""Whether a run reached its contract: candidates by hash, and the checks that graders wrote on them."""
