"""Layers for sequences: recurrent ones, attention, and those for rows of tokens."""
