/* Contexts: parameters of their own, masks, dictionaries, blocks of any lengths, threads. */
#include <blosc2.h>

#include "check.h"

#define ITEMS 100000
#define NBYTES (4 * ITEMS)

static int32_t data[ITEMS];
static int32_t decoded[ITEMS];
static uint8_t chunk[NBYTES + BLOSC2_MAX_OVERHEAD];

static void defaults(void) {
  blosc2_cparams cparams = blosc2_get_blosc2_cparams_defaults();
  CHECK(memcmp(&cparams.filters, &BLOSC2_CPARAMS_DEFAULTS.filters, sizeof cparams.filters) == 0);
  EQUAL(cparams.clevel, 5);
  EQUAL(cparams.typesize, 8);
  EQUAL(cparams.splitmode, BLOSC_FORWARD_COMPAT_SPLIT);
  EQUAL(blosc2_get_blosc2_dparams_defaults().nthreads, 1);
  CHECK(blosc2_get_blosc2_storage_defaults().urlpath == NULL);
  CHECK(strcmp(blosc2_get_blosc2_io_defaults().name, "filesystem") == 0);
  blosc2_stdio_mmap map = blosc2_get_blosc2_stdio_mmap_defaults();
  CHECK(strcmp(map.mode, "r") == 0 && map.initial_mapping_size == (size_t)1 << 30 && map.fd == -1);
}

static void every_codec(void) {
  const uint8_t codecs[] = {BLOSC_BLOSCLZ, BLOSC_LZ4, BLOSC_LZ4HC, BLOSC_ZLIB, BLOSC_ZSTD};
  for (size_t i = 0; i < sizeof codecs; i++) {
    for (int16_t nthreads = 1; nthreads <= 4; nthreads += 3) {
      blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
      cparams.typesize = 4;
      cparams.compcode = codecs[i];
      cparams.nthreads = nthreads;
      cparams.blocksize = 40000;
      blosc2_context *cctx = blosc2_create_cctx(cparams);
      int cbytes = blosc2_compress_ctx(cctx, data, NBYTES, chunk, sizeof chunk);
      CHECK(cbytes > 32 && cbytes < NBYTES / 2);
      EQUAL(blosc2_compress_ctx(cctx, data, NBYTES, chunk, 100), 0);
      EQUAL(blosc2_compress_ctx(cctx, data, NBYTES, chunk, sizeof chunk), cbytes);
      blosc2_cparams found;
      EQUAL(blosc2_ctx_get_cparams(cctx, &found), 0);
      EQUAL(found.compcode, codecs[i]);
      EQUAL(found.blocksize, 40000);
      EQUAL(found.nthreads, nthreads);
      blosc2_free_ctx(cctx);

      blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
      dparams.nthreads = nthreads;
      blosc2_context *dctx = blosc2_create_dctx(dparams);
      memset(decoded, 1, sizeof decoded);
      EQUAL(blosc2_decompress_ctx(dctx, chunk, cbytes, decoded, NBYTES), NBYTES);
      CHECK(memcmp(data, decoded, NBYTES) == 0);
      EQUAL(blosc2_getitem_ctx(dctx, chunk, cbytes, 9998, 5, decoded, 20), 20);
      CHECK(memcmp(data + 9998, decoded, 20) == 0);
      EQUAL(blosc2_getitem_bytes_ctx(dctx, chunk, cbytes, 4 * 9998, 20, decoded, 20), 20);
      CHECK(memcmp(data + 9998, decoded, 20) == 0);
      EQUAL(blosc2_getitem_bytes_ctx(dctx, chunk, cbytes, 3, 20, decoded, 20), BLOSC2_ERROR_INVALID_PARAM);
      EQUAL(blosc2_getitem_ctx(dctx, chunk, cbytes, ITEMS - 1, 5, decoded, 20), BLOSC2_ERROR_INVALID_PARAM);
      blosc2_dparams found_too;
      EQUAL(blosc2_ctx_get_dparams(dctx, &found_too), 0);
      EQUAL(found_too.nthreads, nthreads);
      blosc2_free_ctx(dctx);
    }
  }
}

static void every_filter(void) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 4;
  cparams.compcode = BLOSC_LZ4;
  for (uint8_t last = BLOSC_NOFILTER; last <= BLOSC_BITSHUFFLE; last++) {
    for (uint8_t first = BLOSC_NOFILTER; first <= BLOSC_DELTA; first += BLOSC_DELTA) {
      cparams.filters[4] = first;
      cparams.filters[5] = last;
      blosc2_context *cctx = blosc2_create_cctx(cparams);
      blosc2_context *dctx = blosc2_create_dctx(BLOSC2_DPARAMS_DEFAULTS);
      int cbytes = blosc2_compress_ctx(cctx, data, NBYTES, chunk, sizeof chunk);
      CHECK(cbytes > 0);
      EQUAL(blosc2_decompress_ctx(dctx, chunk, cbytes, decoded, NBYTES), NBYTES);
      CHECK(memcmp(data, decoded, NBYTES) == 0);
      blosc2_free_ctx(cctx);
      blosc2_free_ctx(dctx);
    }
  }
}

static void parameters_that_are_wrong(void) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.compcode = 200;
  blosc2_context *context = blosc2_create_cctx(cparams);
  EQUAL(blosc2_compress_ctx(context, data, NBYTES, chunk, sizeof chunk), BLOSC2_ERROR_CODEC_SUPPORT);
  EQUAL(blosc2_decompress_ctx(context, chunk, 32, decoded, NBYTES), BLOSC2_ERROR_INVALID_PARAM);
  blosc2_free_ctx(context);
  cparams.compcode = 0;
  cparams.clevel = 12;
  context = blosc2_create_cctx(cparams);
  EQUAL(blosc2_compress_ctx(context, data, NBYTES, chunk, sizeof chunk), BLOSC2_ERROR_CODEC_PARAM);
  blosc2_free_ctx(context);
  context = blosc2_create_dctx(BLOSC2_DPARAMS_DEFAULTS);
  EQUAL(blosc2_compress_ctx(context, data, NBYTES, chunk, sizeof chunk), BLOSC2_ERROR_INVALID_PARAM);
  blosc2_free_ctx(context);
}

static void masks(void) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 4;
  cparams.blocksize = NBYTES / 4;
  blosc2_context *cctx = blosc2_create_cctx(cparams);
  blosc2_context *dctx = blosc2_create_dctx(BLOSC2_DPARAMS_DEFAULTS);
  int cbytes = blosc2_compress_ctx(cctx, data, NBYTES, chunk, sizeof chunk);
  bool mask[4] = {true, false, true, false};
  memset(decoded, 0xff, sizeof decoded);
  EQUAL(blosc2_set_maskout(dctx, mask, 4), 0);
  EQUAL(blosc2_decompress_ctx(dctx, chunk, cbytes, decoded, NBYTES), NBYTES);
  EQUAL(decoded[0], -1);
  EQUAL(decoded[ITEMS / 4], data[ITEMS / 4]);
  EQUAL(decoded[ITEMS / 2], -1);
  EQUAL(decoded[ITEMS - 1], data[ITEMS - 1]);
  EQUAL(blosc2_decompress_ctx(dctx, chunk, cbytes, decoded, NBYTES), NBYTES);
  CHECK(memcmp(data, decoded, NBYTES) == 0);
  EQUAL(blosc2_set_maskout(dctx, mask, 3), 0);
  EQUAL(blosc2_decompress_ctx(dctx, chunk, cbytes, decoded, NBYTES), BLOSC2_ERROR_DATA);
  EQUAL(blosc2_decompress_ctx(dctx, chunk, cbytes, decoded, NBYTES), NBYTES);
  blosc2_free_ctx(cctx);
  blosc2_free_ctx(dctx);
}

static void dictionaries(void) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 4;
  cparams.compcode = BLOSC_ZSTD;
  cparams.use_dict = 1;
  cparams.blocksize = 4096;
  blosc2_context *cctx = blosc2_create_cctx(cparams);
  blosc2_context *dctx = blosc2_create_dctx(BLOSC2_DPARAMS_DEFAULTS);
  int cbytes = blosc2_compress_ctx(cctx, data, NBYTES, chunk, sizeof chunk);
  CHECK(cbytes > 0);
  EQUAL(chunk[BLOSC2_CHUNK_BLOSC2_FLAGS] & BLOSC2_USEDICT, BLOSC2_USEDICT);
  EQUAL(blosc2_decompress_ctx(dctx, chunk, cbytes, decoded, NBYTES), NBYTES);
  CHECK(memcmp(data, decoded, NBYTES) == 0);
  blosc2_free_ctx(cctx);
  blosc2_free_ctx(dctx);
}

static void blocks_of_any_lengths(void) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 1;
  blosc2_context *cctx = blosc2_create_cctx(cparams);
  blosc2_context *dctx = blosc2_create_dctx(BLOSC2_DPARAMS_DEFAULTS);
  const void *blocks[3] = {"one", "three", data};
  int32_t sizes[3] = {3, 5, 1000};
  int cbytes = blosc2_vlcompress_ctx(cctx, blocks, sizes, 3, chunk, sizeof chunk);
  CHECK(cbytes > 32);
  EQUAL(chunk[BLOSC2_CHUNK_VERSION], BLOSC2_VERSION_FORMAT_VL_BLOCKS);
  int32_t nblocks = 0;
  EQUAL(blosc2_vlchunk_get_nblocks(chunk, cbytes, &nblocks), 0);
  EQUAL(nblocks, 3);
  void *found[4];
  int32_t lengths[4];
  EQUAL(blosc2_vldecompress_ctx(dctx, chunk, cbytes, found, lengths, 4), 3);
  for (int i = 0; i < 3; i++) {
    EQUAL(lengths[i], sizes[i]);
    CHECK(memcmp(found[i], blocks[i], (size_t)sizes[i]) == 0);
    free(found[i]);
  }
  uint8_t *block = NULL;
  int32_t length = 0;
  EQUAL(blosc2_vldecompress_block_ctx(dctx, chunk, cbytes, 1, &block, &length), 5);
  EQUAL(length, 5);
  CHECK(memcmp(block, "three", 5) == 0);
  free(block);
  CHECK(blosc2_vldecompress_block_ctx(dctx, chunk, cbytes, 3, &block, &length) < 0);
  blosc2_free_ctx(cctx);
  blosc2_free_ctx(dctx);
}

int main(void) {
  for (int i = 0; i < ITEMS; i++) {
    data[i] = i * 7 / 3;
  }
  blosc2_init();
  defaults();
  every_codec();
  every_filter();
  parameters_that_are_wrong();
  masks();
  dictionaries();
  blocks_of_any_lengths();
  blosc2_destroy();
  return 0;
}
