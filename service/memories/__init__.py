"""Long-term memory: propose, decide, consent, expire, forget. Policy decides what is kept, never a model."""
