/*
 * tuners-registry.h: the ids of tuners that are registered for everybody. That one has an id does not mean that it is here.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef BLOSC_BLOSC2_TUNERS_REGISTRY_H
#define BLOSC_BLOSC2_TUNERS_REGISTRY_H

enum {
  BLOSC_BTUNE = 32,
};

#endif
