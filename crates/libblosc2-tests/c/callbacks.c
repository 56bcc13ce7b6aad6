/* What a program brings: prefilters, postfilters, codecs, filters, threads. */
#include <blosc2.h>

#include "check.h"

#define ITEMS 4000
#define NBYTES (4 * ITEMS)
#define BLOCKSIZE 4000

static int32_t data[ITEMS];
static int32_t decoded[ITEMS];
static uint8_t chunk[NBYTES + 4 * BLOSC2_MAX_OVERHEAD];
static int calls;

static int add(blosc2_prefilter_params *params) {
  CHECK(params->output_typesize == 4 && params->nchunk == -1);
  EQUAL(params->output_offset, params->nblock * BLOCKSIZE);
  CHECK(params->input == (const uint8_t *)data + params->output_offset && params->ttmp_nbytes >= BLOCKSIZE);
  memset(params->ttmp, 0, BLOCKSIZE);
  for (int32_t i = 0; i < params->output_size / 4; i++) {
    ((int32_t *)params->output)[i] = ((const int32_t *)params->input)[i] + *(int32_t *)params->user_data;
  }
  return 0;
}

static int subtract(blosc2_postfilter_params *params) {
  CHECK(params->typesize == 4 && params->nchunk == -1);
  EQUAL(params->offset, params->nblock * BLOCKSIZE);
  for (int32_t i = 0; i < params->size / 4; i++) {
    ((int32_t *)params->output)[i] = ((const int32_t *)params->input)[i] - *(int32_t *)params->user_data;
  }
  return 0;
}

static int fail_before(blosc2_prefilter_params *params) {
  BLOSC_UNUSED_PARAM(params);
  return 1;
}

static int fail_after(blosc2_postfilter_params *params) {
  BLOSC_UNUSED_PARAM(params);
  return 1;
}

static void pre_and_postfilters(void) {
  int32_t addend = 7;
  blosc2_prefilter_params preparams = {.user_data = &addend};
  blosc2_postfilter_params postparams = {.user_data = &addend};
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 4;
  cparams.blocksize = BLOCKSIZE;
  cparams.prefilter = add;
  cparams.preparams = &preparams;
  blosc2_context *cctx = blosc2_create_cctx(cparams);
  int cbytes = blosc2_compress_ctx(cctx, data, NBYTES, chunk, sizeof chunk);
  CHECK(cbytes > 0);
  blosc2_context *plain = blosc2_create_dctx(BLOSC2_DPARAMS_DEFAULTS);
  EQUAL(blosc2_decompress_ctx(plain, chunk, cbytes, decoded, NBYTES), NBYTES);
  EQUAL(decoded[1234], data[1234] + 7);
  blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
  dparams.postfilter = subtract;
  dparams.postparams = &postparams;
  blosc2_context *dctx = blosc2_create_dctx(dparams);
  EQUAL(blosc2_decompress_ctx(dctx, chunk, cbytes, decoded, NBYTES), NBYTES);
  CHECK(memcmp(data, decoded, NBYTES) == 0);
  EQUAL(blosc2_getitem_ctx(dctx, chunk, cbytes, 998, 5, decoded, 20), 20);
  CHECK(memcmp(data + 998, decoded, 20) == 0);
  blosc2_free_ctx(cctx);
  blosc2_free_ctx(dctx);

  cparams.prefilter = fail_before;
  cctx = blosc2_create_cctx(cparams);
  CHECK(blosc2_compress_ctx(cctx, data, NBYTES, chunk, sizeof chunk) < 0);
  blosc2_free_ctx(cctx);
  cparams.prefilter = NULL;
  cctx = blosc2_create_cctx(cparams);
  cbytes = blosc2_compress_ctx(cctx, data, NBYTES, chunk, sizeof chunk);
  dparams.postfilter = fail_after;
  dctx = blosc2_create_dctx(dparams);
  EQUAL(blosc2_decompress_ctx(dctx, chunk, cbytes, decoded, NBYTES), BLOSC2_ERROR_POSTFILTER);
  blosc2_free_ctx(cctx);
  blosc2_free_ctx(dctx);
  blosc2_free_ctx(plain);
}

/* Halves data of which every second byte is zero. */
static int encode(const uint8_t *input, int32_t input_len, uint8_t *output, int32_t output_len, uint8_t meta,
                  blosc2_cparams *cparams, const void *whole) {
  CHECK(meta == 5 && cparams->typesize == 4 && whole != NULL);
  calls++;
  if (output_len < input_len / 2) {
    return 0;
  }
  for (int32_t i = 0; i < input_len / 2; i++) {
    if (input[2 * i + 1] != 0) {
      return 0;
    }
    output[i] = input[2 * i];
  }
  return input_len / 2;
}

static int decode(const uint8_t *input, int32_t input_len, uint8_t *output, int32_t output_len, uint8_t meta,
                  blosc2_dparams *dparams, const void *whole) {
  CHECK(meta == 5 && dparams != NULL && whole == chunk);
  CHECK(output_len == 2 * input_len);
  for (int32_t i = 0; i < input_len; i++) {
    output[2 * i] = input[i];
    output[2 * i + 1] = 0;
  }
  return output_len;
}

static int cannot(const uint8_t *input, int32_t input_len, uint8_t *output, int32_t output_len, uint8_t meta,
                  blosc2_cparams *cparams, const void *whole) {
  BLOSC_UNUSED_PARAM(input);
  BLOSC_UNUSED_PARAM(input_len);
  BLOSC_UNUSED_PARAM(output);
  BLOSC_UNUSED_PARAM(output_len);
  BLOSC_UNUSED_PARAM(meta);
  BLOSC_UNUSED_PARAM(cparams);
  BLOSC_UNUSED_PARAM(whole);
  return -1;
}

static int flip(const uint8_t *input, uint8_t *output, int32_t length, uint8_t meta, blosc2_cparams *cparams, uint8_t id) {
  CHECK(id == 161 && cparams->typesize == 4);
  for (int32_t i = 0; i < length; i++) {
    output[i] = input[i] ^ meta;
  }
  return 0;
}

static int flip_back(const uint8_t *input, uint8_t *output, int32_t length, uint8_t meta, blosc2_dparams *dparams,
                     uint8_t id) {
  CHECK(id == 161 && dparams != NULL);
  for (int32_t i = 0; i < length; i++) {
    output[i] = input[i] ^ meta;
  }
  return 0;
}

static void codecs(void) {
  blosc2_codec codec = {.compcode = 159, .compname = "half", .version = 1, .encoder = encode, .decoder = decode};
  EQUAL(blosc2_register_codec(&codec), BLOSC2_ERROR_CODEC_PARAM);
  codec.compcode = 160;
  EQUAL(blosc2_register_codec(&codec), 0);
  EQUAL(blosc2_register_codec(&codec), 0);
  codec.compname = "other";
  EQUAL(blosc2_register_codec(&codec), BLOSC2_ERROR_CODEC_PARAM);
  EQUAL(blosc2_compname_to_compcode("half"), 160);
  blosc2_codec broken = {.compcode = 162, .compname = "broken", .version = 1, .encoder = cannot, .decoder = decode};
  EQUAL(blosc2_register_codec(&broken), 0);

  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 4;
  cparams.compcode = 160;
  cparams.compcode_meta = 5;
  cparams.filters[5] = 0;
  cparams.blocksize = BLOCKSIZE;
  cparams.splitmode = BLOSC_NEVER_SPLIT;
  int32_t small[ITEMS];
  for (int i = 0; i < ITEMS; i++) {
    small[i] = i % 256;
  }
  blosc2_context *cctx = blosc2_create_cctx(cparams);
  blosc2_context *dctx = blosc2_create_dctx(BLOSC2_DPARAMS_DEFAULTS);
  int cbytes = blosc2_compress_ctx(cctx, small, NBYTES, chunk, sizeof chunk);
  CHECK(cbytes > NBYTES / 2 && cbytes < NBYTES / 2 + 200 && calls > 0);
  EQUAL(blosc2_decompress_ctx(dctx, chunk, cbytes, decoded, NBYTES), NBYTES);
  CHECK(memcmp(small, decoded, NBYTES) == 0);
  blosc2_free_ctx(cctx);
  cparams.compcode = 162;
  cctx = blosc2_create_cctx(cparams);
  CHECK(blosc2_compress_ctx(cctx, small, NBYTES, chunk, sizeof chunk) < 0);
  blosc2_free_ctx(cctx);
  blosc2_free_ctx(dctx);
}

static void filters(void) {
  blosc2_filter filter = {.id = 159, .name = "flip", .version = 1, .forward = flip, .backward = flip_back};
  EQUAL(blosc2_register_filter(&filter), BLOSC2_ERROR_FAILURE);
  filter.id = 161;
  EQUAL(blosc2_register_filter(&filter), 0);
  EQUAL(blosc2_register_filter(&filter), 0);
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 4;
  cparams.filters[4] = 161;
  cparams.filters_meta[4] = 0x55;
  blosc2_context *cctx = blosc2_create_cctx(cparams);
  blosc2_context *dctx = blosc2_create_dctx(BLOSC2_DPARAMS_DEFAULTS);
  int cbytes = blosc2_compress_ctx(cctx, data, NBYTES, chunk, sizeof chunk);
  CHECK(cbytes > 0 && chunk[BLOSC2_CHUNK_FILTER_CODES + 4] == 161);
  EQUAL(blosc2_decompress_ctx(dctx, chunk, cbytes, decoded, NBYTES), NBYTES);
  CHECK(memcmp(data, decoded, NBYTES) == 0);
  blosc2_free_ctx(cctx);
  blosc2_free_ctx(dctx);
}

static int begun;
static int asked;

static int tuner_init(void *params, blosc2_context *cctx, blosc2_context *dctx) {
  CHECK(cctx != NULL && dctx == NULL && params == NULL);
  begun++;
  return 0;
}

static int tuner_next(blosc2_context *cctx) {
  CHECK(cctx != NULL);
  asked++;
  return 0;
}

static int tuner_update(blosc2_context *cctx, double ctime) {
  CHECK(cctx != NULL && ctime >= 0);
  return 0;
}

/* A tuner is told of a context when that begins, and asked before each chunk. */
static void tuners(void) {
  blosc2_tuner tuner = {.init = tuner_init, .next_blocksize = tuner_next, .next_cparams = tuner_next,
                        .update = tuner_update, .free = tuner_next, .id = 170, .name = "counting"};
  EQUAL(blosc2_register_tuner(&tuner), 0);
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.tuner_id = 170;
  cparams.blocksize = 4096;
  blosc2_context *context = blosc2_create_cctx(cparams);
  CHECK(context != NULL);
  EQUAL(begun, 1);
  static uint8_t bytes[20000];
  static uint8_t packed[20000 + BLOSC2_MAX_OVERHEAD];
  for (int i = 1; i <= 3; i++) {
    CHECK(blosc2_compress_ctx(context, bytes, sizeof bytes, packed, sizeof packed) > 0);
    EQUAL(asked, i);
  }
  blosc2_free_ctx(context);
  cparams.tuner_id = 171;
  CHECK(blosc2_create_cctx(cparams) == NULL);
}

static void run(void *callback_data, void (*dojob)(void *), int numjobs, size_t jobdata_elsize, void *jobdata) {
  CHECK(callback_data == &calls);
  calls++;
  for (int i = 0; i < numjobs; i++) {
    dojob((char *)jobdata + (size_t)i * jobdata_elsize);
  }
}

static void threads(void) {
  static int32_t many[1000000];
  static uint8_t packed[sizeof many + BLOSC2_MAX_OVERHEAD];
  for (int i = 0; i < 1000000; i++) {
    many[i] = i * 7 / 3;
  }
  calls = 0;
  blosc2_set_threads_callback(run, &calls);
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 4;
  cparams.nthreads = 2;
  blosc2_context *cctx = blosc2_create_cctx(cparams);
  int cbytes = blosc2_compress_ctx(cctx, many, sizeof many, packed, sizeof packed);
  CHECK(cbytes > 0 && calls > 0);
  blosc2_set_threads_callback(NULL, NULL);
  blosc2_free_ctx(cctx);
}

int main(void) {
  for (int i = 0; i < ITEMS; i++) {
    data[i] = i * 7 / 3;
  }
  blosc2_init();
  pre_and_postfilters();
  codecs();
  filters();
  tuners();
  threads();
  blosc2_destroy();
  return 0;
}
