"""A directory held in memory: a dictionary from relative paths to what is there."""

import hashlib
import os
import re
import shutil

DIRECTORY = ("directory", b"")

# What the command calls its unfinished results; the numbers differ from run to run.
ROOM = re.compile(r"\.blosc-[^/]*")


def read(root):
    """Everything below `root`."""
    tree = {}
    pending = [""]
    while pending:
        above = pending.pop()
        for entry in os.scandir(os.path.join(root, above)):
            path = os.path.join(above, entry.name)
            if entry.is_symlink():
                tree[path] = ("link", os.readlink(entry.path).encode())
            elif entry.is_dir():
                tree[path] = DIRECTORY
                pending.append(path)
            else:
                with open(entry.path, "rb") as file:
                    tree[path] = ("file", file.read())
    return tree


def write(root, tree):
    """Makes `root` hold `tree` and nothing else."""
    shutil.rmtree(root, ignore_errors=True)
    os.mkdir(root)
    # Parents come before what is in them; those of a part of a tree are not part of it.
    for path in sorted(tree):
        kind, content = tree[path]
        place = os.path.join(root, path)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        if kind == "directory":
            os.mkdir(place)
        elif kind == "link":
            os.symlink(content.decode(), place)
        else:
            with open(place, "wb") as file:
                file.write(content)


def below(tree, path):
    """The part of a tree that is `path` or inside of it."""
    return {name: content for name, content in tree.items() if name == path or name.startswith(path + "/")}


def without_rooms(tree):
    """A tree without the unfinished results that killed runs leave."""
    return {path: content for path, content in tree.items() if not is_in_room(path)}


def is_in_room(path):
    """Whether a path is that of an unfinished result, or inside of one."""
    return any(ROOM.fullmatch(part) for part in path.split("/"))


def digest(tree):
    """The same for equal trees, whatever the numbers in the names of unfinished results."""
    total = hashlib.blake2b()
    for path, (kind, content) in sorted(tree.items()):
        name = ROOM.sub(".blosc-room", path).encode()
        total.update(b"%d %s %s %d " % (len(name), name, kind.encode(), len(content)))
        total.update(content)
    return total.digest()


def inodes(root):
    """The inode of `root` and of all below it, by relative path."""
    found = {"": os.stat(root).st_ino}
    for above, directories, files in os.walk(root):
        for name in directories + files:
            place = os.path.join(above, name)
            found[os.path.relpath(place, root)] = os.lstat(place).st_ino
    return found
