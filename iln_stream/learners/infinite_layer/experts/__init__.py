"""The experts, one a file, and their parts."""
