#include "order.h"

int list_by_key(const struct list_item *a, const struct list_item *b)
{
    return (int)a->key - (int)b->key;
}

int list_by_place(const struct list_item *a, const struct list_item *b)
{
    return (int)a->place - (int)b->place;
}
