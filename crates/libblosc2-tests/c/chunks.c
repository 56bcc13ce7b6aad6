/* Functions without a context: chunks, what their headers say, settings, names. */
#include <blosc2.h>

#include "check.h"

#define ITEMS 1000
#define NBYTES (4 * ITEMS)

static int32_t data[ITEMS];
static int32_t decoded[ITEMS];
static uint8_t chunk[NBYTES + BLOSC2_MAX_OVERHEAD];

static void round_trips(void) {
  for (int level = 0; level <= 9; level++) {
    for (int shuffle = BLOSC_NOSHUFFLE; shuffle <= BLOSC_BITSHUFFLE; shuffle++) {
      int cbytes = blosc2_compress(level, shuffle, 4, data, NBYTES, chunk, sizeof chunk);
      CHECK(cbytes > BLOSC_EXTENDED_HEADER_LENGTH && cbytes <= (int)sizeof chunk);
      memset(decoded, 1, sizeof decoded);
      EQUAL(blosc2_decompress(chunk, cbytes, decoded, NBYTES), NBYTES);
      CHECK(memcmp(data, decoded, NBYTES) == 0);
      EQUAL(blosc1_decompress(chunk, decoded, NBYTES), NBYTES);
      memset(decoded, 1, sizeof decoded);
      EQUAL(blosc2_getitem(chunk, cbytes, 3, 5, decoded, 20), 20);
      CHECK(memcmp(data + 3, decoded, 20) == 0);
      EQUAL(blosc1_getitem(chunk, 3, 5, decoded), 20);
    }
  }
  EQUAL(blosc1_compress(0, 1, 4, NBYTES, data, chunk, sizeof chunk), NBYTES + 32);
  EQUAL(blosc2_compress(5, 1, 4, data, 0, chunk, sizeof chunk), 32);
  EQUAL(blosc2_decompress(chunk, 32, decoded, NBYTES), 0);
}

static void errors(void) {
  EQUAL(blosc2_compress(10, 1, 4, data, NBYTES, chunk, sizeof chunk), BLOSC2_ERROR_CODEC_PARAM);
  EQUAL(blosc2_compress(-1, 1, 4, data, NBYTES, chunk, sizeof chunk), BLOSC2_ERROR_CODEC_PARAM);
  EQUAL(blosc2_compress(5, 1, 4, data, NBYTES, chunk, 31), BLOSC2_ERROR_MAX_BUFSIZE_EXCEEDED);
  EQUAL(blosc2_compress(5, 1, 4, data, NBYTES, chunk, 100), 0);
  int cbytes = blosc2_compress(5, 1, 4, data, NBYTES, chunk, sizeof chunk);
  EQUAL(blosc2_decompress(chunk, cbytes, decoded, NBYTES - 1), BLOSC2_ERROR_WRITE_BUFFER);
  EQUAL(blosc2_decompress(chunk, cbytes - 1, decoded, NBYTES), BLOSC2_ERROR_INVALID_HEADER);
  EQUAL(blosc2_decompress(chunk, 31, decoded, NBYTES), BLOSC2_ERROR_READ_BUFFER);
  EQUAL(blosc2_getitem(chunk, cbytes, 3, 5, decoded, 19), BLOSC2_ERROR_WRITE_BUFFER);
  EQUAL(blosc2_getitem(chunk, cbytes, -1, 5, decoded, 20), BLOSC2_ERROR_INVALID_PARAM);
  EQUAL(blosc2_getitem(chunk, cbytes, ITEMS - 1, 5, decoded, 20), BLOSC2_ERROR_INVALID_PARAM);
  EQUAL(blosc2_getitem(chunk, cbytes, ITEMS, 0, decoded, 20), 0);
}

static void headers(void) {
  int cbytes = blosc2_compress(5, 1, 4, data, NBYTES, chunk, sizeof chunk);
  int32_t nbytes, found, blocksize;
  EQUAL(blosc2_cbuffer_sizes(chunk, &nbytes, &found, &blocksize), 0);
  EQUAL(nbytes, NBYTES);
  EQUAL(found, cbytes);
  CHECK(blocksize > 0);
  EQUAL(blosc2_cbuffer_sizes(chunk, NULL, NULL, NULL), 0);
  size_t nbytes1, cbytes1, blocksize1, typesize;
  blosc1_cbuffer_sizes(chunk, &nbytes1, &cbytes1, &blocksize1);
  CHECK(nbytes1 == NBYTES && cbytes1 == (size_t)cbytes && blocksize1 == (size_t)blocksize);
  int flags, version, versionlz;
  blosc1_cbuffer_metainfo(chunk, &typesize, &flags);
  EQUAL(typesize, 4);
  EQUAL(flags & (BLOSC_DOSHUFFLE | BLOSC_DOBITSHUFFLE), BLOSC_DOSHUFFLE | BLOSC_DOBITSHUFFLE);
  EQUAL(blosc1_cbuffer_validate(chunk, (size_t)cbytes, &nbytes1), 0);
  EQUAL(nbytes1, NBYTES);
  EQUAL(blosc1_cbuffer_validate(chunk, (size_t)cbytes + 1, &nbytes1), BLOSC2_ERROR_INVALID_HEADER);
  EQUAL(nbytes1, 0);
  blosc2_cbuffer_versions(chunk, &version, &versionlz);
  EQUAL(version, BLOSC2_VERSION_FORMAT_STABLE);
  EQUAL(versionlz, 1);
  CHECK(strcmp(blosc2_cbuffer_complib(chunk), BLOSC_BLOSCLZ_LIBNAME) == 0);
  chunk[BLOSC2_CHUNK_TYPESIZE] = 0;
  EQUAL(blosc2_cbuffer_sizes(chunk, &nbytes, &found, &blocksize), BLOSC2_ERROR_INVALID_HEADER);
}

static void special_chunks(void) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  int32_t value = 77;
  float nans[ITEMS];
  cparams.typesize = 4;
  EQUAL(blosc2_chunk_zeros(cparams, NBYTES, chunk, 32), 32);
  EQUAL(chunk[BLOSC2_CHUNK_BLOSC2_FLAGS] >> 4, BLOSC2_SPECIAL_ZERO);
  EQUAL(blosc2_decompress(chunk, 32, decoded, NBYTES), NBYTES);
  EQUAL(decoded[ITEMS - 1], 0);
  EQUAL(blosc2_chunk_nans(cparams, NBYTES, chunk, 32), 32);
  EQUAL(blosc2_decompress(chunk, 32, nans, NBYTES), NBYTES);
  CHECK(nans[5] != nans[5]);
  EQUAL(blosc2_chunk_repeatval(cparams, NBYTES, chunk, 36, &value), 36);
  EQUAL(blosc2_decompress(chunk, 36, decoded, NBYTES), NBYTES);
  EQUAL(decoded[0], 77);
  EQUAL(decoded[ITEMS - 1], 77);
  EQUAL(blosc2_getitem(chunk, 36, 10, 1, decoded, 4), 4);
  EQUAL(decoded[0], 77);
  EQUAL(blosc2_chunk_uninit(cparams, NBYTES, chunk, 32), 32);
  EQUAL(chunk[BLOSC2_CHUNK_BLOSC2_FLAGS] >> 4, BLOSC2_SPECIAL_UNINIT);
  EQUAL(blosc2_chunk_zeros(cparams, NBYTES, chunk, 31), BLOSC2_ERROR_DATA);
  EQUAL(blosc2_chunk_zeros(cparams, NBYTES + 1, chunk, 32), BLOSC2_ERROR_DATA);
  EQUAL(blosc2_chunk_repeatval(cparams, NBYTES, chunk, 35, &value), BLOSC2_ERROR_DATA);
}

static void settings(void) {
  EQUAL(blosc2_get_nthreads(), 1);
  EQUAL(blosc2_set_nthreads(3), 1);
  EQUAL(blosc2_set_nthreads(0), BLOSC2_ERROR_INVALID_PARAM);
  EQUAL(blosc2_set_nthreads(1), 3);
  CHECK(strcmp(blosc1_get_compressor(), "blosclz") == 0);
  EQUAL(blosc1_set_compressor("zstd"), BLOSC_ZSTD);
  CHECK(strcmp(blosc1_get_compressor(), "zstd") == 0);
  CHECK(blosc2_compress(5, 1, 4, data, NBYTES, chunk, sizeof chunk) > 0);
  CHECK(strcmp(blosc2_cbuffer_complib(chunk), BLOSC_ZSTD_LIBNAME) == 0);
  EQUAL(blosc1_set_compressor("none such"), -1);
  EQUAL(blosc1_set_compressor("blosclz"), BLOSC_BLOSCLZ);
  EQUAL(blosc1_get_blocksize(), 0);
  blosc1_set_blocksize(1000);
  EQUAL(blosc1_get_blocksize(), 1000);
  CHECK(blosc2_compress(5, 1, 4, data, NBYTES, chunk, sizeof chunk) > 0);
  int32_t blocksize;
  blosc2_cbuffer_sizes(chunk, NULL, NULL, &blocksize);
  EQUAL(blocksize, 1000);
  blosc1_set_blocksize(0);
  blosc2_set_delta(1);
  int cbytes = blosc2_compress(5, 1, 4, data, NBYTES, chunk, sizeof chunk);
  EQUAL(chunk[BLOSC2_CHUNK_FILTER_CODES + 4], BLOSC_DELTA);
  EQUAL(blosc2_decompress(chunk, cbytes, decoded, NBYTES), NBYTES);
  CHECK(memcmp(data, decoded, NBYTES) == 0);
  blosc2_set_delta(0);
  blosc1_set_splitmode(BLOSC_NEVER_SPLIT);
  CHECK(blosc2_compress(5, 1, 4, data, NBYTES, chunk, sizeof chunk) > 0);
  blosc1_set_splitmode(BLOSC_FORWARD_COMPAT_SPLIT);
}

static void environment(void) {
  setenv("BLOSC_CLEVEL", "0", 1);
  EQUAL(blosc2_compress(9, 1, 4, data, NBYTES, chunk, sizeof chunk), NBYTES + 32);
  unsetenv("BLOSC_CLEVEL");
  setenv("BLOSC_COMPRESSOR", "lz4", 1);
  setenv("BLOSC_SHUFFLE", "BITSHUFFLE", 1);
  setenv("BLOSC_TYPESIZE", "8", 1);
  CHECK(blosc2_compress(9, 1, 4, data, NBYTES, chunk, sizeof chunk) > 0);
  CHECK(strcmp(blosc2_cbuffer_complib(chunk), BLOSC_LZ4_LIBNAME) == 0);
  EQUAL(chunk[BLOSC2_CHUNK_FILTER_CODES + 5], BLOSC_BITSHUFFLE);
  EQUAL(chunk[BLOSC2_CHUNK_TYPESIZE], 8);
  unsetenv("BLOSC_COMPRESSOR");
  unsetenv("BLOSC_SHUFFLE");
  unsetenv("BLOSC_TYPESIZE");
  CHECK(strcmp(blosc1_get_compressor(), "lz4") == 0);
  EQUAL(blosc1_set_compressor("blosclz"), 0);
}

static void names(void) {
  const char *name = NULL;
  EQUAL(blosc2_compcode_to_compname(BLOSC_ZLIB, &name), BLOSC_ZLIB);
  CHECK(strcmp(name, BLOSC_ZLIB_COMPNAME) == 0);
  EQUAL(blosc2_compcode_to_compname(3, &name), -1);
  CHECK(name == NULL);
  EQUAL(blosc2_compcode_to_compname(34, &name), 34);
  CHECK(strcmp(name, "zfp_prec") == 0);
  EQUAL(blosc2_compname_to_compcode("lz4hc"), BLOSC_LZ4HC);
  EQUAL(blosc2_compname_to_compcode("snappy"), -1);
  CHECK(strcmp(blosc2_list_compressors(), "blosclz,lz4,lz4hc,zlib,zstd") == 0);
  CHECK(strcmp(blosc2_get_version_string(), BLOSC2_VERSION_STRING) == 0);
  char *library = NULL;
  char *version = NULL;
  EQUAL(blosc2_get_complib_info("lz4hc", &library, &version), BLOSC_LZ4_LIB);
  CHECK(strcmp(library, BLOSC_LZ4_LIBNAME) == 0 && version != NULL);
  free(library);
  free(version);
  CHECK(strcmp(blosc2_error_string(BLOSC2_ERROR_CODEC_SUPPORT), "Codec not supported") == 0);
  CHECK(strcmp(print_error(BLOSC2_ERROR_LOCK), "Frame lock failure") == 0);
  CHECK(strcmp(blosc2_error_string(-38), "Unknown error") == 0);
}

static void transposes(void) {
  EQUAL(blosc2_shuffle(4, NBYTES, data, chunk), NBYTES);
  EQUAL(chunk[1], ((const uint8_t *)data)[4]);
  EQUAL(blosc2_unshuffle(4, NBYTES, chunk, decoded), NBYTES);
  CHECK(memcmp(data, decoded, NBYTES) == 0);
  EQUAL(blosc2_bitshuffle(4, NBYTES, data, chunk), NBYTES);
  EQUAL(blosc2_bitunshuffle(4, NBYTES, chunk, decoded), NBYTES);
  CHECK(memcmp(data, decoded, NBYTES) == 0);
  EQUAL(blosc2_shuffle(0, NBYTES, data, chunk), BLOSC2_ERROR_INVALID_PARAM);
  EQUAL(blosc2_shuffle(4, -3, data, chunk), BLOSC2_ERROR_INVALID_PARAM);
}

static void positions_and_clocks(void) {
  int64_t shape[3] = {4, 5, 6};
  int64_t strides[3] = {30, 6, 1};
  int64_t index[3];
  int64_t position = 0;
  blosc2_unidim_to_multidim(3, shape, 77, index);
  CHECK(index[0] == 2 && index[1] == 2 && index[2] == 5);
  blosc2_multidim_to_unidim(index, 3, strides, &position);
  EQUAL(position, 77);
  blosc_timestamp_t start = {.tv_sec = 3, .tv_nsec = 500};
  blosc_timestamp_t end = {.tv_sec = 5, .tv_nsec = 250};
  CHECK(blosc_elapsed_nsecs(start, end) == 1999999750.0);
  double seconds = blosc_elapsed_secs(start, end);
  CHECK(seconds > 1.9999997 && seconds < 1.9999998);
  blosc_set_timestamp(&start);
  blosc_set_timestamp(&end);
  CHECK(blosc_elapsed_nsecs(start, end) >= 0.0);
}

int main(void) {
  for (int i = 0; i < ITEMS; i++) {
    data[i] = i * 7 / 3;
  }
  blosc2_init();
  round_trips();
  errors();
  headers();
  special_chunks();
  settings();
  environment();
  names();
  transposes();
  positions_and_clocks();
  EQUAL(blosc2_free_resources(), 0);
  blosc2_destroy();
  EQUAL(blosc2_free_resources(), BLOSC2_ERROR_FAILURE);
  return 0;
}
