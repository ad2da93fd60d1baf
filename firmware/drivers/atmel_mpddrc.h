/* DDR controller of the SAMA5D2 (data sheet, chapter Multiport DDR-SDRAM Controller) with two MT41K128M16JT at 166
 * MHz. */
#ifndef ATMEL_MPDDRC_H
#define ATMEL_MPDDRC_H

/* Takes the memory through its initialisation (section DDR3-SDRAM Initialization), unless it has been already: whoever
 * loaded a program into the memory did so. For the boot stub. */
void mpddrc_start(void);

#endif
