"""What the engine gives back, as plain data, and how results are kept."""
