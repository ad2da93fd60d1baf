"""What commands print: results as tables and texts on a terminal."""
