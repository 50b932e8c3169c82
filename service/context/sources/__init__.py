"""Where the candidates of each section come from: one module a section."""
