"""What is connected to a board during a run: serial lines, pins, lights, and what it prints."""
