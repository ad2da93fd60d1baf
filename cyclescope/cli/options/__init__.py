"""Options that several commands have in common, by subject, with their parsers."""
