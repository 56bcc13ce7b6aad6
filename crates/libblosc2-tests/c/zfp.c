/* Arrays of floats with zfp, and what it is not for. */
#include <b2nd.h>
#include <blosc2/codecs-registry.h>
#include <math.h>

#include "check.h"

#define ROWS 60
#define COLUMNS 50
#define ITEMS (ROWS * COLUMNS)

static double data[ITEMS];
static double found[ITEMS];
static float floats[ITEMS];
static float found_floats[ITEMS];

static blosc2_cparams cparams_of(uint8_t codec, uint8_t meta, int32_t typesize) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.compcode = codec;
  cparams.compcode_meta = meta;
  cparams.typesize = typesize;
  cparams.splitmode = BLOSC_NEVER_SPLIT;
  memset(cparams.filters, 0, sizeof cparams.filters);
  return cparams;
}

static b2nd_context_t *context_of(blosc2_cparams *cparams, int32_t block) {
  int64_t shape[2] = {ROWS, COLUMNS};
  int32_t chunks[2] = {30, 25};
  int32_t blocks[2] = {15, block};
  blosc2_storage storage = {.cparams = cparams};
  const char *dtype = cparams->typesize == 8 ? "<f8" : "<f4";
  return b2nd_create_ctx(&storage, 2, shape, chunks, blocks, dtype, 0, NULL, 0);
}

static double worst_of_doubles(void) {
  double worst = 0;
  for (int i = 0; i < ITEMS; i++) {
    worst = fmax(worst, fabs(data[i] - found[i]));
  }
  return worst;
}

/* The error is below the bound, and the frame smaller than the data. */
static void errors_are_bounded(uint8_t codec, int8_t meta, double bound) {
  blosc2_cparams cparams = cparams_of(codec, (uint8_t)meta, 8);
  b2nd_context_t *context = context_of(&cparams, 8);
  b2nd_array_t *array = NULL;
  EQUAL(b2nd_from_cbuffer(context, &array, data, sizeof data), 0);
  CHECK(array->sc->cbytes < array->sc->nbytes * 3 / 4);
  EQUAL(b2nd_to_cbuffer(array, found, sizeof data), 0);
  CHECK(worst_of_doubles() <= bound);
  int64_t start[2] = {7, 9};
  int64_t stop[2] = {41, 33};
  int64_t buffershape[2] = {34, 24};
  static double slice[34 * 24];
  EQUAL(b2nd_get_slice_cbuffer(array, start, stop, slice, buffershape, sizeof slice), 0);
  for (int row = 0; row < 34; row++) {
    CHECK(memcmp(slice + row * 24, found + (7 + row) * COLUMNS + 9, 24 * 8) == 0);
  }
  uint8_t *cframe = NULL;
  int64_t length = 0;
  bool needs_free = false;
  EQUAL(b2nd_to_cframe(array, &cframe, &length, &needs_free), 0);
  b2nd_array_t *copy = NULL;
  EQUAL(b2nd_from_cframe(cframe, length, true, &copy), 0);
  EQUAL(copy->sc->compcode, codec);
  EQUAL(copy->sc->compcode_meta, (uint8_t)meta);
  static double again[ITEMS];
  EQUAL(b2nd_to_cbuffer(copy, again, sizeof again), 0);
  CHECK(memcmp(again, found, sizeof again) == 0);
  b2nd_free(copy);
  if (needs_free) {
    free(cframe);
  }
  b2nd_free(array);
  b2nd_free_ctx(context);
}

static void floats_too(void) {
  blosc2_cparams cparams = cparams_of(BLOSC_CODEC_ZFP_FIXED_PRECISION, 18, 4);
  b2nd_context_t *context = context_of(&cparams, 8);
  b2nd_array_t *array = NULL;
  EQUAL(b2nd_from_cbuffer(context, &array, floats, sizeof floats), 0);
  CHECK(array->sc->cbytes < array->sc->nbytes);
  EQUAL(b2nd_to_cbuffer(array, found_floats, sizeof floats), 0);
  for (int i = 0; i < ITEMS; i++) {
    CHECK(fabsf(floats[i] - found_floats[i]) < 0.01f);
  }
  b2nd_free(array);
  b2nd_free_ctx(context);
}

static void what_it_is_not_for(void) {
  blosc2_cparams cparams = cparams_of(BLOSC_CODEC_ZFP_FIXED_ACCURACY, 0, 8);
  b2nd_context_t *context = context_of(&cparams, 2);
  b2nd_array_t *array = NULL;
  /* A block has cells of 4 items along each axis. */
  CHECK(b2nd_from_cbuffer(context, &array, data, sizeof data) < 0);
  b2nd_free_ctx(context);

  /* Chunks without a shape. */
  blosc2_storage storage = {.cparams = &cparams};
  blosc2_schunk *schunk = blosc2_schunk_new(&storage);
  CHECK(schunk != NULL);
  CHECK(blosc2_schunk_append_buffer(schunk, data, sizeof data) < 0);
  blosc2_schunk_free(schunk);

  /* JPEG 2000 is a package of its own. */
  cparams = cparams_of(BLOSC_CODEC_GROK, 0, 8);
  schunk = blosc2_schunk_new(&storage);
  if (schunk != NULL) {
    CHECK(blosc2_schunk_append_buffer(schunk, data, sizeof data) < 0);
    blosc2_schunk_free(schunk);
  }
}

int main(void) {
  for (int i = 0; i < ITEMS; i++) {
    data[i] = sin(i / 50.0) * 100 + cos(i % COLUMNS / 7.0);
    floats[i] = (float)data[i];
  }
  blosc2_init();
  errors_are_bounded(BLOSC_CODEC_ZFP_FIXED_ACCURACY, -3, 0.001);
  errors_are_bounded(BLOSC_CODEC_ZFP_FIXED_ACCURACY, 0, 1);
  errors_are_bounded(BLOSC_CODEC_ZFP_FIXED_PRECISION, 20, 0.01);
  errors_are_bounded(BLOSC_CODEC_ZFP_FIXED_RATE, 50, 0.001);
  floats_too();
  what_it_is_not_for();
  blosc2_destroy();
  return 0;
}
