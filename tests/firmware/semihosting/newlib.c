/* An ordinary C program: its arguments choose calls of the C library. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int files(const char *text)
{
    char line[64];
    int number = 0;
    size_t bytes;
    FILE *file = fopen("made.txt", "w");

    if (!file || fprintf(file, "%s\n%d\n", text, 42) < 0 || fclose(file) != 0) {
        return 1;
    }
    file = fopen("made.txt", "r");
    if (!file || !fgets(line, sizeof line, file) || fscanf(file, "%d", &number) != 1) {
        return 2;
    }
    printf("line %snumber %d\n", line, number);
    fseek(file, -3, SEEK_END);
    bytes = fread(line, 1, sizeof line, file);
    printf("%u bytes at the end: %.*s", (unsigned)bytes, (int)bytes, line);
    rewind(file);
    bytes = fread(line, 1, sizeof line, file);
    fclose(file);
    file = fopen("kept.txt", "wb");
    if (!file || fwrite(line, 1, bytes, file) != bytes || fclose(file) != 0 || remove("made.txt") != 0) {
        return 3;
    }
    file = fopen("made.txt", "r");
    printf("gone %d\n", file ? 0 : errno);
    return 0;
}

static int copy(void)
{
    char line[64];
    int count = 0;

    while (fgets(line, sizeof line, stdin)) {
        printf("> %s", line);
        count++;
    }
    fprintf(stderr, "%d lines\n", count);
    return 0;
}

static void at_exit(void)
{
    puts("at exit");
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    const char *argument = argc > 2 ? argv[2] : "";

    if (!strcmp(what, "return")) {
        return atoi(argument);
    }
    if (!strcmp(what, "exit")) {
        atexit(at_exit);
        exit(atoi(argument));
    }
    if (!strcmp(what, "abort")) {
        abort();
    }
    if (!strcmp(what, "files")) {
        return files(argument);
    }
    return strcmp(what, "copy") ? 9 : copy();
}
