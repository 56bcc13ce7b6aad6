"""A reader of Blosc1 chunks with snappy, which no current release of the Blosc libraries is built with."""

import struct

import cramjam


def decompress(chunk):
    version, _, flags, typesize, nbytes, blocksize, cbytes = struct.unpack_from("<BBBBiii", chunk)
    assert version == 2 and flags >> 5 == 2 and cbytes == len(chunk)
    if flags & 2:
        return chunk[16:]
    plain = bytearray()
    nblocks = -(-nbytes // blocksize)
    for start in struct.unpack_from(f"<{nblocks}i", chunk, 16):
        size = min(blocksize, nbytes - len(plain))
        split = not flags & 16 and size == blocksize
        block = read_block(chunk, start, size, typesize if split else 1)
        plain += unfilter(block, flags, typesize)
    return bytes(plain)


def read_block(chunk, at, size, nstreams):
    block = bytearray()
    for _ in range(nstreams):
        (length,) = struct.unpack_from("<i", chunk, at)
        stream = chunk[at + 4 : at + 4 + length]
        expected = size // nstreams
        block += stream if length == expected else bytes(cramjam.snappy.decompress_raw(stream))
        at += 4 + length
    assert len(block) == size
    return bytes(block)


def unfilter(block, flags, typesize):
    count = len(block) // typesize
    if flags & 1 and typesize > 1:
        return unshuffle(block, typesize, count)
    if flags & 4 and count and count % 8 == 0:
        return unbitshuffle(block, typesize, count)
    return block


def unshuffle(block, typesize, count):
    body = count * typesize
    out = bytearray(block)
    for j in range(typesize):
        out[j:body:typesize] = block[j * count : (j + 1) * count]
    return bytes(out)


def unbitshuffle(block, typesize, count):
    out = bytearray(count * typesize)
    row = count // 8
    for j in range(typesize):
        for k in range(8):
            bits = int.from_bytes(block[(8 * j + k) * row : (8 * j + k + 1) * row], "little")
            for i in range(count):
                out[i * typesize + j] |= ((bits >> i) & 1) << k
    return bytes(out) + block[len(out) :]
