/* Appends chunks one by one, `growth PATH COUNT NBYTES`, and says how long the file is then. All are stored as they are. */
#include <blosc2.h>

#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

int main(int argc, char **argv) {
  CHECK(argc == 4);
  int64_t count = atol(argv[2]);
  int32_t nbytes = atoi(argv[3]);
  blosc2_init();
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.clevel = 0;
  blosc2_storage storage = {.contiguous = true, .urlpath = argv[1], .cparams = &cparams};
  uint8_t *data = malloc((size_t)nbytes), *chunk = malloc((size_t)nbytes + BLOSC2_MAX_OVERHEAD);
  for (int32_t i = 0; i < nbytes; i++) {
    data[i] = (uint8_t)(i * 7 / 3);
  }
  blosc2_context *context = blosc2_create_cctx(cparams);
  EQUAL(blosc2_compress_ctx(context, data, nbytes, chunk, nbytes + BLOSC2_MAX_OVERHEAD), nbytes + BLOSC2_MAX_OVERHEAD);
  blosc2_schunk *schunk = blosc2_schunk_new(&storage);
  CHECK(schunk != NULL);
  for (int64_t i = 0; i < count; i++) {
    EQUAL(blosc2_schunk_append_chunk(schunk, chunk, true), i + 1);
  }
  EQUAL(schunk->nbytes, count * nbytes);
  blosc2_schunk_free(schunk);
  blosc2_free_ctx(context);
  free(data);
  free(chunk);
  struct stat status;
  EQUAL(stat(argv[1], &status), 0);
  printf("%lld\n", (long long)status.st_size);
  EQUAL(unlink(argv[1]), 0);
  blosc2_destroy();
  return 0;
}
