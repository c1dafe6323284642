"""What can be learned from a trained model."""
