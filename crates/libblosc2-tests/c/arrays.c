/* Arrays in memory: made, sliced, written to, given other shapes. */
#include <b2nd.h>

#include "check.h"

#define ROWS 13
#define COLUMNS 17
#define ITEMS (ROWS * COLUMNS)

static int32_t data[ITEMS];
static int32_t found[4 * ITEMS];
static const int64_t shape[2] = {ROWS, COLUMNS};
static const int32_t chunkshape[2] = {5, 8};
static const int32_t blockshape[2] = {2, 3};

static b2nd_context_t *context_of(bool contiguous, const int64_t *its_shape) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 4;
  blosc2_storage storage = {.contiguous = contiguous, .cparams = &cparams};
  b2nd_context_t *context = b2nd_create_ctx(&storage, 2, its_shape, chunkshape, blockshape, "<i4", 0, NULL, 0);
  CHECK(context != NULL);
  return context;
}

static b2nd_array_t *array_of(bool contiguous) {
  b2nd_context_t *context = context_of(contiguous, shape);
  b2nd_array_t *array = NULL;
  EQUAL(b2nd_from_cbuffer(context, &array, data, sizeof data), 0);
  EQUAL(b2nd_free_ctx(context), 0);
  return array;
}

static void fields(void) {
  b2nd_array_t *array = array_of(false);
  EQUAL(array->ndim, 2);
  CHECK(array->shape[0] == ROWS && array->shape[1] == COLUMNS);
  CHECK(array->extshape[0] == 15 && array->extshape[1] == 24);
  CHECK(array->extchunkshape[0] == 6 && array->extchunkshape[1] == 9);
  EQUAL(array->nitems, ITEMS);
  EQUAL(array->chunknitems, 40);
  EQUAL(array->extnitems, 360);
  EQUAL(array->blocknitems, 6);
  EQUAL(array->extchunknitems, 54);
  CHECK(array->item_array_strides[0] == COLUMNS && array->item_array_strides[1] == 1);
  CHECK(array->item_chunk_strides[0] == 8 && array->item_extchunk_strides[0] == 9);
  CHECK(array->item_block_strides[0] == 3 && array->block_chunk_strides[0] == 3);
  CHECK(strcmp(array->dtype, "<i4") == 0);
  EQUAL(array->sc->nchunks, 9);
  EQUAL(array->sc->chunksize, 4 * 54);
  EQUAL(array->sc->blocksize, 4 * 6);
  CHECK(blosc2_meta_exists(array->sc, "b2nd") >= 0);
  EQUAL(b2nd_free(array), 0);
}

static void whole_and_slices(bool contiguous) {
  b2nd_array_t *array = array_of(contiguous);
  EQUAL(b2nd_to_cbuffer(array, found, sizeof data), 0);
  CHECK(memcmp(found, data, sizeof data) == 0);
  CHECK(b2nd_to_cbuffer(array, found, sizeof data - 4) < 0);
  for (int64_t top = 0; top < ROWS; top += 3) {
    for (int64_t left = 0; left < COLUMNS; left += 4) {
      int64_t start[2] = {top, left};
      int64_t stop[2] = {top + 7 < ROWS ? top + 7 : ROWS, left + 9 < COLUMNS ? left + 9 : COLUMNS};
      int64_t buffershape[2] = {stop[0] - top, stop[1] - left};
      int64_t size = 4 * buffershape[0] * buffershape[1];
      EQUAL(b2nd_get_slice_cbuffer(array, start, stop, found, buffershape, size), 0);
      for (int64_t i = 0; i < buffershape[0]; i++) {
        CHECK(memcmp(found + i * buffershape[1], data + (top + i) * COLUMNS + left, 4 * (size_t)buffershape[1]) == 0);
      }
    }
  }
  int64_t start[2] = {3, 4};
  int64_t stop[2] = {11, 16};
  int64_t buffershape[2] = {8, 12};
  int32_t new_items[96];
  for (int i = 0; i < 96; i++) {
    new_items[i] = -i;
  }
  EQUAL(b2nd_set_slice_cbuffer(new_items, buffershape, sizeof new_items, start, stop, array), 0);
  EQUAL(b2nd_to_cbuffer(array, found, sizeof data), 0);
  for (int64_t row = 0; row < ROWS; row++) {
    for (int64_t column = 0; column < COLUMNS; column++) {
      bool is_new = row >= 3 && row < 11 && column >= 4 && column < 16;
      int64_t at = row * COLUMNS + column;
      EQUAL(found[at], is_new ? new_items[(row - 3) * 12 + column - 4] : data[at]);
    }
  }
  b2nd_free(array);
}

static void special_arrays(bool contiguous) {
  b2nd_context_t *context = context_of(contiguous, shape);
  b2nd_array_t *array = NULL;
  EQUAL(b2nd_zeros(context, &array), 0);
  EQUAL(b2nd_to_cbuffer(array, found, sizeof data), 0);
  CHECK(found[0] == 0 && found[ITEMS - 1] == 0);
  b2nd_free(array);
  int32_t value = 77;
  EQUAL(b2nd_full(context, &array, &value), 0);
  EQUAL(b2nd_to_cbuffer(array, found, sizeof data), 0);
  CHECK(found[0] == 77 && found[ITEMS - 1] == 77);
  b2nd_free(array);
  EQUAL(b2nd_uninit(context, &array), 0);
  EQUAL(array->sc->nchunks, 9);
  b2nd_free(array);
  b2nd_free_ctx(context);
}

static void copies(bool contiguous) {
  b2nd_array_t *array = array_of(contiguous);
  EQUAL(blosc2_vlmeta_add(array->sc, "note", (uint8_t *)"kept", 4, NULL), 0);
  b2nd_context_t *context = context_of(!contiguous, shape);
  b2nd_array_t *copy = NULL;
  EQUAL(b2nd_copy(context, array, &copy), 0);
  EQUAL(b2nd_to_cbuffer(copy, found, sizeof data), 0);
  CHECK(memcmp(found, data, sizeof data) == 0);
  EQUAL(blosc2_vlmeta_exists(copy->sc, "note"), 0);
  b2nd_free(copy);
  int64_t start[2] = {2, 3};
  int64_t stop[2] = {9, 14};
  EQUAL(b2nd_get_slice(context, &copy, array, start, stop), 0);
  CHECK(copy->shape[0] == 7 && copy->shape[1] == 11);
  EQUAL(b2nd_to_cbuffer(copy, found, 4 * 77), 0);
  EQUAL(found[0], data[2 * COLUMNS + 3]);
  EQUAL(found[76], data[8 * COLUMNS + 13]);
  b2nd_free(copy);
  b2nd_free_ctx(context);

  uint8_t *cframe = NULL;
  int64_t length = 0;
  bool needs_free = false;
  EQUAL(b2nd_to_cframe(array, &cframe, &length, &needs_free), 0);
  EQUAL(b2nd_from_cframe(cframe, length, true, &copy), 0);
  EQUAL(b2nd_to_cbuffer(copy, found, sizeof data), 0);
  CHECK(memcmp(found, data, sizeof data) == 0);
  CHECK(strcmp(copy->dtype, "<i4") == 0);
  b2nd_free(copy);
  if (needs_free) {
    free(cframe);
  }
  b2nd_free(array);
}

static void other_shapes(bool contiguous) {
  b2nd_array_t *array = array_of(contiguous);
  int64_t larger[2] = {ROWS + 10, COLUMNS + 10};
  EQUAL(b2nd_resize(array, larger, NULL), 0);
  CHECK(array->shape[0] == ROWS + 10 && array->nitems == (ROWS + 10) * (COLUMNS + 10));
  int64_t start[2] = {0, 0};
  EQUAL(b2nd_get_slice_cbuffer(array, start, shape, found, shape, sizeof data), 0);
  CHECK(memcmp(found, data, sizeof data) == 0);
  int64_t smaller[2] = {4, 5};
  EQUAL(b2nd_resize(array, smaller, NULL), 0);
  EQUAL(b2nd_to_cbuffer(array, found, 4 * 20), 0);
  EQUAL(found[19], data[3 * COLUMNS + 4]);
  b2nd_free(array);

  array = array_of(contiguous);
  EQUAL(b2nd_append(array, data, 4 * 2 * COLUMNS, 0), 0);
  EQUAL(array->shape[0], ROWS + 2);
  EQUAL(b2nd_to_cbuffer(array, found, 4 * (ITEMS + 2 * COLUMNS)), 0);
  CHECK(memcmp(found, data, sizeof data) == 0 && memcmp(found + ITEMS, data, 4 * 2 * COLUMNS) == 0);
  b2nd_free(array);

  array = array_of(contiguous);
  EQUAL(b2nd_insert(array, data, 4 * 5 * COLUMNS, 0, 5), 0);
  EQUAL(b2nd_to_cbuffer(array, found, 4 * (ITEMS + 5 * COLUMNS)), 0);
  CHECK(memcmp(found, data, 4 * 5 * COLUMNS) == 0);
  CHECK(memcmp(found + 5 * COLUMNS, data, 4 * 5 * COLUMNS) == 0);
  CHECK(memcmp(found + 10 * COLUMNS, data + 5 * COLUMNS, 4 * 8 * COLUMNS) == 0);
  EQUAL(b2nd_delete(array, 0, 5, 5), 0);
  EQUAL(b2nd_to_cbuffer(array, found, sizeof data), 0);
  CHECK(memcmp(found, data, sizeof data) == 0);
  b2nd_free(array);
}

static void selections(bool contiguous) {
  b2nd_array_t *array = array_of(contiguous);
  int64_t rows[3] = {12, 0, 7};
  int64_t columns[2] = {16, 3};
  int64_t *selection[2] = {rows, columns};
  int64_t sizes[2] = {3, 2};
  int64_t buffershape[2] = {3, 2};
  EQUAL(b2nd_get_orthogonal_selection(array, selection, sizes, found, buffershape, 4 * 6), 0);
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 2; j++) {
      EQUAL(found[2 * i + j], data[rows[i] * COLUMNS + columns[j]]);
    }
  }
  int32_t items[6] = {-1, -2, -3, -4, -5, -6};
  EQUAL(b2nd_set_orthogonal_selection(array, selection, sizes, items, buffershape, sizeof items), 0);
  EQUAL(b2nd_to_cbuffer(array, found, sizeof data), 0);
  EQUAL(found[12 * COLUMNS + 16], -1);
  EQUAL(found[7 * COLUMNS + 3], -6);
  EQUAL(found[1], data[1]);
  b2nd_free(array);
}

static void metalayer(void) {
  uint8_t *bytes = NULL;
  int length = b2nd_serialize_meta(2, shape, chunkshape, blockshape, "<i4", 0, &bytes);
  CHECK(length > 0);
  for (int i = 0; i < 2; i++) {
    int8_t ndim = 0;
    int8_t format = 9;
    int64_t its_shape[B2ND_MAX_DIM];
    int32_t its_chunks[B2ND_MAX_DIM];
    int32_t its_blocks[B2ND_MAX_DIM];
    char *dtype = NULL;
    int read = i == 0 ? b2nd_deserialize_meta(bytes, length, &ndim, its_shape, its_chunks, its_blocks, &dtype, &format)
                      : b2nd_deserialize_meta_inline(bytes, length, &ndim, its_shape, its_chunks, its_blocks, &dtype,
                                                     &format);
    EQUAL(read, length);
    EQUAL(ndim, 2);
    EQUAL(format, 0);
    CHECK(its_shape[1] == COLUMNS && its_chunks[1] == 8 && its_blocks[1] == 3 && strcmp(dtype, "<i4") == 0);
    free(dtype);
    CHECK(b2nd_deserialize_meta(bytes, 10, &ndim, its_shape, its_chunks, its_blocks, &dtype, &format) < 0);
  }
  free(bytes);
}

int main(void) {
  for (int i = 0; i < ITEMS; i++) {
    data[i] = i * 7 / 3;
  }
  blosc2_init();
  fields();
  for (int contiguous = 0; contiguous < 2; contiguous++) {
    whole_and_slices(contiguous);
    special_arrays(contiguous);
    copies(contiguous);
    other_shapes(contiguous);
    selections(contiguous);
  }
  metalayer();
  blosc2_destroy();
  return 0;
}
