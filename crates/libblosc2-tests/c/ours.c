/* What C-Blosc2 crashes on, hangs in, or does wrong. */
#define _GNU_SOURCE
#include <b2nd.h>

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

/* A slice of exactly one block that does not begin where a block begins. */
static void slices_of_one_block(void) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 4;
  cparams.blocksize = 4096;
  blosc2_context *cctx = blosc2_create_cctx(cparams);
  blosc2_context *dctx = blosc2_create_dctx(BLOSC2_DPARAMS_DEFAULTS);
  int cbytes = blosc2_compress_ctx(cctx, data, NBYTES, chunk, sizeof chunk);
  CHECK(cbytes > 0);
  for (int start = 0; start < ITEMS - 1024; start += 731) {
    memset(decoded, 0xff, NBYTES);
    EQUAL(blosc2_getitem_ctx(dctx, chunk, cbytes, start, 1024, decoded, 4096), 4096);
    CHECK(memcmp(data + start, decoded, 4096) == 0);
    EQUAL(blosc2_getitem(chunk, cbytes, start, 1024, decoded, 4096), 4096);
    CHECK(memcmp(data + start, decoded, 4096) == 0);
  }
  blosc2_storage storage = {.cparams = &cparams};
  blosc2_schunk *schunk = blosc2_schunk_new(&storage);
  EQUAL(blosc2_schunk_append_buffer(schunk, data, NBYTES), 1);
  for (int64_t start = 1; start < ITEMS - 1024; start += 1023) {
    EQUAL(blosc2_schunk_get_slice_buffer(schunk, start, start + 1024, decoded), 0);
    CHECK(memcmp(data + start, decoded, 4096) == 0);
  }
  blosc2_schunk_free(schunk);
  blosc2_free_ctx(cctx);
  blosc2_free_ctx(dctx);
}

/* Chunks for C-Blosc 1.x: blocks that are no multiple of eight items, with bitshuffle. */
static void the_tail_of_bitshuffle(void) {
  CHECK(setenv("BLOSC_BLOSC1_COMPAT", "1", 1) == 0);
  for (int nbytes = 4 * 1000; nbytes < 4 * 1000 + 40; nbytes++) {
    int cbytes = blosc2_compress(5, BLOSC_BITSHUFFLE, 4, data, nbytes, chunk, sizeof chunk);
    CHECK(cbytes > 0);
    memset(decoded, 0xff, NBYTES);
    EQUAL(blosc2_decompress(chunk, cbytes, decoded, NBYTES), nbytes);
    CHECK(memcmp(data, decoded, (size_t)nbytes) == 0);
  }
  CHECK(unsetenv("BLOSC_BLOSC1_COMPAT") == 0);
}

/* There are more than 16 variable-length metalayers, each of its own, also behind a frame. */
static void many_vlmetalayers(void) {
  blosc2_schunk *schunk = blosc2_schunk_new(NULL);
  for (int i = 0; i < 40; i++) {
    char name[24];
    snprintf(name, sizeof name, "layer %d", i);
    EQUAL(blosc2_vlmeta_add(schunk, name, (uint8_t *)&i, sizeof i, NULL), i);
  }
  uint8_t *cframe = NULL;
  bool needs_free = false;
  int64_t length = blosc2_schunk_to_buffer(schunk, &cframe, &needs_free);
  CHECK(length > 0);
  blosc2_schunk *copy = blosc2_schunk_from_buffer(cframe, length, true);
  CHECK(copy != NULL);
  blosc2_schunk *both[2] = {schunk, copy};
  for (int which = 0; which < 2; which++) {
    EQUAL(both[which]->nvlmetalayers, 40);
    for (int i = 0; i < 40; i++) {
      char name[24];
      snprintf(name, sizeof name, "layer %d", i);
      uint8_t *content = NULL;
      int32_t content_len = 0;
      CHECK(blosc2_vlmeta_get(both[which], name, &content, &content_len) >= 0);
      EQUAL(content_len, sizeof i);
      CHECK(memcmp(content, &i, sizeof i) == 0);
      free(content);
    }
  }
  blosc2_schunk_free(copy);
  blosc2_schunk_free(schunk);
  if (needs_free) {
    free(cframe);
  }
}

/* A view has the metalayers of its array, and both can be freed. */
static void views_with_metalayers(void) {
  int64_t shape[2] = {1, 100};
  int32_t chunks[2] = {1, 50};
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 4;
  blosc2_storage storage = {.cparams = &cparams};
  blosc2_metalayer layer = {.name = "of C", .content = (uint8_t *)"own", .content_len = 3};
  b2nd_context_t *context = b2nd_create_ctx(&storage, 2, shape, chunks, chunks, "<i4", 0, &layer, 1);
  b2nd_array_t *array = NULL;
  EQUAL(b2nd_from_cbuffer(context, &array, data, 400), 0);
  EQUAL(blosc2_vlmeta_add(array->sc, "unit", (uint8_t *)"K", 1, NULL), 0);
  b2nd_array_t *view = NULL;
  EQUAL(b2nd_squeeze(array, &view), 0);
  EQUAL(blosc2_vlmeta_exists(view->sc, "unit"), 0);
  CHECK(blosc2_meta_exists(view->sc, "of C") >= 0);
  /* More or fewer chunks would have to be those of the array. */
  int64_t longer[1] = {200};
  CHECK(b2nd_resize(view, longer, NULL) < 0);
  CHECK(blosc2_schunk_delete_chunk(view->sc, 0) < 0);
  EQUAL(b2nd_to_cbuffer(view, decoded, 400), 0);
  CHECK(memcmp(data, decoded, 400) == 0);
  b2nd_free(view);
  /* An axis of one item in chunks of more cannot be left out. */
  b2nd_free(array);
  int32_t wide[2] = {3, 50};
  b2nd_free_ctx(context);
  context = b2nd_create_ctx(&storage, 2, shape, wide, chunks, "<i4", 0, NULL, 0);
  EQUAL(b2nd_from_cbuffer(context, &array, data, 400), 0);
  CHECK(b2nd_squeeze(array, &view) < 0);
  b2nd_free(array);
  b2nd_free_ctx(context);
}

/* zfp takes numbers, and not their bytes in another order. */
static void shuffled_floats(void) {
  int64_t shape[2] = {40, 50};
  int32_t chunks[2] = {20, 25};
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 4;
  cparams.compcode = 33;
  CHECK(cparams.filters[5] == BLOSC_SHUFFLE);
  blosc2_storage storage = {.cparams = &cparams};
  b2nd_context_t *context = b2nd_create_ctx(&storage, 2, shape, chunks, chunks, "<f4", 0, NULL, 0);
  CHECK(context != NULL);
  b2nd_array_t *array = NULL;
  CHECK(b2nd_from_cbuffer(context, &array, data, 8000) < 0);
  b2nd_free_ctx(context);
}

static uint64_t state = 88172645463325252u;

static uint64_t draw(uint64_t below) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state % below;
}

/* Damage gives error codes or data, and no crash. */
static void damaged_frames(void) {
  int64_t shape[2] = {40, 50};
  int32_t chunks[2] = {20, 30};
  int32_t blocks[2] = {5, 10};
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 4;
  blosc2_storage storage = {.contiguous = true, .cparams = &cparams};
  b2nd_context_t *context = b2nd_create_ctx(&storage, 2, shape, chunks, blocks, "<i4", 0, NULL, 0);
  b2nd_array_t *array = NULL;
  EQUAL(b2nd_from_cbuffer(context, &array, data, 8000), 0);
  EQUAL(blosc2_vlmeta_add(array->sc, "unit", (uint8_t *)"kelvin", 6, NULL), 0);
  uint8_t *cframe = NULL;
  int64_t length = 0;
  bool needs_free = false;
  EQUAL(b2nd_to_cframe(array, &cframe, &length, &needs_free), 0);
  uint8_t *damaged = malloc((size_t)length);
  int opened = 0;
  for (int round = 0; round < 2000; round++) {
    memcpy(damaged, cframe, (size_t)length);
    uint64_t places = 1 + draw(4);
    for (uint64_t i = 0; i < places; i++) {
      damaged[draw(round % 2 == 0 ? 200 : (uint64_t)length)] = (uint8_t)draw(256);
    }
    int64_t left = round % 5 == 0 ? (int64_t)draw((uint64_t)length) : length;
    b2nd_array_t *found = NULL;
    if (b2nd_from_cframe(damaged, left, true, &found) < 0) {
      continue;
    }
    opened++;
    b2nd_to_cbuffer(found, decoded, NBYTES);
    int64_t start[B2ND_MAX_DIM] = {0};
    int64_t stop[B2ND_MAX_DIM];
    for (int i = 0; i < B2ND_MAX_DIM; i++) {
      stop[i] = 1;
    }
    b2nd_get_slice_cbuffer(found, start, stop, decoded, stop, NBYTES);
    int64_t coords[2] = {0, found->nitems - 1};
    if (found->sc->typesize <= 255) {
      b2nd_get_sparse_cbuffer(found, 2, coords, decoded, NBYTES);
    }
    for (int64_t i = 0; i < found->sc->nchunks && i < 10; i++) {
      blosc2_schunk_decompress_chunk(found->sc, i, decoded, NBYTES);
    }
    b2nd_free(found);
  }
  CHECK(opened > 100);
  free(damaged);
  if (needs_free) {
    free(cframe);
  }
  b2nd_free(array);
  b2nd_free_ctx(context);
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
  slices_of_one_block();
  the_tail_of_bitshuffle();
  many_vlmetalayers();
  views_with_metalayers();
  shuffled_floats();
  damaged_frames();
  forks();
  stored_super_chunks();
  blosc2_destroy();
  return 0;
}
