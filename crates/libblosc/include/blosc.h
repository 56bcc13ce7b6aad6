/*
 * blosc.h: the C interface of libblosc.so.1, as blosc-oxide provides it.
 *
 * Names, types and values are those of C-Blosc 1.21, so that programs written for it compile and run unchanged. A chunk is what
 * blosc_compress() writes: a header of 16 bytes, and the compressed data.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef BLOSC_H
#define BLOSC_H

#include <limits.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of C-Blosc whose interface and behaviour this is. */
#define BLOSC_VERSION_MAJOR 1
#define BLOSC_VERSION_MINOR 21
#define BLOSC_VERSION_RELEASE 6
#define BLOSC_VERSION_STRING "1.21.6"
#define BLOSC_VERSION_REVISION "blosc-oxide"
#define BLOSC_VERSION_DATE "2026-11-18"

/* The version of the chunk format, the first byte of every chunk. */
#define BLOSC_VERSION_FORMAT 2

/* The length of a chunk's header, which is also the most that a chunk can be longer than its data. */
#define BLOSC_MIN_HEADER_LENGTH 16
#define BLOSC_MAX_OVERHEAD BLOSC_MIN_HEADER_LENGTH

/* Limits of one chunk: its data, the size of an item, a block, and the number of threads that may be asked for. */
#define BLOSC_MAX_BUFFERSIZE (INT_MAX - BLOSC_MAX_OVERHEAD)
#define BLOSC_MAX_TYPESIZE 255
#define BLOSC_MAX_BLOCKSIZE ((INT_MAX - BLOSC_MAX_TYPESIZE * (int)sizeof(int)) / 3)
#define BLOSC_MAX_THREADS 256

/* What is done to the data before it is compressed: `doshuffle`. */
#define BLOSC_NOSHUFFLE 0
#define BLOSC_SHUFFLE 1
#define BLOSC_BITSHUFFLE 2

/* The flags that blosc_cbuffer_metainfo() tells. */
#define BLOSC_DOSHUFFLE 0x1
#define BLOSC_MEMCPYED 0x2
#define BLOSC_DOBITSHUFFLE 0x4

/* Codecs, by number and by name. */
#define BLOSC_BLOSCLZ 0
#define BLOSC_LZ4 1
#define BLOSC_LZ4HC 2
#define BLOSC_SNAPPY 3
#define BLOSC_ZLIB 4
#define BLOSC_ZSTD 5

#define BLOSC_BLOSCLZ_COMPNAME "blosclz"
#define BLOSC_LZ4_COMPNAME "lz4"
#define BLOSC_LZ4HC_COMPNAME "lz4hc"
#define BLOSC_SNAPPY_COMPNAME "snappy"
#define BLOSC_ZLIB_COMPNAME "zlib"
#define BLOSC_ZSTD_COMPNAME "zstd"

/* The libraries that codecs are in elsewhere; each stands for one format of streams. */
#define BLOSC_BLOSCLZ_LIB 0
#define BLOSC_LZ4_LIB 1
#define BLOSC_SNAPPY_LIB 2
#define BLOSC_ZLIB_LIB 3
#define BLOSC_ZSTD_LIB 4

#define BLOSC_BLOSCLZ_LIBNAME "BloscLZ"
#define BLOSC_LZ4_LIBNAME "LZ4"
#define BLOSC_SNAPPY_LIBNAME "Snappy"
#define BLOSC_ZLIB_LIBNAME "Zlib"
#define BLOSC_ZSTD_LIBNAME "Zstd"

/* The format of streams in bits 5 to 7 of a chunk's flags. */
#define BLOSC_BLOSCLZ_FORMAT BLOSC_BLOSCLZ_LIB
#define BLOSC_LZ4_FORMAT BLOSC_LZ4_LIB
#define BLOSC_LZ4HC_FORMAT BLOSC_LZ4_LIB
#define BLOSC_SNAPPY_FORMAT BLOSC_SNAPPY_LIB
#define BLOSC_ZLIB_FORMAT BLOSC_ZLIB_LIB
#define BLOSC_ZSTD_FORMAT BLOSC_ZSTD_LIB

/* The version of that format, the second byte of a chunk. */
#define BLOSC_BLOSCLZ_VERSION_FORMAT 1
#define BLOSC_LZ4_VERSION_FORMAT 1
#define BLOSC_LZ4HC_VERSION_FORMAT 1
#define BLOSC_SNAPPY_VERSION_FORMAT 1
#define BLOSC_ZLIB_VERSION_FORMAT 1
#define BLOSC_ZSTD_VERSION_FORMAT 1

/* Whether a block is cut into one stream for each byte of an item: blosc_set_splitmode(). */
#define BLOSC_ALWAYS_SPLIT 1
#define BLOSC_NEVER_SPLIT 2
#define BLOSC_AUTO_SPLIT 3
#define BLOSC_FORWARD_COMPAT_SPLIT 4

/*
 * Starting and ending. Neither has to be called: everything else works without, and from any thread. blosc_destroy() gives
 * memory back; settings stay. blosc_free_resources() does the same without ending anything: 0, or -1 if nothing was started.
 */
void blosc_init(void);
void blosc_destroy(void);
int blosc_free_resources(void);

/*
 * Compresses the `nbytes` at `src` to `dest`, which has room for `destsize` bytes and does not overlap with `src`.
 *
 *   clevel     0 (a copy) to 9 (the smallest)
 *   doshuffle  BLOSC_NOSHUFFLE, BLOSC_SHUFFLE or BLOSC_BITSHUFFLE
 *   typesize   bytes in an item; more than BLOSC_MAX_TYPESIZE count as 1
 *
 * Returns the length of the chunk; 0 if it does not fit into `destsize`, which cannot happen from nbytes + BLOSC_MAX_OVERHEAD
 * on, or if `nbytes` is more than BLOSC_MAX_BUFFERSIZE; a negative number if something is wrong: -10 for a level, shuffle or
 * typesize out of range, -5 for a codec that is not there, -1 for anything else. The chunk is the same for any number of
 * threads and for any `destsize` that it fits into.
 *
 * Codec, size of blocks, split mode and threads are those of the settings below. Environment variables win over arguments and
 * settings, in this order: BLOSC_CLEVEL, BLOSC_SHUFFLE (NOSHUFFLE, SHUFFLE, BITSHUFFLE), BLOSC_TYPESIZE, BLOSC_COMPRESSOR,
 * BLOSC_BLOCKSIZE, BLOSC_NTHREADS, BLOSC_SPLITMODE (ALWAYS, NEVER, AUTO, FORWARD_COMPAT). The last four become the settings.
 * BLOSC_NOLOCK is accepted, and changes nothing: calls do not wait for each other. With BLOSC_WARN above 0, arguments out of
 * range are named on the standard error stream.
 */
int blosc_compress(int clevel, int doshuffle, size_t typesize, size_t nbytes, const void *src, void *dest, size_t destsize);

/*
 * The same with codec (by name), size of blocks (0: automatic) and threads as arguments, and without environment variables. Of
 * the settings, only the split mode is used.
 */
int blosc_compress_ctx(int clevel, int doshuffle, size_t typesize, size_t nbytes, const void *src, void *dest, size_t destsize,
                       const char *compressor, size_t blocksize, int numinternalthreads);

/*
 * Decompresses the chunk at `src` to `dest`, which has room for `destsize` bytes and does not overlap with it.
 *
 * Returns the length of the data, or a negative number if the chunk is damaged, if it is of another version, if its codec is
 * not there (-5) or of another version (-9), or if `destsize` is less than the data needs. No damage makes it write outside of
 * `dest`. The length of the chunk is known from its header only: check it with blosc_cbuffer_validate() if it comes from
 * somewhere else.
 *
 * BLOSC_NTHREADS in the environment becomes the setting.
 */
int blosc_decompress(const void *src, void *dest, size_t destsize);

/* The same with the number of threads as an argument, and without settings and environment variables. */
int blosc_decompress_ctx(const void *src, void *dest, size_t destsize, int numinternalthreads);

/*
 * Puts `nitems` items of a chunk into `dest`, from item `start` on, and decodes only the blocks that have any of them. Returns
 * how many bytes these are, or a negative number as blosc_decompress() does, or if the chunk has not so many items; -9 for a
 * chunk of another version.
 */
int blosc_getitem(const void *src, int start, int nitems, void *dest);

/*
 * How many threads work on a chunk, the calling one among them; 1 to begin with. No more run than the process may use
 * processors, and none is waited for that comes late. Setting it returns what it was.
 */
int blosc_get_nthreads(void);
int blosc_set_nthreads(int nthreads);

/* The codec, BLOSC_BLOSCLZ to begin with. Setting it returns its number, or -1 if it is not there, and then there is none. */
const char *blosc_get_compressor(void);
int blosc_set_compressor(const char *compname);

/* From number to name and back; -1 if the codec is not there. */
int blosc_compcode_to_compname(int compcode, const char **compname);
int blosc_compname_to_compcode(const char *compname);

/* The names of all codecs that are there, with commas between them. */
const char *blosc_list_compressors(void);

/* The version of C-Blosc whose behaviour this is. */
const char *blosc_get_version_string(void);

/*
 * The library that a codec is in elsewhere, and which version of it is in use: two strings to be freed by the caller. Returns
 * the number of the library, or -1 if the codec is not there, and then both strings are NULL. Either pointer can be NULL.
 */
int blosc_get_complib_info(const char *compname, char **complib, char **version);

/*
 * What the header of a chunk says. These only look at the 16 bytes: for a version that is not BLOSC_VERSION_FORMAT, sizes,
 * typesize and flags are 0.
 */
void blosc_cbuffer_sizes(const void *cbuffer, size_t *nbytes, size_t *cbytes, size_t *blocksize);
void blosc_cbuffer_metainfo(const void *cbuffer, size_t *typesize, int *flags);
void blosc_cbuffer_versions(const void *cbuffer, int *version, int *compversion);
const char *blosc_cbuffer_complib(const void *cbuffer);

/* Whether `cbytes` bytes can be a chunk, by its header: 0 and the length of its data, or -1. */
int blosc_cbuffer_validate(const void *cbuffer, size_t cbytes, size_t *nbytes);

/*
 * The size of blocks; 0, as in the beginning, lets the library choose. 128 is the least, and blocks that are to be split are
 * made larger: by the typesize, from 64 KiB to 1 MiB.
 */
int blosc_get_blocksize(void);
void blosc_set_blocksize(size_t blocksize);

/* The split mode, BLOSC_FORWARD_COMPAT_SPLIT to begin with. */
void blosc_set_splitmode(int splitmode);

#ifdef __cplusplus
}
#endif

#endif
