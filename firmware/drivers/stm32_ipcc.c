#include "stm32_ipcc.h"

#include "board.h"
#include "error.h"
#include "interrupts.h"
#include "mmio.h"
#include "stm32_rcc.h"
#if BOARD_CORE_CM4
#include "nvic.h"
#else
#include "gic.h"
#endif

/* Registers of processor 1; those of processor 2 follow in the same order. */
#define IPCC_CR 0x00u
#define IPCC_MR 0x04u
#define IPCC_SCR 0x08u
#define IPCC_TOSR 0x0Cu
#define IPCC_PROCESSOR_STRIDE 0x10u

#define CR_RXOIE (1u << 0)
#define CR_TXFIE (1u << 16)

/* In MR and SCR the receiving channels are below, the sending ones above. */
#define RECEIVE_CHANNEL(channel) (1u << ((channel)-1))
#define SEND_CHANNEL(channel) (1u << ((channel)-1 + 16))
#define RECEIVE_CHANNELS 0x0000003Fu
#define SEND_CHANNELS 0x003F0000u

#define OWN (BOARD_IPCC_BASE + (BOARD_IPCC_PROCESSOR - 1) * IPCC_PROCESSOR_STRIDE)
#define OTHER (BOARD_IPCC_BASE + (2 - BOARD_IPCC_PROCESSOR) * IPCC_PROCESSOR_STRIDE)

static ipcc_handler *receivers[IPCC_CHANNELS + 1];
static ipcc_handler *senders[IPCC_CHANNELS + 1];

static void mask(uint32_t channels)
{
    mmio_write(OWN, IPCC_MR, mmio_read(OWN, IPCC_MR) | channels);
}

static void unmask(uint32_t channels)
{
    uint32_t before = interrupts_save();

    /* The interrupts change MR, too. */
    mmio_write(OWN, IPCC_MR, mmio_read(OWN, IPCC_MR) & ~channels);
    interrupts_restore(before);
}

/* Channels that this core's receive interrupt is for: occupied by the other side. */
static void receive(void)
{
    uint32_t waiting = mmio_read(OTHER, IPCC_TOSR) & ~mmio_read(OWN, IPCC_MR) & RECEIVE_CHANNELS;

    for (uint32_t channel = 1; waiting; channel++) {
        if (waiting & RECEIVE_CHANNEL(channel)) {
            waiting &= ~RECEIVE_CHANNEL(channel);
            mask(RECEIVE_CHANNEL(channel));
            receivers[channel](channel);
        }
    }
}

/* Channels that this core's transmit interrupt is for: free, and someone waits for that. */
static void sent(void)
{
    uint32_t freed = ~(mmio_read(OWN, IPCC_TOSR) << 16) & ~mmio_read(OWN, IPCC_MR) & SEND_CHANNELS;

    for (uint32_t channel = 1; freed; channel++) {
        if (freed & SEND_CHANNEL(channel)) {
            freed &= ~SEND_CHANNEL(channel);
            mask(SEND_CHANNEL(channel));
            senders[channel](channel);
        }
    }
}

#if BOARD_CORE_CM4
/* Entries of the board's vector table. */
void IPCC_RX1_IRQHandler(void);
void IPCC_TX1_IRQHandler(void);

void IPCC_RX1_IRQHandler(void)
{
    receive();
}

void IPCC_TX1_IRQHandler(void)
{
    sent();
}

static void enable_interrupts(void)
{
    nvic_enable(BOARD_IPCC_RX_INTERRUPT, NVIC_PRIORITY_DEFAULT);
    nvic_enable(BOARD_IPCC_TX_INTERRUPT, NVIC_PRIORITY_DEFAULT);
}
#else
static void enable_interrupts(void)
{
    gic_enable(GIC_SPI(BOARD_IPCC_RX_INTERRUPT), receive);
    gic_enable(GIC_SPI(BOARD_IPCC_TX_INTERRUPT), sent);
}
#endif

void ipcc_start(void)
{
    rcc_enable(RCC_CLOCK_IPCC);
    mmio_write(OWN, IPCC_MR, RECEIVE_CHANNELS | SEND_CHANNELS);
    mmio_write(OWN, IPCC_CR, CR_RXOIE | CR_TXFIE);
    enable_interrupts();
}

void ipcc_on_message(uint32_t channel, ipcc_handler *handler)
{
    receivers[channel] = handler;
    unmask(RECEIVE_CHANNEL(channel));
}

void ipcc_acknowledge(uint32_t channel)
{
    mmio_write(OWN, IPCC_SCR, RECEIVE_CHANNEL(channel));
    unmask(RECEIVE_CHANNEL(channel));
}

bool ipcc_is_free(uint32_t channel)
{
    return !(mmio_read(OWN, IPCC_TOSR) & RECEIVE_CHANNEL(channel));
}

int ipcc_send(uint32_t channel)
{
    if (!ipcc_is_free(channel)) {
        return ERROR_BUSY;
    }
    /* The message's data are in memory before the signal. */
    __asm__ volatile("dsb" : : : "memory");
    mmio_write(OWN, IPCC_SCR, SEND_CHANNEL(channel));
    return 0;
}

void ipcc_on_free(uint32_t channel, ipcc_handler *handler)
{
    senders[channel] = handler;
    unmask(SEND_CHANNEL(channel));
}
