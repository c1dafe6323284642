"""Compares a file that was read with what is written for the project that was read from it."""
