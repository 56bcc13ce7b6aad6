"""What is done to which files while things go wrong."""

import os
import random
import struct

import tree as trees

COLUMNS = 64
ROW = COLUMNS * 2


def data(count, seed):
    """Bytes that compress somewhat."""
    source = random.Random(seed)
    return bytes(source.randrange(256) if i // 256 % 2 else i * seed % 251 for i in range(count))


# Arrays have rows of 128 bytes; nothing is a multiple of a chunk, but in sparse arrays, which are made by hand.
OLD = data(20 * ROW + 30, 3)
MORE = data(23 * ROW + 10, 5)
SMALL = data(60, 7)
OLD_ROWS, MORE_ROWS, SMALL_ROWS = OLD[:20 * ROW], MORE[:23 * ROW], data(ROW, 9)
FULL_ROWS = data(24 * ROW, 11)

PLAIN_FRAME = ["--checksum", "none"]
ARRAY = ["--dtype", "<u2", "--chunks", "8,64", "--blocks", "8,64"]
FRAME = ["--chunk-size", "1K", "--block-size", "1K", "--typesize", "2"]
MANY_CHUNKS = ["--chunk-size", "8", "--block-size", "8", "--typesize", "2"]
LAYERS = ["--meta", "fixed=fixed", "--vlmeta", "note=note"]


class Format:
    """A format of files with a way to make one."""

    def __init__(self, name, extension, options, old=OLD, more=MORE, small=SMALL, layers=True):
        self.name, self.extension, self.options = name, extension, options
        self.old, self.more, self.small, self.layers = old, more, small, layers

    def make(self, run, target, plain=None):
        """Makes a file of this format at `target`."""
        self.prepare(run, target, plain or self.old)

    def prepare(self, run, target, plain):
        options = list(self.options)
        if "--dtype" in options:
            options += ["--shape", f"{len(plain) // ROW},{COLUMNS}"]
        run("compress", "--force", "-", "-o", target, *options, given=plain)


class Slots(Format):
    """A frame of more than 256 chunks that a program has committed to again and again: index and trailer take turns between
    two places."""

    COMPRESSED, STEP = 2400, 40

    def prepare(self, run, target, plain):
        super().prepare(run, target, plain[:self.COMPRESSED])
        run.commit(target, self.STEP, plain[self.COMPRESSED:])


class SparseArray(Format):
    """An array in a directory: a sparse frame of whole chunks that is given the metalayer of an equal array."""

    def prepare(self, run, target, plain):
        run("compress", "-", "model.b2nd", *ARRAY, "--shape", f"{len(plain) // ROW},{COLUMNS}", given=plain)
        layer = run("meta", "get", "model.b2nd", "b2nd")
        run("compress", "-", "-o", target, *self.options, given=plain)
        run("meta", "set", "--fixed", target, "b2nd", "-", given=layer)
        run.remove("model.b2nd")


FORMATS = {form.name: form for form in [
    Format("frame", "b2frame", FRAME + LAYERS),
    Format("frame-plain", "b2frame", FRAME + LAYERS + PLAIN_FRAME),
    Slots("slots", "b2frame", MANY_CHUNKS + LAYERS, more=SMALL),
    Slots("slots-plain", "b2frame", MANY_CHUNKS + LAYERS + PLAIN_FRAME, more=SMALL),
    Format("array", "b2nd", ARRAY + LAYERS, OLD_ROWS, MORE_ROWS, SMALL_ROWS),
    Format("array-plain", "b2nd", ARRAY + PLAIN_FRAME, OLD_ROWS, MORE_ROWS, SMALL_ROWS),
    Format("sparse", "sframe", FRAME + LAYERS),
    Format("sparse-plain", "sframe", FRAME + LAYERS + PLAIN_FRAME),
    SparseArray("sparse-array", "sframe", FRAME, FULL_ROWS, MORE_ROWS, SMALL_ROWS),
    SparseArray("sparse-array-plain", "sframe", FRAME + PLAIN_FRAME, FULL_ROWS, MORE_ROWS, SMALL_ROWS),
    Format("packed", "packed", ["--format", "packed", "--chunk-size", "1K", "--typesize", "2"], layers=False),
    Format("bloscpack", "blp", ["--chunk-size", "1K", "--typesize", "2", "--meta", "metadata=json"]),
    Format("bloscpack-plain", "blp", ["--chunk-size", "1K", "--typesize", "2", "--meta", "metadata=json", "--checksum", "none"]),
    Format("chunk", "chunk", ["--format", "chunk", "--typesize", "2"], small=None, layers=False),
    Format("blosc1", "chunk", ["--format", "blosc1", "--typesize", "2"], small=None, layers=False),
    Format("frame-beta1", "b2frame", ["--format", "frame-beta1", "--chunk-size", "1K", "--typesize", "2"], small=None, layers=False),
    Format("frame-beta5", "b2frame", ["--format", "frame-beta5", "--chunk-size", "1K", "--typesize", "2"], small=None, layers=False),
]}
CHANGEABLE = ("frame", "frame-plain", "slots", "slots-plain", "array", "array-plain", "sparse", "sparse-plain", "sparse-array", "sparse-array-plain")
GROWING = CHANGEABLE + ("packed", "bloscpack", "bloscpack-plain")


class Scenario:
    """A command in a directory."""

    def __init__(self, arguments, targets, before, *, given=b"", small=None, code=0, expected=None, plain=(),
                 can_be_repeated=True, is_strict=True, saves_what_it_can=False, program="blosc", step=None):
        self.arguments, self.targets, self.before = arguments, targets, before
        self.program, self.step = program, step  # how much data each of several commits has, but for the last
        self.given, self.small, self.code, self.plain = given, small, code, plain
        self.expected = expected or {}  # by target: its data, or a function of them and of the metalayers
        self.can_be_repeated = can_be_repeated
        self.saves_what_it_can = saves_what_it_can  # whether a part that cannot be read is left out
        self.is_strict = is_strict  # whether an error leaves all targets as they were

    def is_between(self, old, content, new):
        """Whether a content is that of a commit between the old one and the new one."""
        if self.step is None or content[0] != "blosc" or content[3] != old[3]:
            return False
        more = len(content[1]) - len(old[1])
        return more % self.step == 0 and content[1].startswith(old[1]) and new[1].startswith(content[1])

    def unexpected(self, contents):
        """How what an undisturbed run gave differs from what it should have."""
        complaints = []
        for target, content in zip(self.targets, contents):
            wanted = self.expected.get(target)
            if wanted is None or content[0] == "bad":
                continue
            layers = dict(content[3]) if content[0] == "blosc" else {}
            good = wanted(content[1], layers) if callable(wanted) else len(content) > 1 and content[1] == wanted
            if not good:
                complaints.append(f"{target} is not what the command should make")
        return complaints


class Maker:
    """Makes the files that scenarios start from."""

    def __init__(self, tracer):
        self.tracer = tracer
        self.root = os.path.join(tracer.directory, "maker")

    def __call__(self, *arguments, given=b"", code=0):
        done = self.tracer.plain(self.root, *arguments, given=given)
        if done.returncode != code:
            raise RuntimeError(f"blosc {' '.join(arguments)}: {done.returncode}, {done.stderr.decode()}")
        return done.stdout

    def commit(self, path, step, given):
        """Appends to a frame, with a commit behind each `step` bytes."""
        done = self.tracer.plain(self.root, path, str(step), given=given, program="commits")
        if done.returncode != 0:
            raise RuntimeError(f"commits: {done.stderr.decode()}")

    def remove(self, path):
        os.remove(os.path.join(self.root, path))

    def start(self):
        """An empty directory, but for the files that options name."""
        trees.write(self.root, {"fixed": ("file", b"fixed layer"), "note": ("file", b"a note"),
                                "json": ("file", b'{"a": 1}'), "bystander": ("file", b"not to be changed")})

    def put(self, path, content):
        with open(os.path.join(self.root, path), "wb") as file:
            file.write(content)

    def end(self):
        return trees.read(self.root)


def all_of(tracer, is_short):
    """Every scenario, or those of the short form, each as a name and a function that makes it."""
    run = Maker(tracer)
    made = {}
    for maker in (appends, metas, compactions, repairs, conversions, compressions, decompressions, links, folders):
        made.update(maker(run))
    if is_short:
        made = {name: make for name, make in made.items() if name in SHORT}
        missing = SHORT - set(made)
        if missing:
            raise ValueError(f"there are no such scenarios: {missing}")
    return made


SHORT = {
    "append frame", "append frame-plain", "append array", "append again array-plain", "append bloscpack",
    "append rewriting bloscpack", "append on two threads frame", "append from standard input array",
    "append frame through a link", "meta set longer fixed frame", "meta update fixed frame-plain", "meta set array",
    "meta delete array", "meta set bloscpack", "compact frame", "compact array-plain", "compact sparse",
    "repair bloscpack interrupted early", "repair bloscpack interrupted late", "commit slots",
}


def appends(run):
    def append(form, *, given=None):
        given = given or form.more

        def make():
            run.start()
            target = f"data.{form.extension}"
            form.make(run, target)
            run.put("more", given)
            return Scenario(["-j", "1", "append", target, "more"], [target],
                            run.end(), small=form.small, expected={target: form.old + given})
        return make

    def append_again(form):
        """What is appended to was appended to and given metadata before, so that there is room to be used again."""
        def make():
            run.start()
            target = f"data.{form.extension}"
            form.make(run, target)
            run.put("more", form.more)
            run("append", target, "-", given=form.small)
            run("append", target, "-", given=form.small)
            return Scenario(["-j", "1", "append", target, "more"], [target], run.end(), small=form.small,
                            expected={target: form.old + form.small * 2 + form.more})
        return make

    def append_on_two_threads(form):
        def make():
            scenario = append(form)()
            scenario.arguments[1] = "2"
            return scenario
        return make

    def append_from_standard_input(form):
        def make():
            scenario = append(form)()
            scenario.arguments[-1], scenario.given = "-", form.more
            return scenario
        return make

    made = {f"append {name}": append(FORMATS[name]) for name in GROWING}
    made.update({f"append again {name}": append_again(FORMATS[name]) for name in GROWING})
    made.update({f"append on two threads {name}": append_on_two_threads(FORMATS[name]) for name in GROWING})
    made.update({f"append from standard input {name}": append_from_standard_input(FORMATS[name])
                 for name in ("array", "sparse", "bloscpack", "packed")})
    def commit_again_and_again(form, step, count):
        """A program that commits again and again; the more, the sooner its two places are too short and others are made."""
        given = data(count * step, 17)

        def make():
            run.start()
            target = f"data.{form.extension}"
            form.make(run, target)
            return Scenario([target, str(step)], [target], run.end(), given=given, small=form.small, program="commits",
                            step=step, expected={target: form.old + given})
        return make

    for name in ("slots", "slots-plain"):
        made[f"commit {name}"] = commit_again_and_again(FORMATS[name], 8, 6)
        made[f"commit more {name}"] = commit_again_and_again(FORMATS[name], 240, 5)
    made["commit frame"] = commit_again_and_again(FORMATS["frame"], 1500, 4)
    # More chunks than a Bloscpack file has offsets for: it is written anew.
    made["append rewriting bloscpack"] = append(FORMATS["bloscpack"], given=data(60_000, 13))
    return made


def metas(run):
    def meta(form, words, check, before=()):
        def make():
            run.start()
            target = f"data.{form.extension}"
            form.make(run, target)
            for earlier in before:
                run("meta", *earlier[:-2], target, *earlier[-2:])
            action, *rest = words
            options = [word for word in rest if word.startswith("--")]
            rest = [word for word in rest if not word.startswith("--")]
            wanted = lambda found, layers: found == form.old and check(layers)
            return Scenario(["-j", "1", "meta", action, *options, target, *rest], [target], run.end(),
                            small=form.small, expected={target: wanted})
        return make

    made = {}
    long = "x" * 1500
    for name in CHANGEABLE:
        form = FORMATS[name]
        made[f"meta set {name}"] = meta(form, ["set", "new", "value"], lambda layers: layers["new"] == b"value")
        made[f"meta set long {name}"] = meta(form, ["set", "new", long], lambda layers: layers["new"] == long.encode())
        made[f"meta update {name}"] = meta(form, ["set", "new", "other"], lambda layers: layers["new"] == b"other",
                                           [["set", "new", "value"]])
        made[f"meta delete {name}"] = meta(form, ["delete", "new"], lambda layers: "new" not in layers,
                                           [["set", "new", "value"]])
        made[f"meta set longer fixed {name}"] = meta(form, ["set", "--fixed", "wide", long],
                                                     lambda layers: layers["wide"] == long.encode())
        made[f"meta update fixed {name}"] = meta(form, ["set", "wide", "w" * 700],
                                                 lambda layers: layers["wide"] == b"w" * 700,
                                                 [["set", "--fixed", "wide", "v" * 700]])
        made[f"meta delete fixed {name}"] = meta(form, ["delete", "wide"], lambda layers: "wide" not in layers,
                                                 [["set", "--fixed", "wide", "v" * 700]])
    for name in ("bloscpack", "bloscpack-plain"):
        made[f"meta set {name}"] = meta(FORMATS[name], ["set", "metadata", '{"b": 22}'],
                                        lambda layers: b'22' in layers["metadata"])
    return made


def compactions(run):
    def compact(form):
        def make():
            run.start()
            target = f"data.{form.extension}"
            form.make(run, target)
            for _ in range(3):
                run("append", target, "-", given=form.small)
            run("meta", "set", target, "waste", "x" * 3000)
            run("meta", "delete", target, "waste")
            return Scenario(["-j", "1", "compact", target], [target], run.end(), small=form.small,
                            expected={target: form.old + 3 * form.small})
        return make

    return {f"compact {name}": compact(FORMATS[name]) for name in CHANGEABLE}


def repairs(run):
    def repair(form, *, is_damaged, is_forced):
        def make():
            run.start()
            source, target = f"data.{form.extension}", f"saved.{form.extension}"
            form.make(run, source)
            if is_forced:
                form.make(run, target, form.more)
            if is_damaged:
                damage(os.path.join(run.root, source))
            options = ["--force"] if is_forced else []
            # Where nothing checks the bytes of a chunk, damage there is not seen.
            code = 1 if is_damaged and "plain" not in form.name else 0
            expected = {} if is_damaged else {target: form.old}
            return Scenario(["-j", "1", "repair", source, target, *options], [target], run.end(), code=code,
                            expected=expected, saves_what_it_can=True)
        return make

    def interrupted(form, which):
        """An append was killed inside the file; `repair` brings it to its end or takes it back, in place."""
        def make():
            run.start()
            target = f"data.{form.extension}"
            form.make(run, target)
            run.put("more", form.more)
            before = run.end()
            tracer = run.tracer
            arguments = ["-j", "1", "append", target, "more"]
            trees.write(tracer.root, before)
            calls = [call.number for call in tracer.run(arguments, "record").calls if call.is_change]
            after = trees.read(tracer.root)
            between = []
            for number in calls:
                trees.write(tracer.root, before)
                tracer.run(arguments, "torn", number)
                left = trees.without_rooms(trees.read(tracer.root))
                if left[target] not in (before[target], after[target]):
                    between.append(left)
            left = between[min(which, len(between) - 1)] if which >= 0 else between[which]
            return Scenario(["-j", "1", "repair", target], [target], left, small=form.small)
        return make

    made = {}
    for name in CHANGEABLE:
        for is_damaged in (False, True):
            for is_forced in (False, True):
                words = "damaged" if is_damaged else "good"
                words += f" {name}" + (" over another" if is_forced else "")
                made[f"repair {words}"] = repair(FORMATS[name], is_damaged=is_damaged, is_forced=is_forced)
    for name in ("bloscpack", "bloscpack-plain"):
        made[f"repair copy of {name}"] = repair(FORMATS[name], is_damaged=False, is_forced=False)
        made[f"repair copy of {name} over another"] = repair(FORMATS[name], is_damaged=False, is_forced=True)
        for which, words in ((0, "early"), (3, "later"), (-1, "late")):
            made[f"repair {name} interrupted {words}"] = interrupted(FORMATS[name], which)
    return made


def damage(path):
    """Changes a byte of a chunk's data."""
    if os.path.isdir(path):
        path = os.path.join(path, "00000001.chunk")
        place = -20
    else:
        place = 700
    with open(path, "r+b") as file:
        file.seek(place, os.SEEK_SET if place >= 0 else os.SEEK_END)
        byte = file.read(1)
        file.seek(-1, os.SEEK_CUR)
        file.write(struct.pack("B", byte[0] ^ 0x40))


def conversions(run):
    def convert(source, goal, is_forced):
        def make():
            run.start()
            origin, target = f"data.{source.extension}", f"result.{goal.extension}"
            source.make(run, origin)
            if is_forced:
                goal.make(run, target, goal.more)
            wanted = ["--format", goal.options[1]] if goal.options[0] == "--format" else []
            # Early formats need chunks that they can hold.
            if goal.name in ("packed", "frame-beta1", "frame-beta5"):
                wanted += ["--chunk-size", "1K"]
            options = ["--force"] if is_forced else []
            # What is there already is named by -o only.
            output = ["-o", target] if is_forced else [target]
            return Scenario(["-j", "1", "convert", origin, *output, *wanted, *options], [target], run.end(),
                            expected={target: source.old})
        return make

    kinds = ("frame", "array", "sparse", "packed", "bloscpack", "chunk", "blosc1", "frame-beta1", "frame-beta5")
    made = {f"convert {name} to {goal}": convert(FORMATS[name], FORMATS[goal], False)
            for name, goal in zip(kinds, kinds[1:] + kinds[:1])}
    made["convert frame to sparse"] = convert(FORMATS["frame"], FORMATS["sparse"], False)
    for goal in kinds:
        origin = "frame" if goal != "frame" else "sparse"
        made[f"convert {origin} over {goal}"] = convert(FORMATS[origin], FORMATS[goal], True)
    made["convert sparse-array over array"] = convert(FORMATS["sparse-array"], FORMATS["array"], True)
    return made


def compressions(run):
    def compress(form, there=None):
        there = there or form

        def make():
            run.start()
            target = f"data.{form.extension}"
            there.make(run, target, there.old)
            run.put("plain", form.more)
            options = list(form.options)
            if "--dtype" in options:
                options += ["--shape", f"{len(form.more) // ROW},{COLUMNS}"]
            return Scenario(["-j", "1", "compress", "--force", "plain", "-o", target, *options], [target], run.end(),
                            expected={target: form.more}, small=form.small)
        return make

    def compress_new(form):
        def make():
            run.start()
            target = f"data.{form.extension}"
            run.put("plain", form.more)
            options = list(form.options)
            if "--dtype" in options:
                options += ["--shape", f"{len(form.more) // ROW},{COLUMNS}"]
            return Scenario(["-j", "1", "compress", "plain", "-o", target, *options], [target], run.end(),
                            expected={target: form.more})
        return make

    kinds = [name for name in FORMATS if not name.startswith("sparse-array")]
    made = {f"compress over {name}": compress(FORMATS[name]) for name in kinds}
    made.update({f"compress new {name}": compress_new(FORMATS[name]) for name in kinds})

    def replaced(form, other):
        """What is there is of another kind: a directory where there will be a file, or the other way round."""
        def make():
            scenario = compress(form)()
            run.start()
            run.put("plain", form.more)
            other.prepare(run, "other." + other.extension, other.old)
            os.rename(os.path.join(run.root, "other." + other.extension), os.path.join(run.root, scenario.targets[0]))
            scenario.before = run.end()
            return scenario
        return make

    made["compress frame over a directory"] = replaced(FORMATS["frame"], FORMATS["sparse"])
    made["compress sparse over a file"] = replaced(FORMATS["sparse"], FORMATS["frame"])
    return made


def decompressions(run):
    def decompress(form, is_forced):
        def make():
            run.start()
            source = f"data.{form.extension}"
            form.make(run, source)
            if is_forced:
                run.put("plain", b"an older result")
            options = ["--force"] if is_forced else []
            return Scenario(["-j", "1", "decompress", source, "plain", *options], ["plain"], run.end(),
                            expected={"plain": form.old}, plain=("plain",))
        return make

    made = {f"decompress {name} over plain": decompress(form, True) for name, form in FORMATS.items()}
    made.update({f"decompress {name} to new": decompress(FORMATS[name], False) for name in ("frame", "array", "sparse", "bloscpack")})
    return made


def links(run):
    """The path is a symbolic link. What changes a file in place changes the one that it leads to."""
    def through(words, form, expected):
        def make():
            run.start()
            real, link = f"real.{form.extension}", f"data.{form.extension}"
            form.make(run, real)
            run.put("more", form.more)
            os.symlink(real, os.path.join(run.root, link))
            arguments = [link if word == "FILE" else word for word in words]
            return Scenario(["-j", "1", *arguments], [real], run.end(), small=form.small,
                            expected={real: expected(form)})
        return make

    def over(form):
        def make():
            run.start()
            real, link = f"real.{form.extension}", f"data.{form.extension}"
            form.make(run, real)
            run.put("plain", form.more)
            os.symlink(real, os.path.join(run.root, link))
            options = list(form.options)
            if "--dtype" in options:
                options += ["--shape", f"{len(form.more) // ROW},{COLUMNS}"]
            return Scenario(["-j", "1", "compress", "--force", "plain", "-o", link, *options], [link], run.end(),
                            expected={link: form.more})
        return make

    made = {}
    for name in GROWING:
        made[f"append {name} through a link"] = through(["append", "FILE", "more"], FORMATS[name],
                                                        lambda form: form.old + form.more)
    for name in ("frame", "array"):
        made[f"meta set {name} through a link"] = through(["meta", "set", "FILE", "new", "value"], FORMATS[name],
                                                          lambda form: form.old)
        made[f"compact {name} through a link"] = through(["compact", "FILE"], FORMATS[name], lambda form: form.old)
    for name in ("frame", "sparse", "bloscpack"):
        made[f"compress over a link to {name}"] = over(FORMATS[name])
    return made


def folders(run):
    """Every file of a directory. Each is old or new; those that were done before an error stay."""
    names = ["a", "b", "sub/c"]

    def compress():
        run.start()
        os.makedirs(os.path.join(run.root, "in/sub"))
        for number, name in enumerate(names):
            run.put(f"in/{name}", data(2000, 20 + number))
        targets = [f"out/{name}.b2frame" for name in names]
        return Scenario(["-j", "1", "compress", "in", "-o", "out", "--chunk-size", "1K"], targets, run.end(),
                        expected={target: data(2000, 20 + number) for number, target in enumerate(targets)},
                        can_be_repeated=False, is_strict=False)

    def decompress():
        run.start()
        os.makedirs(os.path.join(run.root, "in/sub"))
        for number, name in enumerate(names):
            run("compress", "-", f"in/{name}.b2frame", *FRAME, given=data(2000, 20 + number))
        targets = [f"out/{name}" for name in names]
        return Scenario(["-j", "1", "decompress", "in", "-o", "out"], targets, run.end(), plain=tuple(targets),
                        expected={target: data(2000, 20 + number) for number, target in enumerate(targets)},
                        can_be_repeated=False, is_strict=False)

    return {"compress a directory": compress, "decompress a directory": decompress}
