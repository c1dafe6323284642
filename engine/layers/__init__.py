"""Functions and modules that torch lacks; an export carries the source of those it uses."""
