"""Rows about models of sequences."""
