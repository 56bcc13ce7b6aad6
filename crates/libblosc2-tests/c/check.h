/* A condition that has to hold, and numbers that have to be equal. The first that is not ends the program. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                        \
  do {                                                                          \
    if (!(condition)) {                                                         \
      fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                                  \
    }                                                                           \
  } while (0)

#define EQUAL(found, expected)                                                                             \
  do {                                                                                                     \
    long long found_ = (long long)(found);                                                                 \
    long long expected_ = (long long)(expected);                                                           \
    if (found_ != expected_) {                                                                             \
      fprintf(stderr, "%s:%d: %s is %lld, not %lld\n", __FILE__, __LINE__, #found, found_, expected_);     \
      exit(1);                                                                                             \
    }                                                                                                      \
  } while (0)

#endif
