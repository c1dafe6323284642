"""What the user feeds the model: drawings, files, numbers, text, examples."""
