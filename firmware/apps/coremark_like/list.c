#include "order.h"
#include "parts.h"

#include <stddef.h>

#define LIST_NODES 100u
#define LIST_SEARCHES 24u

struct node {
    struct node *next;
    struct list_item *item;
};

static struct list_item items[LIST_NODES];
static struct node nodes[LIST_NODES];
static struct node *list;

void list_set_up(uint32_t seed)
{
    /* Neighbours in the list are far apart in memory: 37 and 100 have no common factor. */
    for (uint32_t i = 0; i < LIST_NODES; i++) {
        struct node *node = &nodes[i * 37 % LIST_NODES];
        node->next = i + 1 < LIST_NODES ? &nodes[(i + 1) * 37 % LIST_NODES] : NULL;
        node->item = &items[i];
        items[i] = (struct list_item){.key = (uint16_t)(random_next(&seed) & 0x3FF), .place = (uint16_t)i};
    }
    list = &nodes[0];
}

static const struct node *find(const struct node *node, uint16_t key)
{
    while (node && node->item->key != key) {
        node = node->next;
    }
    return node;
}

static struct node *reverse(struct node *node)
{
    struct node *done = NULL;

    while (node) {
        struct node *next = node->next;
        node->next = done;
        done = node;
        node = next;
    }
    return done;
}

static struct node *merge(struct node *a, struct node *b, list_order *compare)
{
    struct node head, *last = &head;

    while (a && b) {
        struct node **smaller = compare(a->item, b->item) <= 0 ? &a : &b;
        last->next = *smaller;
        last = *smaller;
        *smaller = (*smaller)->next;
    }
    last->next = a ? a : b;
    return head.next;
}

/* Cuts the list after `count` nodes; gives the rest. */
static struct node *cut(struct node *node, uint32_t count)
{
    struct node *rest;

    while (node && --count) {
        node = node->next;
    }
    if (!node) {
        return NULL;
    }
    rest = node->next;
    node->next = NULL;
    return rest;
}

/* Bottom-up merge sort: runs of 1, 2, 4, ... nodes. */
static struct node *sort(struct node *node, list_order *compare)
{
    for (uint32_t run = 1; run < LIST_NODES; run *= 2) {
        struct node *sorted = NULL, **tail = &sorted;
        while (node) {
            struct node *second = cut(node, run);
            struct node *rest = cut(second, run);
            *tail = merge(node, second, compare);
            while (*tail) {
                tail = &(*tail)->next;
            }
            node = rest;
        }
        node = sorted;
    }
    return node;
}

uint16_t list_round(uint32_t round, uint16_t crc)
{
    for (uint32_t i = 0; i < LIST_SEARCHES; i++) {
        const struct node *found = find(list, (uint16_t)((round * 31 + i * 43) & 0x3FF));
        crc = crc16_byte(crc, found ? (uint8_t)found->item->place : 0xFF);
    }
    list = sort(reverse(list), list_by_key);
    for (const struct node *node = list; node; node = node->next) {
        crc = crc16_byte(crc, (uint8_t)node->item->place);
    }
    /* Keys move a little each round, or the list would be sorted the same way for ever. */
    items[round % LIST_NODES].key ^= (uint16_t)(crc & 0x3FF);
    list = sort(list, list_by_place);
    return crc;
}
