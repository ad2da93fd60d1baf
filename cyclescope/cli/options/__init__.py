"""Options that several commands have in common, by subject, with what reads them."""
