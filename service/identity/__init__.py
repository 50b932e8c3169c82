"""Who is calling, for which tenant, allowed what."""
