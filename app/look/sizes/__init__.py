"""Views of how large a network is: its layers in a table, its parameters by part."""
