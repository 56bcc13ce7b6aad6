"""Debian's Python packages on the libblosc.so.1 that the process is given.

debian.py suite             the tests of python-blosc
debian.py write DIRECTORY   files and chunks of PyTables, numcodecs and python-blosc, and the inputs of other programs
debian.py read DIRECTORY    are they what was written?
"""

import os
import sys
from pathlib import Path

import blosc
import numcodecs.blosc
import numpy
import tables

CODECS = ["blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"]


def check_library():
    """The libraries that are mapped are those of LD_LIBRARY_PATH, if it is set."""
    mapped = {line.split()[-1] for line in Path("/proc/self/maps").read_text().splitlines() if "libblosc.so" in line}
    wanted = os.environ.get("LD_LIBRARY_PATH", "/usr/lib")
    assert mapped and all(path.startswith(wanted) for path in mapped), f"{mapped} are mapped, not those of {wanted}"


def arrays():
    random = numpy.random.default_rng(20)
    steps = random.integers(-3, 4, size=(300, 401))
    return {
        "walk": numpy.cumsum(steps, axis=1, dtype=numpy.int32),
        "smooth": numpy.sin(numpy.linspace(0, 50, 100_000)),
        "noise": random.integers(0, 256, size=50_000, dtype=numpy.uint8),
        "zeros": numpy.zeros((70, 90), dtype=numpy.int16),
    }


def cases():
    for codec in CODECS:
        for level in (1, 5, 9):
            for shuffle in (blosc.NOSHUFFLE, blosc.SHUFFLE, blosc.BITSHUFFLE):
                yield codec, level, shuffle


def write_image(directory, array):
    """The array as a file that GDAL reads, with a description beside it."""
    height, width = array.shape
    (directory / "image.raw").write_bytes(array.astype("<i4").tobytes())
    (directory / "image.vrt").write_text(
        f'<VRTDataset rasterXSize="{width}" rasterYSize="{height}">'
        '<VRTRasterBand dataType="Int32" band="1" subClass="VRTRawRasterBand">'
        '<SourceFilename relativeToVRT="1">image.raw</SourceFilename>'
        f"<ImageOffset>0</ImageOffset><PixelOffset>4</PixelOffset><LineOffset>{4 * width}</LineOffset>"
        "<ByteOrder>LSB</ByteOrder></VRTRasterBand></VRTDataset>"
    )


def write(directory):
    write_image(directory, arrays()["walk"])
    with tables.open_file(str(directory / "plain.h5"), "w") as file:
        for name, array in arrays().items():
            file.create_carray("/", name, obj=array)
    for codec, level, shuffle in cases():
        filters = tables.Filters(complevel=level, complib=f"blosc:{codec}", shuffle=shuffle == 1, bitshuffle=shuffle == 2)
        with tables.open_file(str(directory / f"tables-{codec}-{level}-{shuffle}.h5"), "w") as file:
            for name, array in arrays().items():
                file.create_carray("/", name, obj=array, filters=filters)
        compressor = numcodecs.blosc.Blosc(cname=codec, clevel=level, shuffle=shuffle)
        for name, array in arrays().items():
            stem = f"{name}-{codec}-{level}-{shuffle}"
            (directory / f"{stem}.numcodecs").write_bytes(compressor.encode(array))
            chunk = blosc.compress(array.tobytes(), array.itemsize, level, shuffle, codec)
            (directory / f"{stem}.blosc").write_bytes(chunk)


def read(directory):
    count = 0
    for codec, level, shuffle in cases():
        compressor = numcodecs.blosc.Blosc(cname=codec, clevel=level, shuffle=shuffle)
        with tables.open_file(str(directory / f"tables-{codec}-{level}-{shuffle}.h5")) as file:
            for name, array in arrays().items():
                numpy.testing.assert_array_equal(file.get_node("/", name)[:], array)
                stem = f"{name}-{codec}-{level}-{shuffle}"
                assert bytes(compressor.decode((directory / f"{stem}.numcodecs").read_bytes())) == array.tobytes()
                assert blosc.decompress((directory / f"{stem}.blosc").read_bytes()) == array.tobytes()
                count += 3
    assert count == 3 * 4 * 54, count
    print(f"{count} arrays of PyTables, numcodecs and python-blosc")


check_library()
if sys.argv[1] == "suite":
    blosc.test()
else:
    {"write": write, "read": read}[sys.argv[1]](Path(sys.argv[2]))
