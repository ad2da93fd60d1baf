/* IPCC, the mailbox between the A7s and the M4 (RM0436, IPCC). Six channels each way; one is occupied from its message
 * on until the receiver acknowledges. The message itself is in memory that both cores see. */
#ifndef STM32_IPCC_H
#define STM32_IPCC_H

#include <stdbool.h>
#include <stdint.h>

/* Channels are numbered as in the manual, 1 to 6. */
#define IPCC_CHANNELS 6u

/* Called in the interrupt of a channel, which is masked until ipcc_acknowledge, or ipcc_on_free again. */
typedef void ipcc_handler(uint32_t channel);

/* Turns the clock on, masks all channels, lets both interrupts of this core in. */
void ipcc_start(void);

/* `handler` gets the messages of a channel from now on; it, or someone later, has to acknowledge each. */
void ipcc_on_message(uint32_t channel, ipcc_handler *handler);

/* The message of a channel was taken: its sender may send the next. */
void ipcc_acknowledge(uint32_t channel);

/* True if the last message that this core sent on a channel was acknowledged. */
bool ipcc_is_free(uint32_t channel);

/* Signals a message to the other side. Returns ERROR_BUSY while the last one is not acknowledged. */
int ipcc_send(uint32_t channel);

/* `handler` is called once, when the channel is free to send; at once if it is. */
void ipcc_on_free(uint32_t channel, ipcc_handler *handler);

#endif
