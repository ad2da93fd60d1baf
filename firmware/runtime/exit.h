/* The end of a program. */
#ifndef EXIT_H
#define EXIT_H

#define EXIT_OK 0
#define EXIT_FAILED 1

/* Lets the console finish, then ends the program with `status`: RISC-V semihosting, SYS_EXIT_EXTENDED, or what else the
   board has (README.md, A program's life). */
_Noreturn void program_exit(int status);

#endif
