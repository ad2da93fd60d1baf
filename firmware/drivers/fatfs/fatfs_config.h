/* Options of FatFs that differ from those that the crate ships; what each means: doc/config.html of FatFs. */
#ifndef FATFS_CONFIG_H
#define FATFS_CONFIG_H

#if FFCONF_DEF != 80286
#error "these options are for FatFs R0.15"
#endif

/* The available functions: files, directories and f_lseek. */
#undef FF_USE_FIND
#define FF_USE_FIND 0
#undef FF_USE_MKFS
#define FF_USE_MKFS 0
#undef FF_USE_FASTSEEK
#define FF_USE_FASTSEEK 0
#undef FF_USE_EXPAND
#define FF_USE_EXPAND 0
#undef FF_USE_CHMOD
#define FF_USE_CHMOD 0
#undef FF_USE_LABEL
#define FF_USE_LABEL 0
#undef FF_USE_STRFUNC
#define FF_USE_STRFUNC 0
#undef FF_PRINT_FLOAT
#define FF_PRINT_FLOAT 0

/* Names of 8.3 characters of the IBM PC. */
#undef FF_CODE_PAGE
#define FF_CODE_PAGE 437
#undef FF_USE_LFN
#define FF_USE_LFN 0
#undef FF_FS_RPATH
#define FF_FS_RPATH 0

/* Drive 0 is the card on mmc0, drive 1 that on spi0 (disk.h). */
#undef FF_VOLUMES
#define FF_VOLUMES 2
#undef FF_MIN_SS
#define FF_MIN_SS 512
#undef FF_MAX_SS
#define FF_MAX_SS 512

/* Each file has a sector buffer of its own, which the report's write order depends on. */
#undef FF_FS_TINY
#define FF_FS_TINY 0
#undef FF_FS_READONLY
#define FF_FS_READONLY 0
#undef FF_FS_LOCK
#define FF_FS_LOCK 0
#undef FF_FS_REENTRANT
#define FF_FS_REENTRANT 0

/* No clock of the day on the board: files get the date of the report. */
#undef FF_FS_NORTC
#define FF_FS_NORTC 1
#undef FF_NORTC_MON
#define FF_NORTC_MON 3
#undef FF_NORTC_MDAY
#define FF_NORTC_MDAY 2
#undef FF_NORTC_YEAR
#define FF_NORTC_YEAR 2009

#endif
