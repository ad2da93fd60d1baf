/* The list's elements, and the orders for sorting it. In a file of their own: the sort calls them by pointer. */
#ifndef ORDER_H
#define ORDER_H

#include <stdint.h>

struct list_item {
    uint16_t key;
    uint16_t place; /* its turn in the original order */
};

/* Below 0 if `a` comes first, above 0 if `b` does. */
typedef int list_order(const struct list_item *a, const struct list_item *b);

list_order list_by_key, list_by_place;

#endif
