"""Finding passages: embedding and index ports, fusion. Knows nothing of memories."""
