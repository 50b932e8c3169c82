"""What the law asks of all that is kept: erasure, holds, quarantine, export, retention, the data map."""
