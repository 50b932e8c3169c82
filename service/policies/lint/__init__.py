"""What is probably not meant: findings about bundles that can be loaded. Only what is provable is told."""
