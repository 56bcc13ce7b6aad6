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

static char path[] = "/tmp/blosc2-ours-XXXXXX/a.b2frame";

static blosc2_schunk *stored(bool contiguous) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 4;
  blosc2_storage storage = {.contiguous = contiguous, .urlpath = path, .cparams = &cparams};
  blosc2_schunk *schunk = blosc2_schunk_new(&storage);
  CHECK(schunk != NULL);
  return schunk;
}

/* Two handles append in turns, without locks: nothing is lost, and each sees what the other has done. */
static void two_handles(bool contiguous) {
  blosc2_schunk *one = stored(contiguous);
  blosc2_schunk *two = blosc2_schunk_open(path);
  CHECK(two != NULL);
  for (int i = 0; i < 20; i++) {
    data[0] = i;
    EQUAL(blosc2_schunk_append_buffer(i % 3 == 0 ? one : two, data, 4000), i + 1);
  }
  for (int i = 0; i < 20; i++) {
    EQUAL(blosc2_schunk_decompress_chunk(i % 2 == 0 ? one : two, i, decoded, 4000), 4000);
    EQUAL(decoded[0], i);
  }
  EQUAL(blosc2_vlmeta_add(one, "note", (uint8_t *)"note", 4, NULL), 0);
  EQUAL(blosc2_vlmeta_exists(two, "note"), 0);
  EQUAL(blosc2_schunk_delete_chunk(two, 19), 19);
  EQUAL(blosc2_schunk_refresh(one), 1);
  EQUAL(one->nchunks, 19);
  blosc2_schunk_free(one);
  blosc2_schunk_free(two);
  EQUAL(blosc2_remove_urlpath(path), 0);
}

/* More vlmetalayers than C-Blosc2 can extend. */
static void many_layers(bool contiguous) {
  blosc2_schunk *schunk = stored(contiguous);
  char name[16];
  for (int i = 0; i < 40; i++) {
    snprintf(name, sizeof name, "layer-%d", i);
    EQUAL(blosc2_vlmeta_add(schunk, name, (uint8_t *)name, (int32_t)strlen(name), NULL), i);
  }
  blosc2_schunk_free(schunk);
  schunk = blosc2_schunk_open(path);
  CHECK(schunk != NULL);
  EQUAL(schunk->nvlmetalayers, 40);
  uint8_t *content = NULL;
  int32_t len = 0;
  EQUAL(blosc2_vlmeta_get(schunk, "layer-39", &content, &len), 39);
  EQUAL(len, 8);
  free(content);
  blosc2_schunk_free(schunk);
  EQUAL(blosc2_remove_urlpath(path), 0);
}

/* Whether the file has a word in it. */
static bool has_word(const char *word) {
  static char bytes[1 << 16];
  FILE *file = fopen(path, "rb");
  CHECK(file != NULL);
  size_t len = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  return memmem(bytes, len, word, strlen(word)) != NULL;
}

/* Checksums are made where they are asked for, kept where they are, and not shown. */
static void checksums(void) {
  blosc2_schunk *schunk = stored(true);
  EQUAL(blosc2_schunk_append_buffer(schunk, data, 4000), 1);
  CHECK(!has_word("_xxh3"));
  blosc2_schunk_free(schunk);
  EQUAL(blosc2_remove_urlpath(path), 0);
  CHECK(setenv("BLOSC_OXIDE_CHECKSUMS", "1", 1) == 0);
  schunk = stored(true);
  CHECK(unsetenv("BLOSC_OXIDE_CHECKSUMS") == 0);
  EQUAL(blosc2_schunk_append_buffer(schunk, data, 4000), 1);
  blosc2_schunk_free(schunk);
  schunk = blosc2_schunk_open(path);
  CHECK(schunk != NULL);
  EQUAL(schunk->nvlmetalayers, 0);
  EQUAL(blosc2_vlmeta_exists(schunk, "_xxh3"), BLOSC2_ERROR_NOT_FOUND);
  EQUAL(blosc2_schunk_append_buffer(schunk, data, 4000), 2);
  CHECK(has_word("_xxh3"));
  EQUAL(schunk->nvlmetalayers, 0);
  blosc2_schunk_free(schunk);
  EQUAL(blosc2_remove_urlpath(path), 0);
}

/* A forked process and its parent both append. */
static void stored_and_forked(void) {
  blosc2_schunk *schunk = stored(true);
  EQUAL(blosc2_schunk_append_buffer(schunk, data, 4000), 1);
  pid_t child = fork();
  CHECK(child >= 0);
  for (int i = 0; i < 50; i++) {
    CHECK(blosc2_schunk_append_buffer(schunk, data, 4000) > 0);
  }
  if (child == 0) {
    kill(getpid(), SIGKILL);
  }
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  EQUAL(blosc2_schunk_append_buffer(schunk, data, 4000), 102);
  blosc2_schunk_free(schunk);
  EQUAL(blosc2_remove_urlpath(path), 0);
}

static void stored_super_chunks(void) {
  char *end = strrchr(path, '/');
  *end = 0;
  CHECK(mkdtemp(path) != NULL);
  *end = '/';
  two_handles(true);
  two_handles(false);
  many_layers(true);
  many_layers(false);
  checksums();
  stored_and_forked();
  *end = 0;
  EQUAL(rmdir(path), 0);
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
  stored_super_chunks();
  blosc2_destroy();
  return 0;
}
