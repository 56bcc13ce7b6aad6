/*
 * blosc2-stdio.h: the two kinds of input and output that are built in: files through stdio, and files mapped into memory.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef BLOSC_BLOSC2_BLOSC2_STDIO_H
#define BLOSC_BLOSC2_BLOSC2_STDIO_H

#include "blosc2-export.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An open file. */
typedef struct {
  FILE *file;
} blosc2_stdio_file;

/* Parameters of stdio: whether a lock file keeps writers of several processes apart. */
typedef struct {
  bool locking;
} blosc2_stdio_params;

static const blosc2_stdio_params BLOSC2_STDIO_PARAMS_DEFAULTS = {false};

BLOSC_EXPORT void *blosc2_stdio_open(const char *urlpath, const char *mode, void *params);
BLOSC_EXPORT int blosc2_stdio_close(void *stream);
BLOSC_EXPORT int64_t blosc2_stdio_size(void *stream);
BLOSC_EXPORT int64_t blosc2_stdio_write(const void *ptr, int64_t size, int64_t nitems, int64_t position, void *stream);
BLOSC_EXPORT int64_t blosc2_stdio_read(void **ptr, int64_t size, int64_t nitems, int64_t position, void *stream);
BLOSC_EXPORT int blosc2_stdio_truncate(void *stream, int64_t size);
BLOSC_EXPORT int blosc2_stdio_destroy(void *params);

/* A mapped file: the first three fields are parameters, all others belong to the library. The mode is "r", "r+", "w+", or "c"
 * for changes that stay in memory. */
typedef struct {
  const char *mode;
  size_t initial_mapping_size;
  bool needs_free;
  char *addr;
  char *urlpath;
  size_t file_size;
  size_t mapping_size;
  bool is_memory_only;
  FILE *file;
  int fd;
  int64_t access_flags;
  int64_t map_flags;
} blosc2_stdio_mmap;

static const blosc2_stdio_mmap BLOSC2_STDIO_MMAP_DEFAULTS = {
    "r", (size_t)1 << 30, false, NULL, NULL, 0, 0, false, NULL, -1, -1, -1};

BLOSC_EXPORT void *blosc2_stdio_mmap_open(const char *urlpath, const char *mode, void *params);
BLOSC_EXPORT int blosc2_stdio_mmap_close(void *stream);
BLOSC_EXPORT int64_t blosc2_stdio_mmap_size(void *stream);
BLOSC_EXPORT int64_t blosc2_stdio_mmap_write(const void *ptr, int64_t size, int64_t nitems, int64_t position,
                                             void *stream);
BLOSC_EXPORT int64_t blosc2_stdio_mmap_read(void **ptr, int64_t size, int64_t nitems, int64_t position, void *stream);
BLOSC_EXPORT int blosc2_stdio_mmap_truncate(void *stream, int64_t size);
BLOSC_EXPORT int blosc2_stdio_mmap_destroy(void *params);

#ifdef __cplusplus
}
#endif

#endif
