/* Where constants are kept. */
#ifndef PANEL_MEMORY_H
#define PANEL_MEMORY_H

/* The AVR has its constants in RAM unless told otherwise; on other machines it means nothing. */
#ifdef __AVR__
#define IN_FLASH __flash
#else
#define IN_FLASH
#endif

#endif
