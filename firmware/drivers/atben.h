/* ATBEN, a board with an AT86RF231 in the 8:10 card slot of a Ben NanoNote: pins of port D, by gpiolib's numbers. */
#ifndef ATBEN_H
#define ATBEN_H

#define ATBEN_PORT 96u /* PD0 */

#define ATBEN_VDD_OFF (ATBEN_PORT + 2u) /* high: the card slot has no power */
#define ATBEN_MOSI (ATBEN_PORT + 8u)    /* CMD */
#define ATBEN_SLP_TR (ATBEN_PORT + 9u)  /* CLK */
#define ATBEN_MISO (ATBEN_PORT + 10u)   /* DAT0 */
#define ATBEN_SCLK (ATBEN_PORT + 11u)   /* DAT1 */
#define ATBEN_IRQ (ATBEN_PORT + 12u)    /* DAT2 */
#define ATBEN_NSEL (ATBEN_PORT + 13u)   /* DAT3 */

/* Its bit in registers of the port. */
#define ATBEN_BIT(pin) (1u << ((pin) & 31u))

/* The fastest that the transceiver takes while its clock output is not the SPI clock (AT86RF231, SPI timing,
 * asynchronous). */
#define ATBEN_SPI_HZ 7500000u

#endif
