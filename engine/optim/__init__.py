"""Optimisers that torch lacks, as torch.optim.Optimizer subclasses; exports carry their source."""
