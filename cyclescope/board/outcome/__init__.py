"""The engine's results as plain data, and the cache of results."""
