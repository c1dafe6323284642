"""Gestures: one at a time, each with a `cancel` that leaves everything as it was before."""
