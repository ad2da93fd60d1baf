/* The M4's log: UART7, on the Arduino connector of an STM32MP157C-DK2 (D1), polled, with levels and time stamps as
 * STM32Cube's openamp_log.h has them. */
#ifndef STM32_LOG_H
#define STM32_LOG_H

#include "format.h"
#include "systick.h"

/* 8N1 from hsi_ck with 8 samples a bit, as ST's board support sets it up, at the rate of the setting baud_rate. */
void log_start(void);

/* One line of the log: "[00000.008][INFO ]text". With the setting log off there is no log, and no code for it. */
#if APP_LOG_ON
#define log_line(level, format, ...) \
    format_log( \
        "[%05ld.%03ld][" level "]" format, (long)(systick_ms() / 1000), (long)(systick_ms() % 1000), ##__VA_ARGS__)
#else
#define log_line(level, format, ...)                                                                     \
    ((void)(0 && (format_log("[%05ld.%03ld][" level "]" format, 0L, 0L, ##__VA_ARGS__), 0)))
#endif

#define log_info(format, ...) log_line("INFO ", format, ##__VA_ARGS__)
#define log_warn(format, ...) log_line("WARN ", format, ##__VA_ARGS__)
#define log_err(format, ...) log_line("ERR  ", format, ##__VA_ARGS__)

#endif
