/*
 * Frames, arrays and chunks with damage at random: `mutants COUNT [SEED]`. Every function that reads them returns: data, or an
 * error. Nothing is asserted of the data: many kinds of damage are not noticed, since frames in memory have no checksums.
 */
#include <b2nd.h>
#include <blosc2.h>

#include <unistd.h>

#include "check.h"

#define ITEMS 3000
#define NBYTES (4 * ITEMS)
#define MOST 20
#define SEEDS 64

typedef struct {
  uint8_t *bytes;
  int64_t len;
} blob;

static blob frames[SEEDS], chunks[SEEDS];
static int nframes, nchunks;
static int32_t data[ITEMS];
static uint8_t out[1 << 17];
static uint64_t state;
static char path[] = "/tmp/blosc2-mutant-XXXXXX";
static long opened, read_well;

static uint32_t random_below(uint32_t below) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(state >> 33) % below;
}

static void keep(blob *blobs, int *count, const void *bytes, int64_t len) {
  CHECK(*count < SEEDS && len > 0);
  blobs[*count].bytes = malloc((size_t)len);
  blobs[*count].len = len;
  memcpy(blobs[(*count)++].bytes, bytes, (size_t)len);
}

static void keep_frame(blosc2_schunk *schunk) {
  uint8_t *frame = NULL;
  bool needs_free = false;
  int64_t len = blosc2_schunk_to_buffer(schunk, &frame, &needs_free);
  keep(frames, &nframes, frame, len);
  if (needs_free) {
    free(frame);
  }
  uint8_t *chunk = NULL;
  int cbytes = blosc2_schunk_get_chunk(schunk, 0, &chunk, &needs_free);
  keep(chunks, &nchunks, chunk, cbytes);
  if (needs_free) {
    free(chunk);
  }
}

/* Super-chunks with each codec and each filter, and arrays. */
static void make_seeds(void) {
  static const uint8_t codecs[] = {BLOSC_BLOSCLZ, BLOSC_LZ4, BLOSC_LZ4HC, BLOSC_ZLIB, BLOSC_ZSTD};
  static const uint8_t filters[] = {BLOSC_NOFILTER, BLOSC_SHUFFLE, BLOSC_BITSHUFFLE, BLOSC_DELTA, BLOSC_TRUNC_PREC};
  for (int i = 0; i < 15; i++) {
    blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
    cparams.typesize = 4;
    cparams.compcode = codecs[i % 5];
    cparams.filters[5] = filters[i % 4];
    cparams.filters[4] = i > 9 && i != 11 ? BLOSC_TRUNC_PREC : BLOSC_NOFILTER;
    cparams.filters_meta[4] = 20;
    cparams.use_dict = cparams.compcode == BLOSC_ZSTD && i > 6;
    cparams.blocksize = i % 2 == 0 ? 0 : 4096;
    blosc2_storage storage = {.contiguous = true, .cparams = &cparams};
    blosc2_schunk *schunk = blosc2_schunk_new(&storage);
    CHECK(schunk != NULL);
    EQUAL(blosc2_meta_add(schunk, "layer", (uint8_t *)"content", 7), 0);
    EQUAL(blosc2_vlmeta_add(schunk, "vllayer", (uint8_t *)data, 400, NULL), 0);
    for (int chunk = 0; chunk < 4; chunk++) {
      EQUAL(blosc2_schunk_append_buffer(schunk, data, NBYTES), chunk + 1);
    }
    memset(out, 0, NBYTES);
    EQUAL(blosc2_schunk_append_buffer(schunk, out, NBYTES), 5);
    keep_frame(schunk);
    if (i % 3 == 0) {
      blosc2_storage array = {.contiguous = true, .cparams = &cparams};
      cparams.blocksize = 0;
      cparams.use_dict = 0;
      int64_t shape[] = {50, 60};
      int32_t chunkshape[] = {20, 30}, blockshape[] = {10, 7};
      b2nd_context_t *context = b2nd_create_ctx(&array, 2, shape, chunkshape, blockshape, "<i4", 0, NULL, 0);
      b2nd_array_t *made = NULL;
      EQUAL(b2nd_from_cbuffer(context, &made, data, NBYTES), 0);
      keep_frame(made->sc);
      b2nd_free(made);
      b2nd_free_ctx(context);
    }
    blosc2_schunk_free(schunk);
  }
}

static blob mutated(const blob *from) {
  blob made = {.bytes = malloc((size_t)from->len), .len = from->len};
  memcpy(made.bytes, from->bytes, (size_t)from->len);
  for (uint32_t times = 1 + random_below(3); times > 0; times--) {
    /* Most of what matters is at the ends. */
    uint32_t near = made.len < 256 || random_below(3) > 0 ? (uint32_t)made.len : 128;
    int64_t at = random_below(near);
    if (random_below(4) == 0) {
      at = made.len - 1 - at;
    }
    switch (random_below(5)) {
      case 0:
        made.bytes[at] ^= (uint8_t)(1u << random_below(8));
        break;
      case 1:
        made.bytes[at] = (uint8_t)random_below(256);
        break;
      case 2:
        made.bytes[at] = random_below(2) == 0 ? 0 : 0xff;
        break;
      case 3:
        for (int64_t i = at; i < at + 4 && i < made.len; i++) {
          made.bytes[i] = random_below(3) == 0 ? 0x7f : 0xff;
        }
        break;
      default:
        if (random_below(4) == 0) {
          made.len = at + 1;
        }
    }
  }
  return made;
}

static void read_array(blosc2_schunk *schunk) {
  b2nd_array_t *array = NULL;
  if (b2nd_from_schunk(schunk, &array) != 0) {
    blosc2_schunk_free(schunk);
    return;
  }
  int64_t start[B2ND_MAX_DIM] = {0}, stop[B2ND_MAX_DIM], shape[B2ND_MAX_DIM];
  int64_t nbytes = array->sc->typesize;
  for (int axis = 0; axis < array->ndim; axis++) {
    stop[axis] = array->shape[axis] < 9 ? array->shape[axis] : 9;
    shape[axis] = stop[axis];
    nbytes = nbytes > (int64_t)sizeof out ? nbytes : nbytes * stop[axis];
  }
  if (nbytes > 0 && nbytes <= (int64_t)sizeof out) {
    (void)b2nd_get_slice_cbuffer(array, start, stop, out, shape, nbytes);
  }
  b2nd_free(array);
}

static void read_all(blosc2_schunk *schunk) {
  opened++;
  uint8_t *content = NULL;
  int32_t len = 0;
  if (blosc2_meta_get(schunk, "layer", &content, &len) >= 0) {
    free(content);
  }
  if (blosc2_vlmeta_get(schunk, "vllayer", &content, &len) >= 0) {
    free(content);
  }
  for (int64_t i = 0; i < schunk->nchunks && i < MOST; i++) {
    read_well += blosc2_schunk_decompress_chunk(schunk, i, out, sizeof out) >= 0;
    bool needs_free = false;
    if (blosc2_schunk_get_lazychunk(schunk, i, &content, &needs_free) >= 0 && needs_free) {
      free(content);
    }
  }
  if (schunk->typesize > 0 && schunk->typesize < 256) {
    (void)blosc2_schunk_get_slice_buffer(schunk, 10, 200, out);
    (void)blosc2_schunk_get_slice_buffer(schunk, schunk->nbytes / schunk->typesize - 100, schunk->nbytes / schunk->typesize, out);
  }
  read_array(schunk);
}

static void frame(bool is_stored) {
  blob made = mutated(&frames[random_below((uint32_t)nframes)]);
  blosc2_schunk *schunk = NULL;
  if (is_stored) {
    FILE *file = fopen(path, "wb");
    CHECK(file != NULL && fwrite(made.bytes, 1, (size_t)made.len, file) == (size_t)made.len);
    fclose(file);
    schunk = blosc2_schunk_open(path);
    if (schunk != NULL && schunk->typesize == 4) {
      (void)blosc2_schunk_append_buffer(schunk, data, NBYTES);
    }
  } else {
    schunk = blosc2_schunk_from_buffer(made.bytes, made.len, true);
  }
  if (schunk != NULL) {
    read_all(schunk);
  }
  free(made.bytes);
}

static void chunk(blosc2_context *context) {
  blob made = mutated(&chunks[random_below((uint32_t)nchunks)]);
  int32_t len = (int32_t)made.len;
  read_well += blosc2_decompress_ctx(context, made.bytes, len, out, sizeof out) >= 0;
  (void)blosc2_getitem_ctx(context, made.bytes, len, 100, 50, out, sizeof out);
  free(made.bytes);
}

int main(int argc, char **argv) {
  long count = argc > 1 ? atol(argv[1]) : 1000;
  state = argc > 2 ? (uint64_t)atol(argv[2]) : 1;
  for (int i = 0; i < ITEMS; i++) {
    data[i] = i * 7 / 3;
  }
  blosc2_init();
  make_seeds();
  int file = mkstemp(path);
  CHECK(file >= 0);
  close(file);
  blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
  blosc2_context *context = blosc2_create_dctx(dparams);
  for (long i = 0; i < count; i++) {
    switch (i % 3) {
      case 0:
        chunk(context);
        break;
      case 1:
        frame(false);
        break;
      default:
        frame(true);
    }
  }
  blosc2_free_ctx(context);
  for (int i = 0; i < nframes; i++) {
    free(frames[i].bytes);
  }
  for (int i = 0; i < nchunks; i++) {
    free(chunks[i].bytes);
  }
  unlink(path);
  blosc2_destroy();
  printf("%ld opened, %ld chunks read\n", opened, read_well);
  CHECK(opened > count / 20 && read_well > count / 20);
  return 0;
}
