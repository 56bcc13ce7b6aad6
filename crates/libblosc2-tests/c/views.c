/* Arrays that show others with other axes, arrays that are joined, and items by their number. */
#include <b2nd.h>

#include "check.h"

#define ITEMS (6 * 10)

static int32_t data[ITEMS];
static int32_t found[4 * ITEMS];

static b2nd_context_t *context_of(int8_t ndim, const int64_t *shape, const int32_t *chunks, const int32_t *blocks) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 4;
  blosc2_storage storage = {.contiguous = false, .cparams = &cparams};
  b2nd_context_t *context = b2nd_create_ctx(&storage, ndim, shape, chunks, blocks, "<i4", 0, NULL, 0);
  CHECK(context != NULL);
  return context;
}

static b2nd_array_t *array_of(int8_t ndim, const int64_t *shape, const int32_t *chunks, const int32_t *blocks) {
  b2nd_context_t *context = context_of(ndim, shape, chunks, blocks);
  int64_t nitems = 1;
  for (int i = 0; i < ndim; i++) {
    nitems *= shape[i];
  }
  b2nd_array_t *array = NULL;
  EQUAL(b2nd_from_cbuffer(context, &array, data, nitems * 4), 0);
  b2nd_free_ctx(context);
  return array;
}

static void single_axes_are_dropped(void) {
  int64_t shape[4] = {1, 6, 1, 10};
  int32_t chunks[4] = {1, 4, 1, 5};
  int32_t blocks[4] = {1, 2, 1, 5};
  b2nd_array_t *array = array_of(4, shape, chunks, blocks);
  b2nd_array_t *view = NULL;
  EQUAL(b2nd_squeeze(array, &view), 0);
  EQUAL(view->ndim, 2);
  CHECK(view->shape[0] == 6 && view->shape[1] == 10 && view->chunkshape[0] == 4 && view->blockshape[1] == 5);
  EQUAL(array->ndim, 4);
  CHECK(view->sc->view && !array->sc->view);
  EQUAL(view->sc->nchunks, array->sc->nchunks);
  CHECK(strcmp(view->dtype, "<i4") == 0);
  EQUAL(b2nd_to_cbuffer(view, found, sizeof data), 0);
  CHECK(memcmp(found, data, sizeof data) == 0);
  /* What is written to a view is in the array. */
  int32_t items[2] = {-1, -2};
  int64_t start[2] = {5, 8};
  int64_t stop[2] = {6, 10};
  int64_t buffershape[2] = {1, 2};
  EQUAL(b2nd_set_slice_cbuffer(items, buffershape, sizeof items, start, stop, view), 0);
  EQUAL(b2nd_to_cbuffer(array, found, sizeof data), 0);
  CHECK(found[58] == -1 && found[59] == -2 && found[57] == data[57]);
  uint8_t *cframe = NULL;
  int64_t length = 0;
  bool needs_free = false;
  EQUAL(b2nd_to_cframe(view, &cframe, &length, &needs_free), 0);
  b2nd_array_t *copy = NULL;
  EQUAL(b2nd_from_cframe(cframe, length, true, &copy), 0);
  EQUAL(copy->ndim, 2);
  EQUAL(b2nd_to_cbuffer(copy, found, sizeof data), 0);
  EQUAL(found[59], -2);
  b2nd_free(copy);
  if (needs_free) {
    free(cframe);
  }
  EQUAL(b2nd_free(view), 0);

  bool index[4] = {false, false, true, false};
  EQUAL(b2nd_squeeze_index(array, &view, index), 0);
  EQUAL(view->ndim, 3);
  CHECK(view->shape[0] == 1 && view->shape[1] == 6 && view->shape[2] == 10);
  EQUAL(b2nd_to_cbuffer(view, found, sizeof data), 0);
  EQUAL(found[59], -2);
  EQUAL(b2nd_free(view), 0);
  bool longer[4] = {false, true, false, false};
  CHECK(b2nd_squeeze_index(array, &view, longer) < 0);
  EQUAL(b2nd_to_cbuffer(array, found, sizeof data), 0);
  EQUAL(b2nd_free(array), 0);

  int64_t one[2] = {1, 1};
  int32_t ones[2] = {1, 1};
  array = array_of(2, one, ones, ones);
  EQUAL(b2nd_squeeze(array, &view), 0);
  EQUAL(view->ndim, 0);
  EQUAL(view->nitems, 1);
  EQUAL(b2nd_to_cbuffer(view, found, 4), 0);
  EQUAL(found[0], data[0]);
  b2nd_free(view);
  b2nd_free(array);
}

static void axes_are_added(void) {
  int64_t shape[2] = {6, 10};
  int32_t chunks[2] = {4, 5};
  int32_t blocks[2] = {2, 5};
  b2nd_array_t *array = array_of(2, shape, chunks, blocks);
  b2nd_array_t *view = NULL;
  bool axes[4] = {true, false, true, false};
  EQUAL(b2nd_expand_dims(array, &view, axes, 4), 0);
  EQUAL(view->ndim, 4);
  CHECK(view->shape[0] == 1 && view->shape[1] == 6 && view->shape[2] == 1 && view->shape[3] == 10);
  CHECK(view->chunkshape[0] == 1 && view->chunkshape[1] == 4 && view->blockshape[3] == 5);
  EQUAL(b2nd_to_cbuffer(view, found, sizeof data), 0);
  CHECK(memcmp(found, data, sizeof data) == 0);
  b2nd_array_t *back = NULL;
  EQUAL(b2nd_squeeze(view, &back), 0);
  EQUAL(back->ndim, 2);
  EQUAL(b2nd_to_cbuffer(back, found, sizeof data), 0);
  CHECK(memcmp(found, data, sizeof data) == 0);
  b2nd_free(back);
  b2nd_free(view);
  bool more[4] = {true, false, false, false};
  CHECK(b2nd_expand_dims(array, &view, more, 4) < 0);
  b2nd_free(array);
}

/* Rows 0 to 5, and then the first `rows` rows again. */
static void check_rows(const b2nd_array_t *array, int64_t rows) {
  EQUAL(array->shape[0], 6 + rows);
  EQUAL(b2nd_to_cbuffer(array, found, 4 * (6 + rows) * 10), 0);
  CHECK(memcmp(found, data, sizeof data) == 0);
  CHECK(memcmp(found + ITEMS, data, 4 * (size_t)rows * 10) == 0);
}

static void arrays_are_joined(void) {
  int64_t shape[2] = {6, 10};
  int64_t smaller[2] = {4, 10};
  int32_t chunks[2] = {3, 5};
  int32_t blocks[2] = {2, 5};
  int32_t other_chunks[2] = {2, 7};
  for (int is_aligned = 0; is_aligned < 2; is_aligned++) {
    b2nd_array_t *first = array_of(2, shape, chunks, blocks);
    EQUAL(blosc2_vlmeta_add(first->sc, "unit", (uint8_t *)"K", 1, NULL), 0);
    b2nd_array_t *second = array_of(2, smaller, is_aligned ? chunks : other_chunks, blocks);
    b2nd_context_t *context = context_of(2, shape, chunks, blocks);
    b2nd_array_t *joined = NULL;
    EQUAL(b2nd_concatenate(context, first, second, 0, true, &joined), 0);
    check_rows(joined, 4);
    EQUAL(blosc2_vlmeta_exists(joined->sc, "unit"), 0);
    EQUAL(first->shape[0], 6);
    b2nd_free(joined);
    EQUAL(b2nd_concatenate(context, first, second, 0, false, &joined), 0);
    CHECK(joined == first);
    check_rows(first, 4);
    CHECK(b2nd_concatenate(context, first, second, 1, true, &joined) < 0);
    CHECK(b2nd_concatenate(context, first, second, 2, true, &joined) < 0);
    b2nd_free_ctx(context);
    b2nd_free(first);
    b2nd_free(second);
  }

  b2nd_array_t *first = array_of(2, shape, chunks, blocks);
  b2nd_array_t *second = array_of(2, shape, other_chunks, blocks);
  b2nd_context_t *context = context_of(2, shape, chunks, blocks);
  b2nd_array_t *joined = NULL;
  EQUAL(b2nd_concatenate(context, first, second, 1, true, &joined), 0);
  EQUAL(joined->shape[1], 20);
  EQUAL(b2nd_to_cbuffer(joined, found, 2 * sizeof data), 0);
  for (int row = 0; row < 6; row++) {
    CHECK(memcmp(found + row * 20, data + row * 10, 40) == 0 && memcmp(found + row * 20 + 10, data + row * 10, 40) == 0);
  }
  b2nd_free(joined);
  b2nd_free_ctx(context);
  b2nd_free(first);
  b2nd_free(second);
}

static void items_by_number(void) {
  int64_t shape[2] = {6, 10};
  int32_t chunks[2] = {4, 7};
  int32_t blocks[2] = {3, 2};
  b2nd_array_t *array = array_of(2, shape, chunks, blocks);
  int64_t coords[8] = {59, 0, 31, 31, 6, 7, 40, 19};
  EQUAL(b2nd_get_sparse_cbuffer(array, 8, coords, found, 32), 0);
  for (int i = 0; i < 8; i++) {
    EQUAL(found[i], data[coords[i]]);
  }
  int64_t all[ITEMS];
  for (int i = 0; i < ITEMS; i++) {
    all[i] = ITEMS - 1 - i;
  }
  EQUAL(b2nd_get_sparse_cbuffer(array, ITEMS, all, found, sizeof data), 0);
  for (int i = 0; i < ITEMS; i++) {
    EQUAL(found[i], data[ITEMS - 1 - i]);
  }
  EQUAL(b2nd_get_sparse_cbuffer(array, 0, NULL, NULL, 0), 0);
  int64_t beyond = ITEMS;
  CHECK(b2nd_get_sparse_cbuffer(array, 1, &beyond, found, 4) < 0);
  beyond = -1;
  CHECK(b2nd_get_sparse_cbuffer(array, 1, &beyond, found, 4) < 0);
  CHECK(b2nd_get_sparse_cbuffer(array, 2, coords, found, 7) < 0);
  b2nd_free(array);
}

/* Of the two functions one is deprecated, and still there. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static void boxes_in_memory(void) {
  int64_t src_shape[2] = {6, 10};
  int64_t start[2] = {1, 2};
  int64_t stop[2] = {4, 9};
  int64_t dst_shape[2] = {5, 8};
  int64_t dst_start[2] = {2, 1};
  for (int which = 0; which < 2; which++) {
    memset(found, 0, sizeof found);
    if (which == 0) {
      EQUAL(b2nd_copy_buffer2(2, 4, data, src_shape, start, stop, found, dst_shape, dst_start), 0);
    } else {
      EQUAL(b2nd_copy_buffer(2, 4, data, src_shape, start, stop, found, dst_shape, dst_start), 0);
    }
    for (int row = 0; row < 5; row++) {
      for (int column = 0; column < 8; column++) {
        bool is_copied = row >= 2 && column >= 1;
        EQUAL(found[row * 8 + column], is_copied ? data[(row - 1) * 10 + column + 1] : 0);
      }
    }
  }
}

static void the_metalayer_is_printed(void) {
  int64_t shape[2] = {6, 10};
  int32_t chunks[2] = {4, 7};
  int32_t blocks[2] = {3, 2};
  b2nd_array_t *array = array_of(2, shape, chunks, blocks);
  EQUAL(b2nd_print_meta(array), 0);
  b2nd_free(array);
}

int main(void) {
  for (int i = 0; i < ITEMS; i++) {
    data[i] = 1000 + i * i;
  }
  blosc2_init();
  single_axes_are_dropped();
  axes_are_added();
  arrays_are_joined();
  items_by_number();
  boxes_in_memory();
  the_metalayer_is_printed();
  blosc2_destroy();
  return 0;
}
