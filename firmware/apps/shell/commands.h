/* The commands of the command line. */
#ifndef COMMANDS_H
#define COMMANDS_H

/* Runs a line. Returns the exit status of the program, or -1 if it continues. */
int command_run(char *line);

#endif
