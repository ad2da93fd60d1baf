"""Output of commands: results as tables and texts on a terminal."""
