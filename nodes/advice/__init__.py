"""What is known of single node types: what is wrong with their nodes, how to fix it, what to begin with."""

from nodes.advice import files, first_network, fitting, layers, packages, preparing

__all__ = ["files", "first_network", "fitting", "layers", "packages", "preparing"]
