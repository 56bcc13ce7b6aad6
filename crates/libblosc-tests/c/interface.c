/* Every function of blosc.h, called as a C program calls it. Ends with 0, or at the first thing that is not as expected. */
#include <blosc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEN 100000
#define EXPECT(condition) \
  do { \
    if (!(condition)) { \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      exit(1); \
    } \
  } while (0)

static int data[LEN / sizeof(int)], back[LEN / sizeof(int)];
static char chunk[LEN + BLOSC_MAX_OVERHEAD];

static void check_codec(const char *name) {
  int code = blosc_compname_to_compcode(name), shuffle;
  const char *found = NULL;
  char *library = NULL, *version = NULL;
  EXPECT(blosc_compcode_to_compname(code, &found) == code && strcmp(found, name) == 0);
  EXPECT(blosc_get_complib_info(name, &library, &version) >= 0 && library != NULL && version != NULL);
  EXPECT(blosc_set_compressor(name) == code && strcmp(blosc_get_compressor(), name) == 0);
  for (shuffle = BLOSC_NOSHUFFLE; shuffle <= BLOSC_BITSHUFFLE; shuffle++) {
    size_t nbytes, cbytes, blocksize, typesize;
    int flags, of_chunk, of_codec;
    int len = blosc_compress(5, shuffle, sizeof(int), LEN, data, chunk, sizeof chunk);
    EXPECT(len > 0 && len < LEN);
    EXPECT(blosc_cbuffer_validate(chunk, (size_t)len, &nbytes) == 0 && nbytes == LEN);
    blosc_cbuffer_sizes(chunk, &nbytes, &cbytes, &blocksize);
    EXPECT(nbytes == LEN && cbytes == (size_t)len && blocksize > 0);
    blosc_cbuffer_metainfo(chunk, &typesize, &flags);
    EXPECT(typesize == sizeof(int) && !(flags & BLOSC_MEMCPYED));
    EXPECT(!(flags & BLOSC_DOSHUFFLE) == (shuffle != BLOSC_SHUFFLE));
    EXPECT(!(flags & BLOSC_DOBITSHUFFLE) == (shuffle != BLOSC_BITSHUFFLE));
    blosc_cbuffer_versions(chunk, &of_chunk, &of_codec);
    EXPECT(of_chunk == BLOSC_VERSION_FORMAT && of_codec == BLOSC_ZSTD_VERSION_FORMAT);
    EXPECT(strcmp(blosc_cbuffer_complib(chunk), library) == 0);
    memset(back, 0, sizeof back);
    EXPECT(blosc_decompress(chunk, back, LEN) == LEN && memcmp(data, back, LEN) == 0);
    EXPECT(blosc_getitem(chunk, 777, 3, back) == 3 * (int)sizeof(int) && memcmp(data + 777, back, 12) == 0);
    len = blosc_compress_ctx(9, shuffle, sizeof(int), LEN, data, chunk, sizeof chunk, name, 0, 2);
    EXPECT(len > 0 && len < LEN);
    EXPECT(blosc_decompress_ctx(chunk, back, LEN, 2) == LEN && memcmp(data, back, LEN) == 0);
  }
  free(library);
  free(version);
}

int main(void) {
  char list[200], *name;
  size_t i;
  for (i = 0; i < LEN / sizeof(int); i++) data[i] = (int)(i / 50);
  blosc_init();
  EXPECT(blosc_get_nthreads() == 1 && blosc_set_nthreads(2) == 1 && blosc_get_nthreads() == 2);
  EXPECT(strncmp(blosc_get_version_string(), "1.21.", 5) == 0);
  strncpy(list, blosc_list_compressors(), sizeof list - 1);
  list[sizeof list - 1] = 0;
  for (name = strtok(list, ","); name != NULL; name = strtok(NULL, ",")) check_codec(name);
  EXPECT(blosc_compname_to_compcode(BLOSC_LZ4HC_COMPNAME) == BLOSC_LZ4HC);
  blosc_set_blocksize(4096);
  EXPECT(blosc_get_blocksize() == 4096);
  blosc_set_splitmode(BLOSC_NEVER_SPLIT);
  EXPECT(blosc_compress(5, BLOSC_SHUFFLE, sizeof(int), LEN, data, chunk, sizeof chunk) > 0);
  EXPECT(blosc_compress(5, BLOSC_SHUFFLE, sizeof(int), LEN, data, chunk, 100) == 0);
  EXPECT(blosc_compress(5, 7, sizeof(int), LEN, data, chunk, sizeof chunk) == -10);
  EXPECT(blosc_free_resources() == 0);
  blosc_destroy();
  EXPECT(blosc_free_resources() == -1);
  return 0;
}
