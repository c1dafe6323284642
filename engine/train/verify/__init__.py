"""Runs an export beside the application, and says whether both find the same losses."""
