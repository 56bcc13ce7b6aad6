/*
 * b2nd.h: arrays of up to 16 axes in super-chunks, as blosc-oxide provides them.
 *
 * Names, types and values are those of C-Blosc2 3.3. An array is cut into chunks, and each chunk into blocks, along all axes.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef BLOSC_B2ND_H
#define BLOSC_B2ND_H

#include "blosc2.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__) || defined(__clang__)
#define B2ND_DEPRECATED(message) __attribute__((deprecated(message)))
#else
#define B2ND_DEPRECATED(message)
#endif

#define B2ND_METALAYER_VERSION 0
#define B2ND_MAX_DIM 16
#define B2ND_MAX_METALAYERS (BLOSC2_MAX_METALAYERS - 1)

/* The only form of a dtype that there is: what NumPy writes. */
#define DTYPE_NUMPY_FORMAT 0
#define B2ND_DEFAULT_DTYPE "|u1"
#define B2ND_DEFAULT_DTYPE_FORMAT DTYPE_NUMPY_FORMAT

struct chunk_cache_s {
  uint8_t *data;
  int64_t nchunk;
};

/* What an array is to be like. */
typedef struct b2nd_context_s b2nd_context_t;

/* An array. The shapes with "ext" are rounded up: that of the array to whole chunks, that of a chunk to whole blocks. */
typedef struct {
  blosc2_schunk *sc;
  int64_t shape[B2ND_MAX_DIM];
  int32_t chunkshape[B2ND_MAX_DIM];
  int64_t extshape[B2ND_MAX_DIM];
  int32_t blockshape[B2ND_MAX_DIM];
  int64_t extchunkshape[B2ND_MAX_DIM];
  int64_t nitems;
  int32_t chunknitems;
  int64_t extnitems;
  int32_t blocknitems;
  int64_t extchunknitems;
  int8_t ndim;
  struct chunk_cache_s chunk_cache;
  int64_t item_array_strides[B2ND_MAX_DIM];
  int64_t item_chunk_strides[B2ND_MAX_DIM];
  int64_t item_extchunk_strides[B2ND_MAX_DIM];
  int64_t item_block_strides[B2ND_MAX_DIM];
  int64_t block_chunk_strides[B2ND_MAX_DIM];
  int64_t chunk_array_strides[B2ND_MAX_DIM];
  char *dtype;
  int8_t dtype_format;
  int64_t last_tick;
} b2nd_array_t;

BLOSC_EXPORT b2nd_context_t *b2nd_create_ctx(const blosc2_storage *b2_storage, int8_t ndim, const int64_t *shape,
                                             const int32_t *chunkshape, const int32_t *blockshape, const char *dtype,
                                             int8_t dtype_format, const blosc2_metalayer *metalayers,
                                             int32_t nmetalayers);
BLOSC_EXPORT int b2nd_free_ctx(b2nd_context_t *ctx);

/* Arrays of nothing, zeros, NaNs, one value; of the items of a buffer. */
BLOSC_EXPORT int b2nd_uninit(b2nd_context_t *ctx, b2nd_array_t **array);
BLOSC_EXPORT int b2nd_empty(b2nd_context_t *ctx, b2nd_array_t **array);
BLOSC_EXPORT int b2nd_zeros(b2nd_context_t *ctx, b2nd_array_t **array);
BLOSC_EXPORT int b2nd_nans(b2nd_context_t *ctx, b2nd_array_t **array);
BLOSC_EXPORT int b2nd_full(b2nd_context_t *ctx, b2nd_array_t **array, const void *fill_value);
BLOSC_EXPORT int b2nd_from_cbuffer(b2nd_context_t *ctx, b2nd_array_t **array, const void *buffer, int64_t buffersize);
BLOSC_EXPORT int b2nd_free(b2nd_array_t *array);

/* From and to super-chunks, frames in memory, and files. */
BLOSC_EXPORT int b2nd_from_schunk(blosc2_schunk *schunk, b2nd_array_t **array);
BLOSC_EXPORT int b2nd_to_cframe(const b2nd_array_t *array, uint8_t **cframe, int64_t *cframe_len, bool *needs_free);
BLOSC_EXPORT int b2nd_from_cframe(uint8_t *cframe, int64_t cframe_len, bool copy, b2nd_array_t **array);
BLOSC_EXPORT int b2nd_open(const char *urlpath, b2nd_array_t **array);
BLOSC_EXPORT int b2nd_open_offset(const char *urlpath, b2nd_array_t **array, int64_t offset);
BLOSC_EXPORT int b2nd_save(const b2nd_array_t *array, char *urlpath);
BLOSC_EXPORT int64_t b2nd_save_append(const b2nd_array_t *array, const char *urlpath);

/* All items, or items by their position. */
BLOSC_EXPORT int b2nd_to_cbuffer(const b2nd_array_t *array, void *buffer, int64_t buffersize);
BLOSC_EXPORT int b2nd_get_sparse_cbuffer(const b2nd_array_t *array, int64_t ncoords, const int64_t *coords,
                                         void *buffer, int64_t buffersize);

/* Slices: to an array, to a buffer of a shape of its own, and back. */
BLOSC_EXPORT int b2nd_get_slice(b2nd_context_t *ctx, b2nd_array_t **array, const b2nd_array_t *src,
                                const int64_t *start, const int64_t *stop);
BLOSC_EXPORT int b2nd_get_slice_cbuffer(const b2nd_array_t *array, const int64_t *start, const int64_t *stop,
                                        void *buffer, const int64_t *buffershape, int64_t buffersize);
BLOSC_EXPORT int b2nd_set_slice_cbuffer(const void *buffer, const int64_t *buffershape, int64_t buffersize,
                                        const int64_t *start, const int64_t *stop, b2nd_array_t *array);

/* Axes of length 1 taken away, and added. */
BLOSC_EXPORT int b2nd_squeeze_index(b2nd_array_t *array, b2nd_array_t **view, const bool *index);
BLOSC_EXPORT int b2nd_squeeze(b2nd_array_t *array, b2nd_array_t **view);
BLOSC_EXPORT int b2nd_expand_dims(const b2nd_array_t *array, b2nd_array_t **view, const bool *axis,
                                  const uint8_t final_dims);

BLOSC_EXPORT int b2nd_copy(b2nd_context_t *ctx, const b2nd_array_t *src, b2nd_array_t **array);
BLOSC_EXPORT int b2nd_concatenate(b2nd_context_t *ctx, const b2nd_array_t *src1, const b2nd_array_t *src2, int8_t axis,
                                  bool copy, b2nd_array_t **array);
BLOSC_EXPORT int b2nd_print_meta(const b2nd_array_t *array);

/* Other shapes. */
BLOSC_EXPORT int b2nd_resize(b2nd_array_t *array, const int64_t *new_shape, const int64_t *start);
BLOSC_EXPORT int b2nd_refresh(b2nd_array_t *array);
BLOSC_EXPORT int b2nd_insert(b2nd_array_t *array, const void *buffer, int64_t buffersize, int8_t axis,
                             int64_t insert_start);
BLOSC_EXPORT int b2nd_append(b2nd_array_t *array, const void *buffer, int64_t buffersize, int8_t axis);
BLOSC_EXPORT int b2nd_delete(b2nd_array_t *array, int8_t axis, int64_t delete_start, int64_t delete_len);

/* A list of positions for each axis. */
BLOSC_EXPORT int b2nd_get_orthogonal_selection(const b2nd_array_t *array, int64_t **selection, int64_t *selection_size,
                                               void *buffer, int64_t *buffershape, int64_t buffersize);
BLOSC_EXPORT int b2nd_set_orthogonal_selection(b2nd_array_t *array, int64_t **selection, int64_t *selection_size,
                                               const void *buffer, int64_t *buffershape, int64_t buffersize);

/* The metalayer "b2nd", which is freed with free(); its length. */
BLOSC_EXPORT int b2nd_serialize_meta(int8_t ndim, const int64_t *shape, const int32_t *chunkshape,
                                     const int32_t *blockshape, const char *dtype, int8_t dtype_format,
                                     uint8_t **smeta);
BLOSC_EXPORT int b2nd_deserialize_meta(const uint8_t *smeta, int32_t smeta_len, int8_t *ndim, int64_t *shape,
                                       int32_t *chunkshape, int32_t *blockshape, char **dtype, int8_t *dtype_format);

/* One list of numbers in the metalayer: a marker of the list, and each number behind a marker, the most significant byte first.
 * Where it ends, or NULL if it does not fit. */
static inline const uint8_t *b2nd_read_numbers_(const uint8_t *at, const uint8_t *end, int8_t count, void *numbers, int size) {
  if (end - at < 1 + (ptrdiff_t)count * (1 + size)) {
    return NULL;
  }
  at += 1;
  for (int8_t i = 0; i < count; i++) {
    swap_store((uint8_t *)numbers + (size_t)i * (size_t)size, at + 1, size);
    at += 1 + size;
  }
  return at;
}

/* The same as b2nd_deserialize_meta(), without a call into the library. The dtype is freed with free(). */
static inline int b2nd_deserialize_meta_inline(const uint8_t *smeta, int32_t smeta_len, int8_t *ndim, int64_t *shape,
                                               int32_t *chunkshape, int32_t *blockshape, char **dtype,
                                               int8_t *dtype_format) {
  BLOSC_ERROR_NULL(smeta, BLOSC2_ERROR_NULL_POINTER);
  BLOSC_ERROR_NULL(ndim, BLOSC2_ERROR_NULL_POINTER);
  BLOSC_ERROR_NULL(shape, BLOSC2_ERROR_NULL_POINTER);
  BLOSC_ERROR_NULL(chunkshape, BLOSC2_ERROR_NULL_POINTER);
  BLOSC_ERROR_NULL(blockshape, BLOSC2_ERROR_NULL_POINTER);
  if (dtype != NULL) {
    *dtype = NULL;
  }
  if (dtype_format != NULL) {
    *dtype_format = 0;
  }
  if (smeta_len < 3 || (int8_t)smeta[2] < 0 || (int8_t)smeta[2] > B2ND_MAX_DIM) {
    return BLOSC2_ERROR_FAILURE;
  }
  const uint8_t *end = smeta + smeta_len;
  const uint8_t *at = smeta + 3;
  *ndim = (int8_t)smeta[2];
  at = b2nd_read_numbers_(at, end, *ndim, shape, 8);
  at = at == NULL ? NULL : b2nd_read_numbers_(at, end, *ndim, chunkshape, 4);
  at = at == NULL ? NULL : b2nd_read_numbers_(at, end, *ndim, blockshape, 4);
  if (at == NULL) {
    return BLOSC2_ERROR_FAILURE;
  }
  if (dtype != NULL && dtype_format != NULL && at < end) {
    int32_t len = -1;
    if (end - at < 6 || at[1] != 0xdb) {
      return BLOSC2_ERROR_FAILURE;
    }
    swap_store(&len, at + 2, 4);
    if (len < 0 || end - at - 6 < len) {
      return BLOSC2_ERROR_FAILURE;
    }
    *dtype_format = (int8_t)at[0];
    *dtype = (char *)malloc((size_t)len + 1);
    BLOSC_ERROR_NULL(*dtype, BLOSC2_ERROR_MEMORY_ALLOC);
    memcpy(*dtype, at + 6, (size_t)len);
    (*dtype)[len] = '\0';
    at += 6 + len;
  }
  return (int)(at - smeta);
}

/* Copies a box of items from one array in memory to another. */
B2ND_DEPRECATED("items of more than 255 bytes need b2nd_copy_buffer2")
BLOSC_EXPORT int b2nd_copy_buffer(int8_t ndim, uint8_t itemsize, const void *src, const int64_t *src_pad_shape,
                                  const int64_t *src_start, const int64_t *src_stop, void *dst,
                                  const int64_t *dst_pad_shape, const int64_t *dst_start);
BLOSC_EXPORT int b2nd_copy_buffer2(int8_t ndim, int32_t itemsize, const void *src, const int64_t *src_pad_shape,
                                   const int64_t *src_start, const int64_t *src_stop, void *dst,
                                   const int64_t *dst_pad_shape, const int64_t *dst_start);

#ifdef __cplusplus
}
#endif

#endif
