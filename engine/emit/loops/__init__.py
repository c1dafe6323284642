"""Loops of plans as a reader would write them, beside the one of a single phase."""
