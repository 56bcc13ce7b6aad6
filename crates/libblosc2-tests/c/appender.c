/*
 * Appends to a super-chunk until it is killed, and says of each chunk that it is there; or tells what is there.
 *
 *   appender create PATH CONTIGUOUS      an empty one
 *   appender append PATH WRITER FIRST    chunks WRITER:FIRST, WRITER:FIRST+1, ... The number of each on stdout
 *   appender list PATH                   the writer and the number of each chunk, all of whose data are compared
 */
#include <blosc2.h>

#include <unistd.h>

#include "check.h"

#define ITEMS 512

static int32_t data[ITEMS];
static int32_t found[ITEMS];

static void make(int32_t writer, int32_t number) {
  data[0] = writer;
  data[1] = number;
  for (int i = 2; i < ITEMS; i++) {
    data[i] = writer * 31 + number * 17 + i / 3;
  }
}

static int create(char *path, bool contiguous) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 4;
  blosc2_storage storage = {.contiguous = contiguous, .urlpath = path, .cparams = &cparams};
  blosc2_schunk *schunk = blosc2_schunk_new(&storage);
  CHECK(schunk != NULL);
  return blosc2_schunk_free(schunk);
}

static int append(const char *path, int32_t writer, int32_t number) {
  blosc2_schunk *schunk = blosc2_schunk_open(path);
  CHECK(schunk != NULL);
  for (;; number++) {
    make(writer, number);
    CHECK(blosc2_schunk_append_buffer(schunk, data, sizeof data) > 0);
    EQUAL(write(STDOUT_FILENO, &number, sizeof number), sizeof number);
  }
}

static int list(const char *path) {
  blosc2_schunk *schunk = blosc2_schunk_open(path);
  CHECK(schunk != NULL);
  for (int64_t i = 0; i < schunk->nchunks; i++) {
    EQUAL(blosc2_schunk_decompress_chunk(schunk, i, found, sizeof found), sizeof found);
    make(found[0], found[1]);
    CHECK(memcmp(found, data, sizeof data) == 0);
    printf("%d %d\n", found[0], found[1]);
  }
  blosc2_schunk_free(schunk);
  return 0;
}

int main(int argc, char **argv) {
  blosc2_init();
  if (argc == 4 && strcmp(argv[1], "create") == 0) {
    return create(argv[2], atoi(argv[3]) != 0);
  }
  if (argc == 5 && strcmp(argv[1], "append") == 0) {
    return append(argv[2], atoi(argv[3]), atoi(argv[4]));
  }
  CHECK(argc == 3 && strcmp(argv[1], "list") == 0);
  return list(argv[2]);
}
