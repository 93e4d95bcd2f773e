"""What other processes ask: the HTTP API, the live page, and the client of the API."""
