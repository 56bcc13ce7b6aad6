/*
 * Two libraries in one process get the same calls in the same order: `side_by_side OURS THEIRS SEQUENCES [SEED]`. Results, return
 * codes, data and fields are compared, and now and then each library goes on with the file that the other one has written.
 * Calls that C-Blosc2 gets wrong are not among them.
 */
#include <blosc2.h>

#include <dlfcn.h>
#include <unistd.h>

#include "check.h"

#define MOST 12
#define STEPS 60
#define MAX_LAYERS 8

typedef struct {
  blosc2_schunk *(*new)(blosc2_storage *);
  blosc2_schunk *(*open)(const char *);
  blosc2_schunk *(*copy)(blosc2_schunk *, blosc2_storage *);
  blosc2_schunk *(*from_buffer)(uint8_t *, int64_t, bool);
  int64_t (*to_buffer)(blosc2_schunk *, uint8_t **, bool *);
  int (*free)(blosc2_schunk *);
  int64_t (*append_buffer)(blosc2_schunk *, const void *, int32_t);
  int64_t (*append_chunk)(blosc2_schunk *, uint8_t *, bool);
  int64_t (*insert_chunk)(blosc2_schunk *, int64_t, uint8_t *, bool);
  int64_t (*update_chunk)(blosc2_schunk *, int64_t, uint8_t *, bool);
  int64_t (*delete_chunk)(blosc2_schunk *, int64_t);
  int64_t (*fill_special)(blosc2_schunk *, int64_t, int, int32_t);
  int (*reorder)(blosc2_schunk *, int64_t *);
  int (*decompress_chunk)(blosc2_schunk *, int64_t, void *, int32_t);
  int (*get_slice)(blosc2_schunk *, int64_t, int64_t, void *);
  int (*set_slice)(blosc2_schunk *, int64_t, int64_t, void *);
  int (*meta_add)(blosc2_schunk *, const char *, uint8_t *, int32_t);
  int (*meta_update)(blosc2_schunk *, const char *, uint8_t *, int32_t);
  int (*vlmeta_add)(blosc2_schunk *, const char *, uint8_t *, int32_t, blosc2_cparams *);
  int (*vlmeta_update)(blosc2_schunk *, const char *, uint8_t *, int32_t, blosc2_cparams *);
  int (*vlmeta_get)(blosc2_schunk *, const char *, uint8_t **, int32_t *);
  int (*vlmeta_delete)(blosc2_schunk *, const char *);
  blosc2_context *(*create_cctx)(blosc2_cparams);
  void (*free_ctx)(blosc2_context *);
  int (*compress)(blosc2_context *, const void *, int32_t, void *, int32_t);
} library;

static library both[2];
static blosc2_schunk *schunks[2];
static char paths[2][64];
static uint64_t state;
static long sequence, step;
static blosc2_cparams cparams;
static bool contiguous, is_stored;
static int32_t chunk_items;
static uint8_t *data, *found[2];
static int32_t room;

static uint32_t below(uint32_t limit) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(state >> 33) % limit;
}

#define SAME(what, one, other)                                                                                          \
  do {                                                                                                                  \
    long long one_ = (long long)(one), other_ = (long long)(other);                                                     \
    if (one_ != other_) {                                                                                               \
      fprintf(stderr, "sequence %ld, step %ld: %s: %lld here, %lld there\n", sequence, step, what, one_, other_);       \
      exit(1);                                                                                                          \
    }                                                                                                                   \
  } while (0)

/* Results are the same, and codes are codes on both sides. */
#define CALL(what, call)                                                        \
  do {                                                                          \
    long long results[2];                                                       \
    for (int side = 0; side < 2; side++) {                                      \
      library *lib = &both[side];                                               \
      blosc2_schunk *schunk = schunks[side];                                    \
      results[side] = (long long)(call);                                        \
      results[side] = results[side] < 0 ? -1 : results[side];                   \
      (void)lib, (void)schunk;                                                  \
    }                                                                           \
    SAME(what, results[0], results[1]);                                         \
  } while (0)

static void load(library *lib, const char *name) {
  void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    exit(1);
  }
#define GET(field, symbol) CHECK((*(void **)&lib->field = dlsym(handle, symbol)) != NULL)
  GET(new, "blosc2_schunk_new");
  GET(open, "blosc2_schunk_open");
  GET(copy, "blosc2_schunk_copy");
  GET(from_buffer, "blosc2_schunk_from_buffer");
  GET(to_buffer, "blosc2_schunk_to_buffer");
  GET(free, "blosc2_schunk_free");
  GET(append_buffer, "blosc2_schunk_append_buffer");
  GET(append_chunk, "blosc2_schunk_append_chunk");
  GET(insert_chunk, "blosc2_schunk_insert_chunk");
  GET(update_chunk, "blosc2_schunk_update_chunk");
  GET(delete_chunk, "blosc2_schunk_delete_chunk");
  GET(fill_special, "blosc2_schunk_fill_special");
  GET(reorder, "blosc2_schunk_reorder_offsets");
  GET(decompress_chunk, "blosc2_schunk_decompress_chunk");
  GET(get_slice, "blosc2_schunk_get_slice_buffer");
  GET(set_slice, "blosc2_schunk_set_slice_buffer");
  GET(meta_add, "blosc2_meta_add");
  GET(meta_update, "blosc2_meta_update");
  GET(vlmeta_add, "blosc2_vlmeta_add");
  GET(vlmeta_update, "blosc2_vlmeta_update");
  GET(vlmeta_get, "blosc2_vlmeta_get");
  GET(vlmeta_delete, "blosc2_vlmeta_delete");
  GET(create_cctx, "blosc2_create_cctx");
  GET(free_ctx, "blosc2_free_ctx");
  GET(compress, "blosc2_compress_ctx");
  void (*init)(void);
  CHECK((*(void **)&init = dlsym(handle, "blosc2_init")) != NULL);
  init();
}

static void make_data(int32_t nbytes) {
  uint32_t kind = below(4), value = below(1000);
  for (int32_t i = 0; i < nbytes; i++) {
    data[i] = (uint8_t)(kind == 0 ? 0 : kind == 1 ? value : kind == 2 ? (uint32_t)i / 7 + value : below(256));
  }
}

static blosc2_storage storage_for(int side) {
  blosc2_storage storage = {.contiguous = contiguous, .urlpath = is_stored ? paths[side] : NULL, .cparams = &cparams};
  return storage;
}

static void begin(void) {
  static const uint8_t codecs[] = {BLOSC_BLOSCLZ, BLOSC_LZ4, BLOSC_LZ4HC, BLOSC_ZLIB, BLOSC_ZSTD};
  static const int32_t sizes[] = {1, 2, 4, 8, 16, 3};
  blosc2_cparams defaults = BLOSC2_CPARAMS_DEFAULTS;
  cparams = defaults;
  cparams.compcode = codecs[below(5)];
  cparams.clevel = (uint8_t)below(10);
  cparams.typesize = sizes[below(6)];
  cparams.filters[5] = (uint8_t)below(3);
  contiguous = below(2) == 0;
  is_stored = below(3) > 0;
  chunk_items = 16 + (int32_t)below(2000);
  for (int side = 0; side < 2; side++) {
    blosc2_storage storage = storage_for(side);
    schunks[side] = both[side].new(&storage);
    CHECK(schunks[side] != NULL);
  }
}

static void remove_path(const char *path) {
  char command[256];
  snprintf(command, sizeof command, "rm -rf %s", path);
  CHECK(system(command) == 0);
}

static void end(void) {
  for (int side = 0; side < 2; side++) {
    both[side].free(schunks[side]);
    remove_path(paths[side]);
  }
}

/* A chunk for both, of one of the two libraries. */
static uint8_t *chunk(void) {
  int32_t nbytes = chunk_items * cparams.typesize;
  make_data(nbytes);
  library *lib = &both[below(2)];
  blosc2_context *context = lib->create_cctx(cparams);
  uint8_t *made = malloc((size_t)nbytes + BLOSC2_MAX_OVERHEAD);
  CHECK(lib->compress(context, data, nbytes, made, nbytes + BLOSC2_MAX_OVERHEAD) > 0);
  lib->free_ctx(context);
  return made;
}

static void compare(void) {
  SAME("nchunks", schunks[0]->nchunks, schunks[1]->nchunks);
  SAME("nbytes", schunks[0]->nbytes, schunks[1]->nbytes);
  SAME("typesize", schunks[0]->typesize, schunks[1]->typesize);
  SAME("metalayers", schunks[0]->nmetalayers, schunks[1]->nmetalayers);
  SAME("vlmetalayers", schunks[0]->nvlmetalayers, schunks[1]->nvlmetalayers);
  for (int64_t i = 0; i < schunks[0]->nchunks; i++) {
    CALL("decompress_chunk", lib->decompress_chunk(schunk, i, found[side], room));
    CHECK(memcmp(found[0], found[1], (size_t)(chunk_items * cparams.typesize)) == 0);
  }
  for (int layer = 0; layer < MAX_LAYERS; layer++) {
    char name[16];
    uint8_t *contents[2] = {NULL, NULL};
    int32_t lens[2] = {0, 0};
    snprintf(name, sizeof name, "vl-%d", layer);
    CALL("vlmeta_get", lib->vlmeta_get(schunk, name, &contents[side], &lens[side]));
    SAME("length of a vlmetalayer", lens[0], lens[1]);
    CHECK(lens[0] == 0 || memcmp(contents[0], contents[1], (size_t)lens[0]) == 0);
    free(contents[0]);
    free(contents[1]);
    snprintf(name, sizeof name, "meta-%d", layer);
    int numbers[2] = {blosc2_meta_get(schunks[0], name, &contents[0], &lens[0]),
                      blosc2_meta_get(schunks[1], name, &contents[1], &lens[1])};
    SAME("number of a metalayer", numbers[0], numbers[1]);
    if (numbers[0] >= 0) {
      SAME("length of a metalayer", lens[0], lens[1]);
      CHECK(memcmp(contents[0], contents[1], (size_t)lens[0]) == 0);
      free(contents[0]);
      free(contents[1]);
    }
  }
}

/* Each goes on with what the other has written. */
static void change_places(void) {
  if (is_stored) {
    char path[64];
    for (int side = 0; side < 2; side++) {
      both[side].free(schunks[side]);
    }
    memcpy(path, paths[0], sizeof path);
    memcpy(paths[0], paths[1], sizeof path);
    memcpy(paths[1], path, sizeof path);
    for (int side = 0; side < 2; side++) {
      schunks[side] = both[side].open(paths[side]);
      CHECK(schunks[side] != NULL);
    }
    return;
  }
  uint8_t *frames[2];
  bool needs_free[2];
  int64_t lens[2];
  for (int side = 0; side < 2; side++) {
    lens[side] = both[side].to_buffer(schunks[side], &frames[side], &needs_free[side]);
    CHECK(lens[side] > 0);
  }
  blosc2_schunk *made[2];
  for (int side = 0; side < 2; side++) {
    made[side] = both[side].from_buffer(frames[1 - side], lens[1 - side], true);
    CHECK(made[side] != NULL);
  }
  for (int side = 0; side < 2; side++) {
    both[side].free(schunks[side]);
    if (needs_free[side]) {
      free(frames[side]);
    }
    schunks[side] = made[side];
  }
}

static void copy(void) {
  for (int side = 0; side < 2; side++) {
    blosc2_storage storage = {.contiguous = below(2) == 0};
    blosc2_schunk *copied = both[side].copy(schunks[side], &storage);
    CHECK(copied != NULL);
    SAME("nbytes of a copy", copied->nbytes, schunks[side]->nbytes);
    both[side].free(copied);
  }
}

static void slice(void) {
  int64_t items = schunks[0]->nbytes / cparams.typesize;
  if (items == 0) {
    return;
  }
  int64_t start = below((uint32_t)items), stop = start + 1 + below((uint32_t)(items - start));
  size_t nbytes = (size_t)(stop - start) * (size_t)cparams.typesize;
  if (below(2) == 0) {
    CALL("get_slice_buffer", lib->get_slice(schunk, start, stop, found[side]));
    CHECK(memcmp(found[0], found[1], nbytes) == 0);
  } else {
    make_data((int32_t)nbytes);
    CALL("set_slice_buffer", lib->set_slice(schunk, start, stop, data));
  }
}

static void layers(void) {
  char name[16];
  int32_t len = 1 + (int32_t)below(300);
  make_data(len);
  uint32_t layer = below(MAX_LAYERS);
  snprintf(name, sizeof name, "vl-%d", (int)layer);
  switch (below(4)) {
    case 0:
      CALL("vlmeta_add", lib->vlmeta_add(schunk, name, data, len, NULL));
      break;
    case 1:
      CALL("vlmeta_update", lib->vlmeta_update(schunk, name, data, len, NULL));
      break;
    case 2:
      CALL("vlmeta_delete", lib->vlmeta_delete(schunk, name));
      break;
    default:
      snprintf(name, sizeof name, "meta-%d", (int)layer);
      if (schunks[0]->nchunks == 0) {
        CALL("meta_add", lib->meta_add(schunk, name, data, 20));
      } else {
        CALL("meta_update", lib->meta_update(schunk, name, data, 20));
      }
  }
}

static void change(void) {
  int64_t count = schunks[0]->nchunks, place = count == 0 ? 0 : below((uint32_t)count);
  int32_t nbytes = chunk_items * cparams.typesize;
  uint8_t *made = NULL;
  switch (below(12)) {
    case 0:
    case 1:
      if (count < MOST) {
        make_data(nbytes);
        CALL("append_buffer", lib->append_buffer(schunk, data, nbytes));
      }
      break;
    case 2:
      if (count < MOST) {
        made = chunk();
        CALL("append_chunk", lib->append_chunk(schunk, made, true));
      }
      break;
    case 3:
      if (count < MOST && count > 0) {
        made = chunk();
        CALL("insert_chunk", lib->insert_chunk(schunk, place, made, true));
      }
      break;
    case 4:
    case 5:
      if (count > 0) {
        made = chunk();
        CALL("update_chunk", lib->update_chunk(schunk, place, made, true));
      }
      break;
    case 6:
      if (count > 1) {
        CALL("delete_chunk", lib->delete_chunk(schunk, place));
      }
      break;
    case 7:
      /* In memory C-Blosc2 writes beyond its pointers, after a frame was read. */
      if (count > 0 && is_stored) {
        int64_t order[MOST];
        for (int64_t i = 0; i < count; i++) {
          order[i] = (i + place) % count;
        }
        CALL("reorder_offsets", lib->reorder(schunk, order));
      } else if (count == 0) {
        CALL("fill_special", lib->fill_special(schunk, 3 * chunk_items, BLOSC2_SPECIAL_ZERO, nbytes));
      }
      break;
    case 8:
      layers();
      break;
    case 9:
    case 10:
      slice();
      break;
    default:
      if (below(3) == 0) {
        copy();
      } else {
        change_places();
      }
  }
  free(made);
}

int main(int argc, char **argv) {
  CHECK(argc >= 4);
  long count = atol(argv[3]), first = argc > 4 ? atol(argv[4]) : 1;
  load(&both[0], argv[1]);
  load(&both[1], argv[2]);
  room = MOST * 2100 * 16;
  data = malloc((size_t)room);
  found[0] = malloc((size_t)room);
  found[1] = malloc((size_t)room);
  for (sequence = first; sequence < first + count; sequence++) {
    state = (uint64_t)sequence * 2654435761u;
    for (int side = 0; side < 2; side++) {
      snprintf(paths[side], sizeof paths[side], "/tmp/side-%d-%d.b2frame", (int)getpid(), side);
    }
    begin();
    for (step = 0; step < STEPS; step++) {
      change();
      compare();
    }
    end();
  }
  free(data);
  free(found[0]);
  free(found[1]);
  return 0;
}
