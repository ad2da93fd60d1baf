"""Each command of the command line: a module of its name, imported when the command is called."""
