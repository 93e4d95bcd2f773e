"""Names of many categories: which get columns, and effects for the others, in a bounded table."""
