"""The HTTP surface: thin routes behind one edge that keeps every convention of the contract."""
