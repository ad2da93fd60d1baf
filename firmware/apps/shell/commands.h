/* What the command line can do. */
#ifndef COMMANDS_H
#define COMMANDS_H

/* Runs a line. Gives the status with which the program ends, or -1 if it goes on. */
int command_run(char *line);

#endif
