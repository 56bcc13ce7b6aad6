#!/usr/bin/env python3
"""Chooses the part of a whole golden set that is kept in this directory.

usage: select.py WHOLE_SET

Chunks by greedy set cover: a file is taken as long as it shows something that no smaller one has shown. Frames and
arrays by their size. Run it again when the whole set grows or when `shown_by` learns of a new thing to cover; it rewrites the files and
the manifests here, but for those of `early`, `old-writers` and `extra`.
"""

import json
import os
import re
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
KINDS = {"blosc1": ["blosc1-chunk"], "blosc2": ["chunk", "vlchunk", "lazychunk"]}
FRAME_KINDS = ["cframe", "sframe", "cframe-at-offset"]
LARGEST_FRAME = 20_000
ARRAY_KINDS = ["b2nd", "b2nd-sparse"]
# One of each kind of shape, type, filter, codec and edit; for what is left out a smaller one stands.
LARGEST_ARRAY = 5_000
HOSTILE_KINDS = ["hostile-frame"]
# Threaded writers' files are large because they need many blocks; extra/ has a small one.
LARGEST = 64 * 1024
LARGEST_BLOSCPACK = 6 * 1024
# One of each kernel's special cases and neighbours; any other width stands for the general case.
TYPESIZES = {1, 2, 3, 4, 7, 8, 12, 15, 16, 17, 32, 33, 255, 256, 300, 70000}


def shown_by(entry):
    """What a test of this file proves, as a set of hashable facts."""
    facts, how = entry["facts"], entry["how"]
    kind = entry["kind"]
    codec = (facts["codec_format"], facts.get("udcodec"), how.get("cname"))
    filters = json.dumps([facts.get("filters"), facts.get("shuffle"), facts.get("bitshuffle")])
    metas = json.dumps(facts.get("filters_meta"))
    typesize = how.get("typesize") or facts["typesize"]
    nbytes, blocksize = facts["nbytes"], facts["blocksize"]
    split = not facts["dont_split"]
    leftover = facts.get("nblocks", 0) and not facts.get("vlblocks") and nbytes % blocksize != 0
    blocks = min(facts.get("nblocks", 0), 3)
    group = re.split(r"[-0-9.]", os.path.basename(entry["file"]))[0]
    shown = {
        ("header", facts["version"], facts.get("extended_header"), facts["flags"]),
        ("codec", codec, kind, split, facts["memcpyed"]),
        ("level", facts["codec_format"], how.get("clevel")),
        ("pipeline", filters),
        ("filters of a codec", codec, kind, "shuffle" if "1" in filters else filters),
        ("typesize", typesize if typesize in TYPESIZES else typesize < 255, filters),
        ("special", facts.get("special"), typesize, nbytes > 100_000),
        ("dictionary", facts.get("dict"), codec, kind),
        ("layout", kind, blocks, bool(leftover), split),
        ("split mode", how.get("splitmode"), codec),
        ("odd size", nbytes % typesize != 0, filters),
        ("group", group),
    }
    if nbytes <= 300:
        shown.add(("small", kind, nbytes, filters))
    if entry.get("lossy") or "shufmeta" in entry["file"]:
        shown.add(("meta", filters, metas, typesize))
    if kind == "vlchunk":
        shown.add(("blocks", len(entry["block_sizes"]), min(entry["block_sizes"])))
    if entry.get("note"):
        shown.add(("note", entry["note"]))
    return shown


def shown_by_bloscpack(entry):
    """The same for a Bloscpack file."""
    facts = entry["facts"]
    meta, metadata = facts.get("meta") or {}, entry["metadata"]
    chunks = facts["chunks[pos,flags,typesize,nbytes,blocksize,cbytes]"]
    group = re.split(r"[-0-9.]", entry["file"])[0]
    shown = {
        ("checksum", facts["checksum_id"]),
        ("options", facts["options"], facts["max_app_chunks"] == 0),
        ("chunks", min(facts["nchunks"], 3), facts["last_chunk"] == facts["chunk_size"]),
        ("trailing", facts["trailing_garbage_bytes"] > 0),
        ("offsets", facts.get("offsets", [0])[0] == -1),
        ("metadata", meta.get("checksum_id"), meta.get("codec_id"), meta.get("level")),
        ("json", type(metadata).__name__, (metadata or {}).get("dtype") if isinstance(metadata, dict) else None),
        ("order", metadata.get("order") if isinstance(metadata, dict) else None),
        ("group", group),
    }
    shown |= {("flags", chunk[1] & ~0x10) for chunk in chunks}
    return shown


def choose(entries, shown_by=shown_by):
    wanted = {entry["file"]: shown_by(entry) for entry in entries}
    missing, chosen = set().union(*wanted.values()), set()
    while missing:
        best = max(entries, key=lambda e: len(wanted[e["file"]] & missing) / (e["size"] + 1000))
        chosen.add(best["file"])
        missing -= wanted[best["file"]]
    return [entry for entry in entries if entry["file"] in chosen]


def eligible(entry, kinds):
    """Files that were written from a formula; those of the C-Blosc repository stay there."""
    upstream = entry["file"].startswith("external:") or os.path.basename(entry["file"]).startswith("blosc-")
    return entry["kind"] in kinds and not upstream and entry["size"] <= LARGEST


def small_frames(entries):
    return [entry for entry in entries if entry["kind"] in FRAME_KINDS and entry["size"] <= LARGEST_FRAME]


def small_arrays(entries):
    arrays = [entry for entry in entries if entry["kind"] in ARRAY_KINDS and entry["size"] <= LARGEST_ARRAY]
    # Of the types of the same width one is enough, and of zfp two files: the whole set has the others.
    superfluous = re.compile(r"b2nd/(dt-[ln][iu][1248]|dt-lf4|c-zfp-(?!acc-m[01]-f4)|c-ndlz[48]-const)")
    return [entry for entry in arrays if not superfluous.match(entry["file"])]


def copy(source, target):
    """A sparse frame is a directory."""
    os.makedirs(os.path.dirname(target), exist_ok=True)
    if os.path.isdir(source):
        os.makedirs(target)
        for name in os.listdir(source):
            shutil.copyfile(os.path.join(source, name), os.path.join(target, name))
    else:
        shutil.copyfile(source, target)


def keep(whole, name, chosen):
    """Keeps the entries that the function `chosen` takes from the manifest."""
    with open(os.path.join(whole, name, "manifest.json")) as file:
        manifest = json.load(file)
    manifest["files"] = chosen(manifest["files"])
    manifest.pop("skipped", None)
    target = os.path.join(HERE, name)
    shutil.rmtree(target, ignore_errors=True)
    for entry in manifest["files"] + manifest.get("bad", []):
        copy(os.path.join(whole, name, entry["file"]), os.path.join(target, entry["file"]))
    with open(os.path.join(target, "manifest.json"), "w") as file:
        json.dump(manifest, file, separators=(",", ":"))
        file.write("\n")
    size = sum(entry["size"] for entry in manifest["files"])
    print(f"{name}: {len(manifest['files'])} files, {size} bytes")


def keep_bloscpack(whole):
    """Good files as chosen, damaged ones all, and those of older versions of the format."""
    small = lambda entries: [entry for entry in entries if entry["size"] <= LARGEST_BLOSCPACK]
    keep(whole, "bloscpack", lambda entries: choose(small(entries), shown_by_bloscpack))
    compat = os.path.join(whole, "..", "compat", "legacy")
    for name in os.listdir(compat):
        if name.startswith("bloscpack-"):
            copy(os.path.join(compat, name), os.path.join(HERE, "bloscpack", "legacy", name))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    for name, kinds in KINDS.items():
        chunks = lambda entries: choose([entry for entry in entries if eligible(entry, kinds)])
        keep(sys.argv[1], name, lambda entries: chunks(entries) + small_frames(entries) + small_arrays(entries))
    keep(sys.argv[1], "hostile", lambda entries: [entry for entry in entries if entry["kind"] in HOSTILE_KINDS])
    keep_bloscpack(sys.argv[1])
