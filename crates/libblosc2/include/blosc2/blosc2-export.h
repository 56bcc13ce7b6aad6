/*
 * blosc2-export.h: how functions are declared.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef BLOSC_BLOSC2_BLOSC2_EXPORT_H
#define BLOSC_BLOSC2_BLOSC2_EXPORT_H

#if defined(BLOSC_SHARED_LIBRARY) && (defined(__GNUC__) || defined(__clang__))
#define BLOSC_EXPORT __attribute__((visibility("default")))
#else
#define BLOSC_EXPORT
#endif

#if defined(__GNUC__) || defined(__clang__)
#define BLOSC_NO_EXPORT __attribute__((visibility("hidden")))
#else
#define BLOSC_NO_EXPORT
#endif

#endif
