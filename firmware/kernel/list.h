/* Doubly linked rings with a head: an element has a struct list_head in it. */
#ifndef LIST_H
#define LIST_H

#include <stdbool.h>
#include <stddef.h>

struct list_head {
    struct list_head *next;
    struct list_head *previous;
};

#define LIST_HEAD_INIT(name) {&(name), &(name)}

/* The object of `type` whose `member` is at `pointer`. */
#define container_of(pointer, type, member) ((type *)(void *)((char *)(pointer) - offsetof(type, member)))

#define list_first_entry(head, type, member) container_of((head)->next, type, member)

/* Goes through a list from its head on; the element in hand must stay in the list. */
#define list_for_each(element, head) \
    for (struct list_head *element = (head)->next; element != (head); element = element->next)

/* Makes an empty list, or an element that is in none. */
static inline void list_init(struct list_head *head)
{
    head->next = head;
    head->previous = head;
}

static inline bool list_empty(const struct list_head *head)
{
    return head->next == head;
}

/* Puts an element right before another; before the head is the list's end. */
static inline void list_add_tail(struct list_head *element, struct list_head *head)
{
    element->previous = head->previous;
    element->next = head;
    head->previous->next = element;
    head->previous = element;
}

/* Takes an element out of its list: it is in none after that. */
static inline void list_del_init(struct list_head *element)
{
    element->previous->next = element->next;
    element->next->previous = element->previous;
    list_init(element);
}

#endif
