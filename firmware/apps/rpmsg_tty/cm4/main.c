/* The M4's firmware of the report: a virtual UART that counts the bytes of a block, logs each message, and acknowledges
 * the block. */
#include <stdint.h>

#include "breach.h"
#include "openamp.h"
#include "stm32_log.h"
#include "virt_uart.h"

#define PREAMBLE 0xABCDu
/* The text of the report's log; nothing here depends on it. */
#define MAX_BUFFER_SIZE 32768

struct packet {
    uint16_t preamble;
    uint16_t length;
    uint16_t crc16;
} __attribute__((packed));

struct port {
    struct virt_uart uart;
    volatile uint16_t received;
    volatile uint8_t transmit[2];
    volatile uint16_t transmit_bytes;
    volatile int transmit_due;
};

static struct port port0, port1;
static volatile uint16_t expected;

/* A message for ttyRPMSG0: part of a block that begins with a header. */
static void received0(struct virt_uart *uart)
{
    struct packet *packet = (struct packet *)(void *)uart->received;

    if (uart->received_bytes >= sizeof *packet && packet->preamble == PREAMBLE) {
        packet->preamble = 0;
        expected = packet->length;
        log_info("length: %d\n", expected);
    }
    port0.received = (uint16_t)(port0.received + uart->received_bytes);
    log_info("UART0: %d/%d\n", port0.received, expected);
    if (port0.received >= expected) {
        port0.received = 0;
        port0.transmit[0] = (uint8_t)expected;
        port0.transmit[1] = (uint8_t)(expected >> 8);
        log_info("UART0 resp: %d\n", expected);
        expected = 0;
        port0.transmit_bytes = 2;
        port0.transmit_due = 1;
    }
    breach_after_message(&uart->endpoint);
}

/* ttyRPMSG1 only has its bytes counted. */
static void received1(struct virt_uart *uart)
{
    port1.received = (uint16_t)(port1.received + uart->received_bytes);
    log_info("UART1: %d\n", port1.received);
}

static void start_uart(struct port *port, const char *name, void (*receive_complete)(struct virt_uart *uart))
{
    log_info("Virtual UART%s OpenAMP-rpmsg channel creation\r\n", name);
    port->uart.receive_complete = receive_complete;
    if (virt_uart_start(&port->uart) != 0) {
        log_err("VIRT_UART_Init UART%s failed.\r\n", name);
    }
}

static void transmit(struct port *port)
{
    if (port->transmit_due) {
        uint8_t data[2] = {port->transmit[0], port->transmit[1]};

        port->transmit_due = 0;
        virt_uart_transmit(&port->uart, data, port->transmit_bytes);
    }
}

int main(void)
{
    openamp_start();
    log_start();
    log_info("Cortex-M4 boot successful with STM32Cube FW version: v%d.%d.%d \r\n", 1, 2, 0);
    log_info("MAX_BUFFER_SIZE: %d\n", MAX_BUFFER_SIZE);
    start_uart(&port0, "0", received0);
    start_uart(&port1, "1", received1);
    for (;;) {
        openamp_check_for_message();
        transmit(&port0);
        transmit(&port1);
    }
}
