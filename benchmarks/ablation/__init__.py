"""What each ingredient of the accurate profile is worth."""
