"""What predicts: one expert a file, each a `Expert`."""
