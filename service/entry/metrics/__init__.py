"""Numbers about the running service, for a Prometheus server: nobody's name, and no word of anybody."""
