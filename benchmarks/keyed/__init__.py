"""Models by key: accuracy against other learners, throughput and checkpoints at a million keys."""
