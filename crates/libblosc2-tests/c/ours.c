/* What C-Blosc2 crashes on, hangs in, or does wrong. */
#define _GNU_SOURCE
#include <blosc2.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

#define ITEMS 100000
#define NBYTES (4 * ITEMS)

static int32_t data[ITEMS];
static int32_t decoded[ITEMS];
static uint8_t chunk[NBYTES + BLOSC2_MAX_OVERHEAD];

static void arguments_that_make_no_sense(void) {
  EQUAL(blosc2_compress(5, 1, 0, data, NBYTES, chunk, sizeof chunk), BLOSC2_ERROR_INVALID_PARAM);
  EQUAL(blosc2_compress(5, 1, 4, data, -1, chunk, sizeof chunk), BLOSC2_ERROR_INVALID_PARAM);
  EQUAL(blosc2_compress(5, 1, 4, NULL, NBYTES, chunk, sizeof chunk), BLOSC2_ERROR_INVALID_PARAM);
  EQUAL(blosc2_decompress(NULL, 32, decoded, NBYTES), BLOSC2_ERROR_INVALID_PARAM);
  char *library = NULL;
  EQUAL(blosc2_get_complib_info("none such", &library, NULL), -1);
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 0;
  blosc2_context *context = blosc2_create_cctx(cparams);
  EQUAL(blosc2_compress_ctx(context, data, NBYTES, chunk, sizeof chunk), BLOSC2_ERROR_INVALID_PARAM);
  blosc2_free_ctx(context);
  EQUAL(blosc2_compress_ctx(NULL, data, NBYTES, chunk, sizeof chunk), BLOSC2_ERROR_NULL_POINTER);
  blosc2_filter filter = {.id = 163, .name = NULL};
  EQUAL(blosc2_register_filter(&filter), BLOSC2_ERROR_INVALID_PARAM);
}

/* A pipeline of three filters leaves its input as it is. */
static void input_is_not_written_to(void) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 4;
  cparams.filters[3] = BLOSC_TRUNC_PREC;
  cparams.filters_meta[3] = 10;
  cparams.filters[4] = BLOSC_SHUFFLE;
  cparams.filters[5] = BLOSC_BITSHUFFLE;
  memcpy(decoded, data, NBYTES);
  blosc2_context *context = blosc2_create_cctx(cparams);
  CHECK(blosc2_compress_ctx(context, decoded, NBYTES, chunk, sizeof chunk) > 0);
  CHECK(memcmp(data, decoded, NBYTES) == 0);
  blosc2_free_ctx(context);
}

/* Delta keeps the bytes behind the last whole item, and every part of a chunk is what the whole is. */
static void delta_is_exact(void) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 4;
  cparams.blocksize = 4096;
  cparams.filters[4] = BLOSC_DELTA;
  blosc2_context *cctx = blosc2_create_cctx(cparams);
  blosc2_context *dctx = blosc2_create_dctx(BLOSC2_DPARAMS_DEFAULTS);
  int cbytes = blosc2_compress_ctx(cctx, data, NBYTES - 1, chunk, sizeof chunk);
  EQUAL(blosc2_decompress_ctx(dctx, chunk, cbytes, decoded, NBYTES), NBYTES - 1);
  CHECK(memcmp(data, decoded, NBYTES - 1) == 0);
  for (int start = 0; start < ITEMS - 3000; start += 997) {
    EQUAL(blosc2_getitem_ctx(dctx, chunk, cbytes, start, 2000, decoded, 8000), 8000);
    CHECK(memcmp(data + start, decoded, 8000) == 0);
  }
  blosc2_free_ctx(cctx);
  blosc2_free_ctx(dctx);
}

/* A forked process goes on with the contexts that it has got, and with those of its own. */
static void forks(void) {
  blosc2_set_nthreads(4);
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 4;
  cparams.nthreads = 4;
  cparams.blocksize = 16384;
  blosc2_context *context = blosc2_create_cctx(cparams);
  CHECK(blosc2_compress_ctx(context, data, NBYTES, chunk, sizeof chunk) > 0);
  int cbytes = blosc2_compress(5, 1, 4, data, NBYTES, chunk, sizeof chunk);
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    alarm(60);
    CHECK(blosc2_compress_ctx(context, data, NBYTES, chunk, sizeof chunk) > 0);
    EQUAL(blosc2_compress(5, 1, 4, data, NBYTES, chunk, sizeof chunk), cbytes);
    EQUAL(blosc2_decompress(chunk, cbytes, decoded, NBYTES), NBYTES);
    CHECK(memcmp(data, decoded, NBYTES) == 0);
    /* What belonged to threads that the fork has left behind is lost: no exit at which valgrind would count it. */
    kill(getpid(), SIGKILL);
  }
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  blosc2_free_ctx(context);
  blosc2_set_nthreads(1);
}

int main(void) {
  for (int i = 0; i < ITEMS; i++) {
    data[i] = i * 7 / 3;
  }
  blosc2_init();
  arguments_that_make_no_sense();
  input_is_not_written_to();
  delta_is_exact();
  forks();
  blosc2_destroy();
  return 0;
}
