/*
 * Eight threads that use the functions with settings and those without, and a fork while they do; the child does the same. With
 * the argument `settings` another thread keeps changing the settings meanwhile. Ends with 0, or by a signal if it hangs.
 */
#include <blosc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 8
#define ROUNDS 6
#define ITEMS 70000
#define LEN (ITEMS * sizeof(int))

static const char *codecs[] = {"blosclz", "lz4", "lz4hc", "zlib", "zstd"};
static int data[ITEMS];
static volatile int is_done;

static void fail(const char *what) {
  fprintf(stderr, "%s\n", what);
  _exit(1);
}

/* Fresh memory each time, so that nothing can be read before it was written without valgrind seeing it. */
static void round_trip(int number) {
  char *chunk = malloc(LEN + BLOSC_MAX_OVERHEAD), *back = malloc(LEN);
  int len, threads = 1 + number % 3, level = 1 + number % 9, shuffle = number % 3;
  if (number % 2)
    len = blosc_compress(level, shuffle, sizeof(int), LEN, data, chunk, LEN + BLOSC_MAX_OVERHEAD);
  else
    len = blosc_compress_ctx(level, shuffle, sizeof(int), LEN, data, chunk, LEN + BLOSC_MAX_OVERHEAD,
                             codecs[number % 5], 0, threads);
  if (len <= 0) fail("not compressed");
  /* Exactly as long as it is, so that nothing behind it can be read. */
  chunk = realloc(chunk, (size_t)len);
  len = number % 3 ? blosc_decompress(chunk, back, LEN) : blosc_decompress_ctx(chunk, back, LEN, threads);
  if (len != (int)LEN || memcmp(back, data, LEN)) fail("not the same data");
  if (blosc_getitem(chunk, 1000, 50, back) != 200 || memcmp(back, data + 1000, 200)) fail("not the same items");
  free(chunk);
  free(back);
}

static void *work(void *number) {
  int round;
  for (round = 0; round < ROUNDS; round++) round_trip((int)(size_t)number + round);
  return NULL;
}

static void *change_settings(void *unused) {
  int count = 0;
  while (!is_done) {
    count++;
    blosc_set_nthreads(1 + count % 4);
    blosc_set_compressor(codecs[count % 5]);
    blosc_set_blocksize((size_t)(count % 2) * 20000);
    blosc_set_splitmode(1 + count % 4);
    if (count % 10 == 0) blosc_free_resources();
    usleep(1000);
  }
  return unused;
}

static void run_threads(int count) {
  pthread_t threads[THREADS];
  int i;
  for (i = 0; i < count; i++)
    if (pthread_create(&threads[i], NULL, work, (void *)(size_t)i)) fail("no thread");
  for (i = 0; i < count; i++) pthread_join(threads[i], NULL);
}

static void *fork_in_the_middle(void *unused) {
  int number, status;
  for (number = 0; number < 3; number++) {
    pid_t child;
    usleep(20000);
    child = fork();
    if (child < 0) fail("no child");
    if (child == 0) {
      alarm(120);
      work((void *)1);
      run_threads(2);
      blosc_destroy();
      /* What belonged to threads that the fork has left behind is lost, whatever a program does: no exit that counts it. */
      raise(SIGKILL);
    }
    if (waitpid(child, &status, 0) != child || !WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
      fail("the child has failed");
  }
  return unused;
}

int main(int argc, char **argv) {
  pthread_t forking, setting;
  int i, with_settings = argc > 1 && strcmp(argv[1], "settings") == 0;
  for (i = 0; i < ITEMS; i++) data[i] = i / 7 * (i % 3);
  alarm(300);
  blosc_init();
  blosc_set_nthreads(2);
  if (with_settings) pthread_create(&setting, NULL, change_settings, NULL);
  pthread_create(&forking, NULL, fork_in_the_middle, NULL);
  run_threads(THREADS);
  pthread_join(forking, NULL);
  is_done = 1;
  if (with_settings) pthread_join(setting, NULL);
  blosc_destroy();
  return 0;
}
