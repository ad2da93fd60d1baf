/* The kernel's services as Thread-Metric has them: functions of a file of their own, and no macros, between a test and
 * the kernel; so each loop has a call and a status more than a program that calls the kernel itself. Threads are known
 * by numbers. */
#ifndef SERVICES_H
#define SERVICES_H

#include <stdbool.h>
#include <stdint.h>

#define SERVICES_THREADS 5
/* Priorities of the suite: 1 is the highest, 16 the lowest. */
#define SERVICES_LOWEST 16
#define SERVICES_MESSAGE_WORDS 4
#define SERVICES_BLOCK_BYTES 128

/* By a thread above it: makes a thread that is suspended until it is resumed; false if there is no memory. */
bool service_create(int thread, int priority, void (*body)(void));
bool service_resume(int thread);
bool service_suspend(int thread);
/* Lets the others of the caller's priority run. */
void service_relinquish(void);
/* By the thread that ends a test: all of them are deleted. */
void service_delete_all(void);

/* A queue for a message of 16 bytes, a binary semaphore, which is there to be taken. */
bool service_make_queue(void);
bool service_send(const uint32_t *message);
bool service_receive(uint32_t *message);
bool service_make_semaphore(void);
bool service_get(void);
bool service_put(void);

/* A block of 128 bytes. */
bool service_allocate(void **block);
bool service_release(void *block);

/* An interrupt of the core's own making, taken before the call is back; `handler` is called in it. */
void service_set_handler(void (*handler)(void));
void service_cause_interrupt(void);
/* In the handler. */
void service_put_from_handler(void);
void service_resume_from_handler(int thread);

#endif
