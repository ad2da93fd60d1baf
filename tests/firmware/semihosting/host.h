/* Calls to the host, whichever the interface: semihosting of Arm and RISC-V, or MIPS's UHI. What fails is -1. */
#ifndef HOST_H
#define HOST_H

/* Mode numbers of semihosting. */
#define MODE_READ 1
#define MODE_UPDATE 3
#define MODE_WRITE 5
#define MODE_APPEND 9

#define STDIN 0
#define STDOUT 1

int host_open(const char *path, int mode);
int host_close(int handle);
/* Both give the bytes that were read or written. */
int host_read(int handle, void *to, unsigned bytes);
int host_write(int handle, const void *from, unsigned bytes);
int host_seek(int handle, int place);
int host_length(int handle);
int host_is_terminal(int handle);
int host_remove(const char *path);
int host_rename(const char *from, const char *to);
/* The error number of the last failed call. */
int host_errno(void);
/* Gives how many there are, the program's name included. */
int host_arguments(char **arguments, int most);
/* Calls that only one of the interfaces has: 0 if it is unknown here. */
int host_other(const char *command, const char *argument);
_Noreturn void host_exit(int status);

unsigned text_length(const char *text);
int text_equal(const char *a, const char *b);
int text_number(const char *text);
void say(const char *text);
void say_number(const char *what, int number);

#endif
