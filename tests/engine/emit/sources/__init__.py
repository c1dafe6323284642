"""How sources are read in straight lines."""
