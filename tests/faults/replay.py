"""File systems after a loss of power: what a recorded run has done, with any part lost that was not synced."""

import itertools

SECTOR = 512


class Op:
    """One change that a crash keeps or loses: of the content of a file, or of names, all of them or none."""

    def __init__(self, number, keys):
        self.number = number  # of the system call
        self.keys = keys  # the inodes any of which makes it last when it is synced


class Write(Op):
    def __init__(self, number, inode, offset, data):
        super().__init__(number, {inode})
        self.inode, self.offset, self.data = inode, offset, data

    def sectors(self):
        """The parts that are written as a whole, as ranges of the data."""
        start = 0
        while start < len(self.data):
            end = min(len(self.data), start + SECTOR - (self.offset + start) % SECTOR)
            yield start, end
            start = end

    def apply(self, image, kept=None):
        content = image.files.get(self.inode)
        if content is None:
            content = image.files[self.inode] = bytearray()
        for number, (start, end) in enumerate(self.sectors()):
            if kept is None or number in kept:
                begin, until = self.offset + start, self.offset + end
                if len(content) < until:
                    content.extend(bytes(until - len(content)))
                content[begin:until] = self.data[start:end]


class Length(Op):
    """A file cut, extended or emptied."""

    def __init__(self, number, inode, length, only_grows=False):
        super().__init__(number, {inode})
        self.inode, self.length, self.only_grows = inode, length, only_grows

    def apply(self, image):
        content = image.files.setdefault(self.inode, bytearray())
        if len(content) < self.length:
            content.extend(bytes(self.length - len(content)))
        elif not self.only_grows:
            del content[self.length:]


class Names(Op):
    """Names made, removed or changed by one call."""

    def __init__(self, number, directory, changes):
        super().__init__(number, {directory})
        self.changes = changes  # (directory, name, inode or None)

    def apply(self, image):
        for directory, name, inode in self.changes:
            entries = image.directories.setdefault(directory, {})
            if inode is None:
                entries.pop(name, None)
            else:
                entries[name] = inode


class Image:
    """A file system: contents by inode, names by directory."""

    def __init__(self, root, files, directories, links):
        self.root, self.files, self.directories, self.links = root, files, directories, links

    @classmethod
    def of(cls, tree, inodes):
        """The image of a tree whose paths have these inodes."""
        image = cls(inodes[""], {}, {inodes[""]: {}}, {})
        for path, (kind, content) in sorted(tree.items()):
            inode = inodes[path]
            above, _, name = path.rpartition("/")
            image.directories[inodes[above]][name] = inode
            if kind == "directory":
                image.directories[inode] = {}
            elif kind == "link":
                image.links[inode] = content
            else:
                image.files[inode] = bytearray(content)
        return image

    def copy(self):
        files = {inode: bytearray(content) for inode, content in self.files.items()}
        directories = {inode: dict(entries) for inode, entries in self.directories.items()}
        return Image(self.root, files, directories, self.links)

    def tree(self):
        """What can be found in it."""
        tree = {}
        pending = [("", self.root, ())]
        while pending:
            above, directory, path = pending.pop()
            for name, inode in self.directories.get(directory, {}).items():
                place = above + name
                if inode in self.directories:
                    # Lost renames can leave a directory inside of itself; file systems do not show that.
                    if inode in path:
                        continue
                    tree[place] = ("directory", b"")
                    pending.append((place + "/", inode, path + (directory,)))
                elif inode in self.links:
                    tree[place] = ("link", bytes(self.links[inode]))
                else:
                    tree[place] = ("file", bytes(self.files.get(inode, b"")))
        return tree


class Recording:
    """The changes of a run, and after how many of them which inodes were synced."""

    def __init__(self, image, calls):
        self.before = image
        self.ops = []
        self.syncs = []  # (number of changes so far, inode or None for all)
        names = image.copy()
        self.made_directories = [int(call.fields[2]) for call in calls if call.what == "mkdir"]
        for call in calls:
            for op in self._ops_of(call, names):
                op.apply(names)
                self.ops.append(op)

    def _ops_of(self, call, names):
        number, what, fields = call.number, call.what, call.fields
        if what == "open":
            directory, name, inode, is_new, is_emptied = fields
            directory, inode = int(directory), int(inode)
            if is_new == "1":
                names.files.setdefault(inode, bytearray())
                yield Names(number, directory, [(directory, name, inode)])
            elif is_emptied == "1":
                yield Length(number, inode, 0)
        elif what == "write":
            inode, offset, data = fields
            yield Write(number, int(inode), int(offset), bytes.fromhex(data))
        elif what == "truncate":
            yield Length(number, int(fields[0]), int(fields[1]))
        elif what == "allocate":
            inode, mode, offset, length = map(int, fields)
            if mode not in (0, 1):
                raise ValueError(f"fallocate of mode {mode} is not known here")
            if mode == 0:
                yield Length(number, inode, offset + length, only_grows=True)
        elif what == "rename":
            old, old_name, new, new_name, is_exchange = fields
            old, new = int(old), int(new)
            moved, replaced = names.directories[old][old_name], names.directories[new].get(new_name)
            other = replaced if is_exchange == "1" else None
            yield Names(number, new, [(old, old_name, other), (new, new_name, moved)])
        elif what == "unlink":
            yield Names(number, int(fields[0]), [(int(fields[0]), fields[1], None)])
        elif what == "mkdir":
            directory, name, inode = int(fields[0]), fields[1], int(fields[2])
            names.directories[inode] = {}
            yield Names(number, directory, [(directory, name, inode)])
        elif what == "link":
            yield Names(number, int(fields[0]), [(int(fields[0]), fields[1], int(fields[2]))])
        elif what == "sync":
            self.syncs.append((len(self.ops), int(fields[0])))
        elif what == "sync_all":
            self.syncs.append((len(self.ops), None))
        elif what not in (None, "attribute"):
            raise ValueError(f"{call.name} changes files in a way that is not known here")

    def points(self):
        """Where the power can go out: after so many changes and so many syncs, of which the last is the end."""
        found = []
        for count in range(len(self.ops) + 1):
            done = sum(1 for at, _ in self.syncs if at < count)
            at_once = sum(1 for at, _ in self.syncs if at == count)
            found += [(count, done + extra) for extra in range(at_once + 1)]
        return found

    def pending(self, point):
        """Which changes before a point nothing has made to last."""
        count, synced = point
        lasting = set()
        for at, inode in self.syncs[:synced]:
            lasting.update(i for i in range(at) if inode is None or inode in self.ops[i].keys)
        return [i for i in range(count) if i not in lasting]

    def image(self, point, lost, torn):
        """The file system if `lost` changes are, and of those in `torn` only some sectors are kept."""
        image = self.before.copy()
        # Whether they have names left or not.
        for inode in self.made_directories:
            image.directories[inode] = {}
        for i, op in enumerate(self.ops[:point[0]]):
            if i in torn:
                op.apply(image, torn[i])
            elif i not in lost:
                op.apply(image)
        return image

    def losses(self, point, count, chance):
        """About `count` ways to lose what is pending: all of them if they are few, else the telling ones and some by chance."""
        pending = self.pending(point)
        if not pending:
            yield frozenset(), {}
            return
        tearable = [i for i in pending if isinstance(self.ops[i], Write) and len(list(self.ops[i].sectors())) > 1]
        if 2 ** len(pending) <= count and not tearable:
            for size in range(len(pending) + 1):
                for lost in itertools.combinations(pending, size):
                    yield frozenset(lost), {}
            return
        telling = [frozenset(), frozenset(pending)]
        telling += [frozenset({i}) for i in pending] + [frozenset(pending) - {i} for i in pending]
        telling += [frozenset(pending[i:]) for i in range(1, len(pending))]
        chance.shuffle(telling)
        for number in range(count):
            if number < len(telling) and number < count // 2:
                yield telling[number], {}
                continue
            share = chance.choice((0.1, 0.5, 0.9))
            lost = {i for i in pending if chance.random() < share}
            torn = {}
            for i in tearable:
                if chance.random() < 0.5:
                    torn[i] = self._tear(self.ops[i], chance)
                    lost.discard(i)
            yield frozenset(lost), torn

    @staticmethod
    def _tear(op, chance):
        """Some sectors of a write: a first part of them, or any."""
        total = len(list(op.sectors()))
        if chance.random() < 0.5:
            return frozenset(range(chance.randrange(total)))
        return frozenset(i for i in range(total) if chance.random() < 0.5)
