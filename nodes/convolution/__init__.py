"""Layers that move a window over an image, a signal or a volume: convolutions and pools."""
