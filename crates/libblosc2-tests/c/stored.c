/* Super-chunks in files and directories: made, opened, changed, copied, at an offset, with every kind of input and output. */
#include <b2nd.h>
#include <blosc2.h>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

#define ITEMS 1000
#define NBYTES (4 * ITEMS)

static int32_t data[4 * ITEMS];
static int32_t found[4 * ITEMS];
static char directory[] = "/tmp/blosc2-stored-XXXXXX";
static char path[] = "a.b2frame";
static char other[] = "b.b2frame";

static blosc2_schunk *made_with(char *urlpath, bool contiguous, blosc2_io *io) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 4;
  blosc2_storage storage = {.contiguous = contiguous, .urlpath = urlpath, .cparams = &cparams, .io = io};
  return blosc2_schunk_new(&storage);
}

static blosc2_schunk *with_chunks(char *urlpath, bool contiguous, int count) {
  blosc2_schunk *schunk = made_with(urlpath, contiguous, NULL);
  CHECK(schunk != NULL);
  for (int i = 0; i < count; i++) {
    EQUAL(blosc2_schunk_append_buffer(schunk, data + i * ITEMS, NBYTES), i + 1);
  }
  return schunk;
}

static void has(blosc2_schunk *schunk, const int32_t *items, int64_t count) {
  CHECK(schunk != NULL);
  EQUAL(schunk->nbytes, 4 * count);
  memset(found, 0xff, sizeof found);
  EQUAL(blosc2_schunk_get_slice_buffer(schunk, 0, count, found), 0);
  CHECK(memcmp(found, items, (size_t)(4 * count)) == 0);
}

/* Opens what is stored, and looks at its data. */
static void stores(const char *urlpath, const int32_t *items, int64_t count) {
  blosc2_schunk *schunk = blosc2_schunk_open(urlpath);
  has(schunk, items, count);
  EQUAL(schunk->typesize, 4);
  blosc2_schunk_free(schunk);
}

static void opened_again(bool contiguous) {
  blosc2_schunk *schunk = with_chunks(path, contiguous, 3);
  EQUAL(schunk->chunksize, NBYTES);
  CHECK(strcmp(schunk->storage->urlpath, path) == 0);
  EQUAL(schunk->storage->contiguous, contiguous);
  has(schunk, data, 3 * ITEMS);
  stores(path, data, 3 * ITEMS);
  blosc2_schunk_free(schunk);
  schunk = blosc2_schunk_open(path);
  CHECK(schunk != NULL);
  EQUAL(schunk->nchunks, 3);
  EQUAL(schunk->chunksize, NBYTES);
  EQUAL(schunk->storage->contiguous, contiguous);
  EQUAL(schunk->filters[5], BLOSC_SHUFFLE);
  has(schunk, data, 3 * ITEMS);
  EQUAL(blosc2_schunk_append_buffer(schunk, data + 3 * ITEMS, NBYTES), 4);
  has(schunk, data, 4 * ITEMS);
  stores(path, data, 4 * ITEMS);
  EQUAL(blosc2_schunk_decompress_chunk(schunk, 4, found, NBYTES), BLOSC2_ERROR_INVALID_PARAM);
  blosc2_schunk_free(schunk);
  EQUAL(blosc2_remove_urlpath(path), 0);
  EQUAL(access(path, F_OK), -1);
  CHECK(blosc2_schunk_open(path) == NULL);
  EQUAL(blosc2_remove_urlpath(path), 0);
}

static void changed(bool contiguous) {
  blosc2_schunk *schunk = with_chunks(path, contiguous, 3);
  uint8_t *chunk = NULL;
  bool needs_free = false;
  int cbytes = blosc2_schunk_get_chunk(schunk, 2, &chunk, &needs_free);
  CHECK(cbytes > 32 && needs_free);
  EQUAL(blosc2_schunk_insert_chunk(schunk, 0, chunk, true), 4);
  EQUAL(blosc2_schunk_update_chunk(schunk, 1, chunk, true), 4);
  free(chunk);
  for (int i = 0; i < 2; i++) {
    EQUAL(blosc2_schunk_decompress_chunk(schunk, i, found, NBYTES), NBYTES);
    CHECK(memcmp(found, data + 2 * ITEMS, NBYTES) == 0);
  }
  int64_t order[4] = {2, 3, 0, 1};
  EQUAL(blosc2_schunk_reorder_offsets(schunk, order), 0);
  EQUAL(blosc2_schunk_delete_chunk(schunk, 3), 3);
  EQUAL(blosc2_schunk_get_slice_buffer(schunk, 0, 3 * ITEMS, found), 0);
  CHECK(memcmp(found, data + ITEMS, 2 * NBYTES) == 0);
  CHECK(memcmp(found + 2 * ITEMS, data + 2 * ITEMS, NBYTES) == 0);
  EQUAL(blosc2_schunk_set_slice_buffer(schunk, 0, 3 * ITEMS, data), 0);
  stores(path, data, 3 * ITEMS);
  EQUAL(blosc2_schunk_set_slice_buffer(schunk, 10, 1500, data + 20), 0);
  EQUAL(blosc2_schunk_get_slice_buffer(schunk, 5, 1600, found), 0);
  CHECK(memcmp(found, data + 5, 20) == 0 && memcmp(found + 5, data + 20, 4 * 1490) == 0);
  CHECK(memcmp(found + 1495, data + 1500, 400) == 0);
  blosc2_schunk_free(schunk);
  EQUAL(blosc2_remove_urlpath(path), 0);
}

static void layers(bool contiguous) {
  blosc2_schunk *schunk = made_with(path, contiguous, NULL);
  CHECK(schunk != NULL);
  EQUAL(blosc2_meta_add(schunk, "fixed", (uint8_t *)"12345", 5), 0);
  EQUAL(blosc2_schunk_append_buffer(schunk, data, NBYTES), 1);
  EQUAL(blosc2_vlmeta_add(schunk, "one", (uint8_t *)"first", 5, NULL), 0);
  EQUAL(blosc2_vlmeta_add(schunk, "two", (uint8_t *)"second", 6, NULL), 1);
  EQUAL(blosc2_vlmeta_update(schunk, "one", (uint8_t *)"longer than before", 18, NULL), 0);
  EQUAL(blosc2_meta_update(schunk, "fixed", (uint8_t *)"54321", 5), 0);
  EQUAL(blosc2_vlmeta_delete(schunk, "two"), 1);
  blosc2_schunk_free(schunk);
  schunk = blosc2_schunk_open(path);
  CHECK(schunk != NULL);
  EQUAL(schunk->nmetalayers, 1);
  EQUAL(schunk->nvlmetalayers, 1);
  uint8_t *content = NULL;
  int32_t len = 0;
  EQUAL(blosc2_meta_get(schunk, "fixed", &content, &len), 0);
  EQUAL(len, 5);
  CHECK(memcmp(content, "54321", 5) == 0);
  free(content);
  EQUAL(blosc2_vlmeta_get(schunk, "one", &content, &len), 0);
  EQUAL(len, 18);
  CHECK(memcmp(content, "longer than before", 18) == 0);
  free(content);
  EQUAL(blosc2_vlmeta_exists(schunk, "two"), BLOSC2_ERROR_NOT_FOUND);
  char *names[2] = {NULL, NULL};
  EQUAL(blosc2_vlmeta_get_names(schunk, names), 1);
  CHECK(strcmp(names[0], "one") == 0);
  has(schunk, data, ITEMS);
  blosc2_schunk_free(schunk);
  EQUAL(blosc2_remove_urlpath(path), 0);
}

static void specials(bool contiguous) {
  blosc2_schunk *schunk = made_with(path, contiguous, NULL);
  CHECK(schunk != NULL);
  EQUAL(blosc2_schunk_fill_special(schunk, 2500, BLOSC2_SPECIAL_ZERO, NBYTES), 3);
  EQUAL(schunk->nbytes, 10000);
  blosc2_schunk_free(schunk);
  static const int32_t zeros[2500];
  stores(path, zeros, 2500);
  schunk = blosc2_schunk_open(path);
  EQUAL(blosc2_schunk_set_slice_buffer(schunk, 1000, 2000, data), 0);
  EQUAL(blosc2_schunk_get_slice_buffer(schunk, 0, 2500, found), 0);
  CHECK(memcmp(found, zeros, NBYTES) == 0 && memcmp(found + ITEMS, data, NBYTES) == 0);
  int64_t *offsets = blosc2_frame_get_offsets(schunk);
  CHECK(offsets != NULL);
  CHECK(offsets[0] < 0 && offsets[1] >= 0 && offsets[2] < 0);
  EQUAL(((uint64_t)offsets[0] >> 56) & 0x7f, BLOSC2_SPECIAL_ZERO);
  free(offsets);
  blosc2_schunk_free(schunk);
  EQUAL(blosc2_remove_urlpath(path), 0);
}

static int64_t size_of(const char *urlpath) {
  struct stat status;
  EQUAL(stat(urlpath, &status), 0);
  return status.st_size;
}

/* From each kind of storage to each other. */
static void copies(void) {
  for (int from = 0; from < 3; from++) {
    blosc2_schunk *source = with_chunks(from == 0 ? NULL : path, from == 1, 4);
    EQUAL(blosc2_vlmeta_add(source, "note", (uint8_t *)"note", 4, NULL), 0);
    for (int to = 0; to < 3; to++) {
      blosc2_storage storage = {.contiguous = to == 1, .urlpath = to == 0 ? NULL : other};
      blosc2_schunk *copy = blosc2_schunk_copy(source, &storage);
      has(copy, data, 4 * ITEMS);
      EQUAL(blosc2_vlmeta_exists(copy, "note"), 0);
      blosc2_schunk_free(copy);
      if (to > 0) {
        stores(other, data, 4 * ITEMS);
      }
      EQUAL(blosc2_remove_urlpath(other), 0);
    }
    int64_t len = blosc2_schunk_to_file(source, other);
    CHECK(len > 0);
    EQUAL(size_of(other), len);
    stores(other, data, 4 * ITEMS);
    EQUAL(blosc2_schunk_append_file(source, other), len);
    blosc2_schunk *second = blosc2_schunk_open_offset(other, len);
    has(second, data, 4 * ITEMS);
    blosc2_schunk_free(second);
    stores(other, data, 4 * ITEMS);
    CHECK(blosc2_schunk_open_offset(other, len + 1) == NULL);
    uint8_t *frame = NULL;
    bool needs_free = false;
    len = blosc2_schunk_to_buffer(source, &frame, &needs_free);
    CHECK(len > 0);
    blosc2_schunk *again = blosc2_schunk_from_buffer(frame, len, true);
    has(again, data, 4 * ITEMS);
    blosc2_schunk_free(again);
    if (needs_free) {
      free(frame);
    }
    EQUAL(blosc2_remove_urlpath(other), 0);
    blosc2_schunk_free(source);
    EQUAL(blosc2_remove_urlpath(path), 0);
  }
}

static void numbers_of_chunks(void) {
  blosc2_schunk *schunk = with_chunks(path, true, 4);
  int64_t start = 1500, stop = 3001, *numbers = NULL;
  EQUAL(blosc2_get_slice_nchunks(schunk, &start, &stop, &numbers), 3);
  for (int i = 0; i < 3; i++) {
    EQUAL(numbers[i], i + 1);
  }
  free(numbers);
  int64_t *offsets = blosc2_frame_get_offsets(schunk);
  CHECK(offsets != NULL);
  CHECK(offsets[0] >= 0 && offsets[1] > offsets[0] && offsets[2] > offsets[1] && offsets[3] > offsets[2]);
  free(offsets);
  CHECK(blosc2_schunk_frame_len(schunk) > 0 && blosc2_schunk_frame_len(schunk) <= size_of(path));
  blosc2_schunk_free(schunk);
  EQUAL(blosc2_rename_urlpath(path, other), 0);
  stores(other, data, 4 * ITEMS);
  EQUAL(blosc2_remove_urlpath(other), 0);
  schunk = with_chunks(path, false, 2);
  blosc2_schunk_free(schunk);
  EQUAL(blosc2_rename_urlpath(path, other), 0);
  stores(other, data, 2 * ITEMS);
  EQUAL(blosc2_remove_dir(other), 0);
  EQUAL(access(other, F_OK), -1);
}

static void existing(void) {
  blosc2_schunk_free(with_chunks(path, true, 1));
  CHECK(made_with(path, true, NULL) == NULL);
  stores(path, data, ITEMS);
  EQUAL(blosc2_remove_urlpath(path), 0);
  blosc2_schunk_free(with_chunks(path, false, 1));
  CHECK(made_with(path, false, NULL) == NULL);
  stores(path, data, ITEMS);
  EQUAL(blosc2_remove_urlpath(path), 0);
  FILE *file = fopen(path, "wb");
  fputs("this is not a frame, and long enough to be looked at as one, if anybody should think of that.", file);
  fclose(file);
  CHECK(blosc2_schunk_open(path) == NULL);
  EQUAL(blosc2_remove_urlpath(path), 0);
}

/* Two handles that lock: each sees what the other has done. */
static void with_locks(bool contiguous) {
  blosc2_stdio_params params = {.locking = true};
  blosc2_io io = {.id = BLOSC2_IO_FILESYSTEM, .name = "filesystem", .params = &params};
  blosc2_schunk *one = made_with(path, contiguous, &io);
  CHECK(one != NULL);
  blosc2_schunk *two = blosc2_schunk_open_udio(path, &io);
  CHECK(two != NULL);
  for (int i = 0; i < 4; i++) {
    EQUAL(blosc2_schunk_append_buffer(i % 2 == 0 ? one : two, data + i * ITEMS, NBYTES), i + 1);
  }
  EQUAL(blosc2_schunk_refresh(one), 1);
  EQUAL(blosc2_schunk_refresh(one), 0);
  has(one, data, 4 * ITEMS);
  has(two, data, 4 * ITEMS);
  int64_t tick = two->change_tick;
  EQUAL(blosc2_vlmeta_add(one, "note", (uint8_t *)"note", 4, NULL), 0);
  EQUAL(blosc2_schunk_refresh(two), 1);
  CHECK(two->change_tick != tick);
  EQUAL(blosc2_vlmeta_exists(two, "note"), 0);
  EQUAL(blosc2_schunk_lock(one), 0);
  EQUAL(blosc2_schunk_lock(one), 0);
  EQUAL(blosc2_schunk_set_slice_buffer(one, 0, ITEMS, data + ITEMS), 0);
  EQUAL(blosc2_schunk_set_slice_buffer(one, 0, ITEMS, data), 0);
  EQUAL(blosc2_schunk_unlock(one), 0);
  EQUAL(blosc2_schunk_unlock(one), 0);
  EQUAL(blosc2_schunk_append_buffer(two, data, NBYTES), 5);
  blosc2_schunk_free(one);
  blosc2_schunk_free(two);
  EQUAL(blosc2_remove_urlpath(path), 0);
  EQUAL(blosc2_remove_urlpath("a.b2frame.b2lock"), 0);
}

/* What one process does between locking and unlocking, another one sees all of, or nothing. */
static void brackets(bool contiguous) {
  blosc2_stdio_params params = {.locking = true};
  blosc2_io io = {.id = BLOSC2_IO_FILESYSTEM, .name = "filesystem", .params = &params};
  blosc2_schunk *schunk = made_with(path, contiguous, &io);
  CHECK(schunk != NULL);
  for (int i = 0; i < 2; i++) {
    EQUAL(blosc2_schunk_append_buffer(schunk, data, NBYTES), i + 1);
  }
  int ready[2];
  CHECK(pipe(ready) == 0);
  pid_t child = fork();
  if (child == 0) {
    blosc2_schunk *own = blosc2_schunk_open_udio(path, &io);
    CHECK(own != NULL && blosc2_schunk_lock(own) == 0);
    EQUAL(blosc2_schunk_set_slice_buffer(own, 0, ITEMS, data + ITEMS), 0);
    CHECK(write(ready[1], "r", 1) == 1);
    usleep(100 * 1000);
    EQUAL(blosc2_schunk_set_slice_buffer(own, ITEMS, 2 * ITEMS, data + 2 * ITEMS), 0);
    EQUAL(blosc2_schunk_unlock(own), 0);
    _exit(0);
  }
  char byte;
  CHECK(read(ready[0], &byte, 1) == 1);
  has(schunk, data + ITEMS, 2 * ITEMS);
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  close(ready[0]);
  close(ready[1]);
  blosc2_schunk_free(schunk);
  EQUAL(blosc2_remove_urlpath(path), 0);
  EQUAL(blosc2_remove_urlpath("a.b2frame.b2lock"), 0);
}

/* Input and output of the program: stdio, and how often each function is called. */
static int calls[7];
enum { OPEN, CLOSE, SIZE, WRITE, READ, TRUNCATE, DESTROY };

static void *my_open(const char *urlpath, const char *mode, void *params) {
  CHECK(params == calls);
  void *stream = blosc2_stdio_open(urlpath, mode, NULL);
  calls[OPEN] += stream != NULL;
  return stream;
}

static int my_close(void *stream) {
  calls[CLOSE]++;
  return blosc2_stdio_close(stream);
}

static int64_t my_size(void *stream) {
  calls[SIZE]++;
  return blosc2_stdio_size(stream);
}

static int64_t my_write(const void *ptr, int64_t size, int64_t nitems, int64_t position, void *stream) {
  calls[WRITE]++;
  return blosc2_stdio_write(ptr, size, nitems, position, stream);
}

static int64_t my_read(void **ptr, int64_t size, int64_t nitems, int64_t position, void *stream) {
  calls[READ]++;
  return blosc2_stdio_read(ptr, size, nitems, position, stream);
}

static int my_truncate(void *stream, int64_t size) {
  calls[TRUNCATE]++;
  return blosc2_stdio_truncate(stream, size);
}

static int my_destroy(void *params) {
  CHECK(params == calls);
  calls[DESTROY]++;
  return 0;
}

static void with_functions(bool contiguous) {
  blosc2_io io = {.id = 244, .name = "counted", .params = calls};
  memset(calls, 0, sizeof calls);
  blosc2_schunk *schunk = made_with(path, contiguous, &io);
  CHECK(schunk != NULL);
  for (int i = 0; i < 3; i++) {
    EQUAL(blosc2_schunk_append_buffer(schunk, data + i * ITEMS, NBYTES), i + 1);
  }
  has(schunk, data, 3 * ITEMS);
  CHECK(calls[OPEN] > 0 && calls[OPEN] == calls[CLOSE] && calls[WRITE] > 0 && calls[READ] > 0);
  blosc2_schunk_free(schunk);
  EQUAL(calls[DESTROY], 1);
  stores(path, data, 3 * ITEMS);
  schunk = blosc2_schunk_open_udio(path, &io);
  has(schunk, data, 3 * ITEMS);
  EQUAL(blosc2_schunk_append_buffer(schunk, data + 3 * ITEMS, NBYTES), 4);
  blosc2_schunk_free(schunk);
  stores(path, data, 4 * ITEMS);
  EQUAL(calls[DESTROY], 2);
  CHECK(calls[OPEN] == calls[CLOSE]);
  EQUAL(blosc2_remove_urlpath(path), 0);
}

static void own_functions(void) {
  blosc2_io_cb functions = {.id = 244,
                            .name = "counted",
                            .is_allocation_necessary = true,
                            .open = my_open,
                            .close = my_close,
                            .size = my_size,
                            .write = my_write,
                            .read = my_read,
                            .truncate = my_truncate,
                            .destroy = my_destroy};
  EQUAL(blosc2_register_io_cb(&functions), 0);
  CHECK(blosc2_get_io_cb(244) != NULL);
  with_functions(true);
  with_functions(false);
  blosc2_io unknown = {.id = 245, .name = "unknown", .params = NULL};
  CHECK(made_with(path, true, &unknown) == NULL);
}

static blosc2_schunk *mapped(const char *mode, bool is_new) {
  blosc2_stdio_mmap *map = malloc(sizeof *map);
  *map = BLOSC2_STDIO_MMAP_DEFAULTS;
  map->mode = mode;
  map->initial_mapping_size = 1 << 16;
  map->needs_free = true;
  blosc2_io io = {.id = BLOSC2_IO_FILESYSTEM_MMAP, .name = "filesystem_mmap", .params = map};
  return is_new ? made_with(path, true, &io) : blosc2_schunk_open_udio(path, &io);
}

static void maps(void) {
  blosc2_schunk *schunk = mapped("w+", true);
  CHECK(schunk != NULL);
  EQUAL(blosc2_schunk_append_buffer(schunk, data, NBYTES), 1);
  blosc2_schunk_free(schunk);
  stores(path, data, ITEMS);
  schunk = mapped("r", false);
  has(schunk, data, ITEMS);
  CHECK(blosc2_schunk_append_buffer(schunk, data, NBYTES) < 0);
  blosc2_schunk_free(schunk);
  schunk = mapped("r+", false);
  EQUAL(blosc2_schunk_append_buffer(schunk, data + ITEMS, NBYTES), 2);
  has(schunk, data, 2 * ITEMS);
  blosc2_schunk_free(schunk);
  stores(path, data, 2 * ITEMS);
  schunk = mapped("c", false);
  EQUAL(blosc2_schunk_append_buffer(schunk, data + 2 * ITEMS, NBYTES), 3);
  has(schunk, data, 3 * ITEMS);
  blosc2_schunk_free(schunk);
  stores(path, data, 2 * ITEMS);
  EQUAL(blosc2_remove_urlpath(path), 0);
}

/* The functions that are built in, called one by one. */
static void streams(bool is_map) {
  const blosc2_io_cb *io = blosc2_get_io_cb(is_map ? BLOSC2_IO_FILESYSTEM_MMAP : BLOSC2_IO_FILESYSTEM);
  CHECK(io != NULL);
  blosc2_stdio_mmap map = BLOSC2_STDIO_MMAP_DEFAULTS;
  map.mode = "w+";
  map.initial_mapping_size = 4096;
  void *params = is_map ? &map : NULL;
  EQUAL(io->is_allocation_necessary, !is_map);
  void *stream = io->open(path, "wb+", params);
  CHECK(stream != NULL);
  EQUAL(io->size(stream), 0);
  EQUAL(io->write(data, 4, 100, 0, stream), 100);
  EQUAL(io->write(data, 4, ITEMS * 3, 200, stream), ITEMS * 3);
  EQUAL(io->size(stream), 200 + 3 * NBYTES);
  int32_t some[10];
  void *place = some;
  EQUAL(io->read(&place, 4, 10, 204, stream), 10);
  CHECK(memcmp(place, data + 1, sizeof some) == 0);
  EQUAL(io->truncate(stream, 300), 0);
  EQUAL(io->size(stream), 300);
  EQUAL(io->close(stream), 0);
  EQUAL(io->destroy(params), 0);
  EQUAL(size_of(path), 300);
  EQUAL(unlink(path), 0);
}

static void array_has(b2nd_array_t *array, const int32_t *items, int64_t rows) {
  EQUAL(array->shape[0], rows);
  EQUAL(b2nd_to_cbuffer(array, found, 4 * 30 * rows), 0);
  CHECK(memcmp(found, items, (size_t)(4 * 30 * rows)) == 0);
}

static void arrays(bool contiguous) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 4;
  blosc2_storage storage = {.contiguous = contiguous, .urlpath = path, .cparams = &cparams};
  int64_t shape[] = {20, 30};
  int32_t chunks[] = {8, 30}, blocks[] = {4, 7};
  b2nd_context_t *context = b2nd_create_ctx(&storage, 2, shape, chunks, blocks, "<i4", 0, NULL, 0);
  b2nd_array_t *array = NULL, *second = NULL;
  EQUAL(b2nd_from_cbuffer(context, &array, data, 4 * 600), 0);
  b2nd_free_ctx(context);
  EQUAL(b2nd_open(path, &second), 0);
  array_has(second, data, 20);
  EQUAL(b2nd_append(array, data + 600, 4 * 300, 0), 0);
  array_has(array, data, 30);
  b2nd_free(second);
  EQUAL(b2nd_open(path, &second), 0);
  array_has(second, data, 30);
  int64_t start[] = {3, 5}, stop[] = {21, 11}, part[] = {18, 6};
  int32_t box[18 * 6], back[18 * 6];
  for (int i = 0; i < 18 * 6; i++) {
    box[i] = -i;
  }
  EQUAL(b2nd_set_slice_cbuffer(box, part, sizeof box, start, stop, second), 0);
  EQUAL(b2nd_get_slice_cbuffer(second, start, stop, back, part, sizeof back), 0);
  CHECK(memcmp(box, back, sizeof box) == 0);
  shape[0] = 10;
  EQUAL(b2nd_resize(second, shape, NULL), 0);
  EQUAL(b2nd_save(second, other), 0);
  b2nd_free(second);
  b2nd_free(array);
  EQUAL(b2nd_open(path, &array), 0);
  EQUAL(array->shape[0], 10);
  EQUAL(array->sc->nchunks, 2);
  EQUAL(b2nd_get_slice_cbuffer(array, start, (int64_t[]){10, 11}, back, (int64_t[]){7, 6}, sizeof back), 0);
  CHECK(memcmp(box, back, 4 * 42) == 0);
  b2nd_free(array);
  EQUAL(b2nd_open(other, &array), 0);
  EQUAL(array->shape[0], 10);
  b2nd_free(array);
  CHECK(b2nd_open("missing", &array) < 0);
  EQUAL(blosc2_remove_urlpath(path), 0);
  EQUAL(blosc2_remove_urlpath(other), 0);
}

int main(void) {
  for (int i = 0; i < 4 * ITEMS; i++) {
    data[i] = i * 7 / 3;
  }
  CHECK(mkdtemp(directory) != NULL && chdir(directory) == 0);
  blosc2_init();
  for (int contiguous = 0; contiguous < 2; contiguous++) {
    opened_again(contiguous);
    changed(contiguous);
    layers(contiguous);
    specials(contiguous);
    with_locks(contiguous);
    brackets(contiguous);
    arrays(contiguous);
  }
  copies();
  numbers_of_chunks();
  existing();
  own_functions();
  maps();
  streams(false);
  streams(true);
  blosc2_destroy();
  CHECK(chdir("/") == 0);
  EQUAL(rmdir(directory), 0);
  return 0;
}
