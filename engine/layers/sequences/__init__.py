"""Layers over sequences: attention in all its forms, recurrences, positions."""
