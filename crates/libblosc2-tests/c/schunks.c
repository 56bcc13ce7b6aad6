/* Super-chunks in memory: chunks, slices, metalayers, frames in memory. */
#include <blosc2.h>

#include "check.h"

#define ITEMS 1000
#define NBYTES (4 * ITEMS)

static int32_t data[3 * ITEMS];
static int32_t found[3 * ITEMS];

static blosc2_schunk *with_chunks(bool contiguous, int count) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 4;
  blosc2_storage storage = {.contiguous = contiguous, .cparams = &cparams};
  blosc2_schunk *schunk = blosc2_schunk_new(&storage);
  CHECK(schunk != NULL);
  EQUAL(schunk->chunksize, -1);
  for (int i = 0; i < count; i++) {
    EQUAL(blosc2_schunk_append_buffer(schunk, data + i * ITEMS, NBYTES), i + 1);
    EQUAL(schunk->current_nchunk, i);
  }
  return schunk;
}

static void has(blosc2_schunk *schunk, const int32_t *items, int64_t count) {
  EQUAL(schunk->nbytes, 4 * count);
  memset(found, 0xff, sizeof found);
  EQUAL(blosc2_schunk_get_slice_buffer(schunk, 0, count, found), 0);
  CHECK(memcmp(found, items, (size_t)(4 * count)) == 0);
}

static void chunks(bool contiguous) {
  blosc2_schunk *schunk = with_chunks(contiguous, 3);
  EQUAL(schunk->nchunks, 3);
  EQUAL(schunk->chunksize, NBYTES);
  EQUAL(schunk->typesize, 4);
  has(schunk, data, 3 * ITEMS);
  EQUAL(blosc2_schunk_decompress_chunk(schunk, 1, found, NBYTES), NBYTES);
  CHECK(memcmp(found, data + ITEMS, NBYTES) == 0);
  CHECK(blosc2_schunk_decompress_chunk(schunk, 1, found, NBYTES - 1) < 0);
  EQUAL(blosc2_schunk_decompress_chunk(schunk, 3, found, NBYTES), BLOSC2_ERROR_INVALID_PARAM);
  EQUAL(blosc2_schunk_decompress_chunk(schunk, -1, found, NBYTES), BLOSC2_ERROR_INVALID_PARAM);

  uint8_t *chunk = NULL;
  bool needs_free = true;
  int cbytes = blosc2_schunk_get_chunk(schunk, 2, &chunk, &needs_free);
  CHECK(cbytes > 32);
  uint8_t *copy = malloc((size_t)cbytes);
  memcpy(copy, chunk, (size_t)cbytes);
  if (needs_free) {
    free(chunk);
  }
  EQUAL(blosc2_schunk_get_chunk(schunk, 3, &chunk, &needs_free), BLOSC2_ERROR_INVALID_PARAM);
  EQUAL(blosc2_schunk_insert_chunk(schunk, 0, copy, true), 4);
  EQUAL(blosc2_schunk_decompress_chunk(schunk, 0, found, NBYTES), NBYTES);
  CHECK(memcmp(found, data + 2 * ITEMS, NBYTES) == 0);
  EQUAL(blosc2_schunk_insert_chunk(schunk, 5, copy, true), BLOSC2_ERROR_INVALID_PARAM);
  EQUAL(blosc2_schunk_delete_chunk(schunk, 0), 3);
  has(schunk, data, 3 * ITEMS);
  EQUAL(blosc2_schunk_delete_chunk(schunk, 3), BLOSC2_ERROR_INVALID_PARAM);
  EQUAL(blosc2_schunk_update_chunk(schunk, 0, copy, true), 3);
  EQUAL(blosc2_schunk_decompress_chunk(schunk, 0, found, NBYTES), NBYTES);
  CHECK(memcmp(found, data + 2 * ITEMS, NBYTES) == 0);
  EQUAL(blosc2_schunk_update_chunk(schunk, 3, copy, true), BLOSC2_ERROR_INVALID_PARAM);
  EQUAL(blosc2_schunk_append_chunk(schunk, copy, false), 4);
  EQUAL(schunk->nbytes, 4 * NBYTES);
  EQUAL(schunk->chunksize, NBYTES);
  int64_t order[4] = {1, 2, 3, 0};
  EQUAL(blosc2_schunk_reorder_offsets(schunk, order), 0);
  EQUAL(blosc2_schunk_decompress_chunk(schunk, 0, found, NBYTES), NBYTES);
  CHECK(memcmp(found, data + ITEMS, NBYTES) == 0);
  order[0] = 2;
  EQUAL(blosc2_schunk_reorder_offsets(schunk, order), BLOSC2_ERROR_DATA);
  blosc2_schunk_free(schunk);
}

static void short_chunks(bool contiguous) {
  blosc2_schunk *schunk = with_chunks(contiguous, 2);
  EQUAL(blosc2_schunk_append_buffer(schunk, data + 2 * ITEMS, 400), 3);
  EQUAL(schunk->chunksize, NBYTES);
  has(schunk, data, 2 * ITEMS + 100);
  blosc2_schunk_free(schunk);
}

static void slices(bool contiguous) {
  blosc2_schunk *schunk = with_chunks(contiguous, 3);
  EQUAL(blosc2_schunk_get_slice_buffer(schunk, 990, 2010, found), 0);
  CHECK(memcmp(found, data + 990, 4 * 1020) == 0);
  EQUAL(blosc2_schunk_get_slice_buffer(schunk, 10, 10, found), 0);
  CHECK(blosc2_schunk_get_slice_buffer(schunk, 0, 3 * ITEMS + 1, found) < 0);
  CHECK(blosc2_schunk_get_slice_buffer(schunk, -1, 5, found) < 0);
  static int32_t expected[3 * ITEMS];
  memcpy(expected, data, sizeof data);
  for (int i = 990; i < 2010; i++) {
    expected[i] = -i;
  }
  EQUAL(blosc2_schunk_set_slice_buffer(schunk, 990, 2010, expected + 990), 0);
  has(schunk, expected, 3 * ITEMS);
  EQUAL(schunk->nchunks, 3);
  blosc2_schunk_free(schunk);
}

static void special_values(bool contiguous) {
  blosc2_schunk *schunk = with_chunks(contiguous, 0);
  CHECK(blosc2_schunk_fill_special(schunk, 100, BLOSC2_SPECIAL_VALUE, 400) < 0);
  CHECK(blosc2_schunk_fill_special(schunk, 100, BLOSC2_SPECIAL_ZERO, 401) < 0);
  EQUAL(blosc2_schunk_fill_special(schunk, 250, BLOSC2_SPECIAL_ZERO, 400), 3);
  EQUAL(schunk->nbytes, 1000);
  EQUAL(schunk->chunksize, 400);
  EQUAL(blosc2_schunk_decompress_chunk(schunk, 2, found, 400), 200);
  EQUAL(found[49], 0);
  EQUAL(blosc2_schunk_fill_special(schunk, 250, BLOSC2_SPECIAL_ZERO, 400), BLOSC2_ERROR_FRAME_SPECIAL);
  blosc2_schunk_free(schunk);
}

static void metalayers(bool contiguous) {
  blosc2_schunk *schunk = with_chunks(contiguous, 0);
  uint8_t *content = NULL;
  int32_t length = 0;
  EQUAL(blosc2_meta_add(schunk, "one", (uint8_t *)"hello", 5), 0);
  EQUAL(blosc2_meta_add(schunk, "one", (uint8_t *)"hello", 5), BLOSC2_ERROR_INVALID_PARAM);
  EQUAL(blosc2_meta_add(schunk, "two", (uint8_t *)"x", 1), 1);
  EQUAL(schunk->nmetalayers, 2);
  EQUAL(blosc2_meta_update(schunk, "one", (uint8_t *)"HELLO", 5), 0);
  EQUAL(blosc2_meta_update(schunk, "none", (uint8_t *)"HELLO", 5), BLOSC2_ERROR_NOT_FOUND);
  EQUAL(blosc2_meta_exists(schunk, "two"), 1);
  EQUAL(blosc2_meta_exists(schunk, "none"), BLOSC2_ERROR_NOT_FOUND);
  EQUAL(blosc2_meta_get(schunk, "one", &content, &length), 0);
  CHECK(length == 5 && memcmp(content, "HELLO", 5) == 0);
  free(content);

  EQUAL(blosc2_vlmeta_add(schunk, "a", (uint8_t *)"first", 5, NULL), 0);
  EQUAL(blosc2_vlmeta_add(schunk, "a", (uint8_t *)"first", 5, NULL), BLOSC2_ERROR_INVALID_PARAM);
  EQUAL(blosc2_vlmeta_add(schunk, "b", (uint8_t *)"second", 6, NULL), 1);
  EQUAL(blosc2_vlmeta_update(schunk, "a", (uint8_t *)"longer than before", 18, NULL), 0);
  EQUAL(blosc2_vlmeta_update(schunk, "c", (uint8_t *)"x", 1, NULL), BLOSC2_ERROR_NOT_FOUND);
  EQUAL(blosc2_vlmeta_exists(schunk, "b"), 1);
  EQUAL(blosc2_vlmeta_exists(schunk, "c"), BLOSC2_ERROR_NOT_FOUND);
  EQUAL(blosc2_vlmeta_get(schunk, "a", &content, &length), 0);
  CHECK(length == 18 && memcmp(content, "longer than before", 18) == 0);
  free(content);
  EQUAL(blosc2_vlmeta_get(schunk, "c", &content, &length), BLOSC2_ERROR_NOT_FOUND);
  char *names[2];
  EQUAL(blosc2_vlmeta_get_names(schunk, names), 2);
  CHECK(strcmp(names[0], "a") == 0 && strcmp(names[1], "b") == 0);
  EQUAL(blosc2_vlmeta_delete(schunk, "a"), 1);
  EQUAL(blosc2_vlmeta_delete(schunk, "a"), BLOSC2_ERROR_NOT_FOUND);
  EQUAL(schunk->nvlmetalayers, 1);
  CHECK(strcmp(schunk->vlmetalayers[0]->name, "b") == 0);
  blosc2_schunk_free(schunk);
}

static void copies_and_frames(bool contiguous) {
  blosc2_schunk *schunk = with_chunks(contiguous, 0);
  EQUAL(blosc2_meta_add(schunk, "one", (uint8_t *)"hello", 5), 0);
  for (int i = 0; i < 3; i++) {
    EQUAL(blosc2_schunk_append_buffer(schunk, data + i * ITEMS, NBYTES), i + 1);
  }
  EQUAL(blosc2_vlmeta_add(schunk, "a", (uint8_t *)"first", 5, NULL), 0);
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 4;
  cparams.compcode = BLOSC_ZSTD;
  blosc2_storage storage = {.contiguous = !contiguous, .cparams = &cparams};
  blosc2_schunk *copy = blosc2_schunk_copy(schunk, &storage);
  CHECK(copy != NULL);
  has(copy, data, 3 * ITEMS);
  EQUAL(copy->compcode, BLOSC_ZSTD);
  EQUAL(blosc2_meta_exists(copy, "one"), 0);
  EQUAL(blosc2_vlmeta_exists(copy, "a"), 0);
  blosc2_schunk_free(copy);

  uint8_t *cframe = NULL;
  bool needs_free = false;
  int64_t length = blosc2_schunk_to_buffer(schunk, &cframe, &needs_free);
  CHECK(length > 0);
  CHECK(blosc2_schunk_frame_len(schunk) > 0);
  blosc2_schunk *back = blosc2_schunk_from_buffer(cframe, length, true);
  CHECK(back != NULL);
  has(back, data, 3 * ITEMS);
  EQUAL(back->chunksize, NBYTES);
  EQUAL(back->typesize, 4);
  EQUAL(blosc2_meta_exists(back, "one"), 0);
  EQUAL(blosc2_vlmeta_exists(back, "a"), 0);
  EQUAL(blosc2_schunk_append_buffer(back, data, NBYTES), 4);
  blosc2_schunk_free(back);
  CHECK(blosc2_schunk_from_buffer(cframe, length - 10, true) == NULL);
  CHECK(blosc2_schunk_from_buffer(cframe, 10, true) == NULL);
  if (needs_free) {
    free(cframe);
  }
  EQUAL(blosc2_schunk_lock(schunk), 0);
  EQUAL(blosc2_schunk_unlock(schunk), 0);
  EQUAL(blosc2_schunk_refresh(schunk), 0);
  blosc2_schunk_free(schunk);
}

static void parameters(bool contiguous) {
  blosc2_schunk *schunk = with_chunks(contiguous, 1);
  blosc2_cparams *cparams = NULL;
  blosc2_dparams *dparams = NULL;
  EQUAL(blosc2_schunk_get_cparams(schunk, &cparams), 0);
  EQUAL(blosc2_schunk_get_dparams(schunk, &dparams), 0);
  EQUAL(cparams->typesize, 4);
  EQUAL(cparams->clevel, 5);
  EQUAL(cparams->nthreads, 1);
  CHECK(cparams->schunk == schunk);
  EQUAL(dparams->nthreads, 1);
  /* Programs exchange contexts. */
  cparams->clevel = 9;
  cparams->compcode = BLOSC_LZ4;
  blosc2_free_ctx(schunk->cctx);
  schunk->cctx = blosc2_create_cctx(*cparams);
  EQUAL(blosc2_schunk_append_buffer(schunk, data, NBYTES), 2);
  uint8_t *chunk = NULL;
  bool needs_free = false;
  CHECK(blosc2_schunk_get_lazychunk(schunk, 1, &chunk, &needs_free) > 0);
  CHECK(strcmp(blosc2_cbuffer_complib(chunk), BLOSC_LZ4_LIBNAME) == 0);
  if (needs_free) {
    free(chunk);
  }
  free(cparams);
  free(dparams);
  blosc2_schunk_free(schunk);
}

static int number_of_chunk(blosc2_prefilter_params *params) {
  for (int32_t i = 0; i < params->output_size / 4; i++) {
    ((int32_t *)params->output)[i] = (int32_t)params->nchunk;
  }
  return 0;
}

static void prefilters_know_the_chunk(void) {
  blosc2_prefilter_params preparams = {0};
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 4;
  cparams.prefilter = number_of_chunk;
  cparams.preparams = &preparams;
  blosc2_storage storage = {.cparams = &cparams};
  blosc2_schunk *schunk = blosc2_schunk_new(&storage);
  for (int i = 0; i < 3; i++) {
    EQUAL(blosc2_schunk_append_buffer(schunk, data, NBYTES), i + 1);
  }
  EQUAL(blosc2_schunk_decompress_chunk(schunk, 2, found, NBYTES), NBYTES);
  EQUAL(found[77], 2);
  blosc2_schunk_free(schunk);
}

static void blocks_of_any_lengths(void) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 1;
  blosc2_storage storage = {.cparams = &cparams};
  blosc2_schunk *schunk = blosc2_schunk_new(&storage);
  const void *blocks[2] = {"abc", "defgh"};
  int32_t sizes[2] = {3, 5};
  uint8_t chunk[200];
  CHECK(blosc2_vlcompress_ctx(schunk->cctx, blocks, sizes, 2, chunk, sizeof chunk) > 0);
  EQUAL(blosc2_schunk_append_chunk(schunk, chunk, true), 1);
  uint8_t *block = NULL;
  int32_t length = 0;
  EQUAL(blosc2_schunk_get_vlblock(schunk, 0, 1, &block, &length), 5);
  CHECK(length == 5 && memcmp(block, "defgh", 5) == 0);
  free(block);
  CHECK(blosc2_schunk_get_vlblock(schunk, 0, 2, &block, &length) < 0);
  blosc2_schunk_free(schunk);
}

int main(void) {
  for (int i = 0; i < 3 * ITEMS; i++) {
    data[i] = i * 7 / 3;
  }
  blosc2_init();
  for (int contiguous = 0; contiguous < 2; contiguous++) {
    chunks(contiguous);
    short_chunks(contiguous);
    slices(contiguous);
    special_values(contiguous);
    metalayers(contiguous);
    copies_and_frames(contiguous);
    parameters(contiguous);
  }
  prefilters_know_the_chunk();
  blocks_of_any_lengths();
  blosc2_destroy();
  return 0;
}
