"""Kills, errors and losses of power under the real command, and what they leave of its files. README.md says more."""

import argparse
import multiprocessing
import os
import random
import shutil
import sys
import tempfile
import time
import traceback
import zlib

import oracle as oracles
import replay
import scenarios
import traced
import tree as trees

KILLED = 9
# Frames of some hundred chunks are read in as many calls, one like the other.
MANY_CALLS, OTHERS = 1000, 100


class Tally:
    """What was tried in a scenario, and what went wrong."""

    def __init__(self, name):
        self.name = name
        self.counts = {"kills": 0, "errors": 0, "replays": 0}
        self.losses = []
        self.seconds = 0.0

    def add(self, kind, fault, complaints):
        self.counts[kind] += 1
        for complaint in complaints:
            self.losses.append((fault, complaint))


class Trial:
    """One scenario, undisturbed and under every fault."""

    def __init__(self, name, make, tracer, options):
        self.name, self.tracer, self.options = name, tracer, options
        self.tally = Tally(name)
        # Its own for each scenario, so that one alone gives what it gives among all.
        self.chance = random.Random(options.seed * 1_000_003 + zlib.crc32(name.encode()))
        self.scenario = make()
        self.oracle = oracles.Oracle(self.scenario, tracer)

    def run(self):
        start = time.monotonic()
        recorded = self.record()
        if recorded:
            if "kills" in self.options.kinds:
                self.kill(recorded)
            if "errors" in self.options.kinds:
                self.fail(recorded)
            if "replays" in self.options.kinds:
                self.replay(recorded)
        self.tally.seconds = time.monotonic() - start
        return self.tally

    def perform(self, *order):
        trees.write(self.tracer.root, self.scenario.before)
        return self.trace(*order)

    def trace(self, *order):
        return self.tracer.run(self.scenario.arguments, *order, given=self.scenario.given, program=self.scenario.program)

    def record(self):
        """An undisturbed run, or `None` if that is wrong already."""
        trees.write(self.tracer.root, self.scenario.before)
        inodes = trees.inodes(self.tracer.root)
        run = self.trace("record")
        if run.code != self.scenario.code:
            self.tally.losses.append(("undisturbed", f"exit code {run.code}, not {self.scenario.code}: {run.errors.strip()}"))
            return None
        complaints = self.oracle.learn(trees.read(self.tracer.root))
        self.tally.losses += [("undisturbed", complaint) for complaint in complaints]
        run.inodes = inodes
        return None if complaints else run

    def chosen(self, calls):
        """The calls to disturb: all, but of more than a thousand those that change something and some of the others, and in
        the short form a few of both."""
        changes = [call for call in calls if call.is_change]
        others = [call for call in calls if not call.is_change]
        share = self.options.limit
        if share is None:
            picked = changes + (others if len(calls) <= MANY_CALLS else self.chance.sample(others, min(OTHERS, len(others))))
        else:
            picked = self.chance.sample(changes, min(share, len(changes)))
            picked += self.chance.sample(others, min(share // 4, len(others)))
        return sorted(picked, key=lambda call: call.number)

    def kill(self, recorded):
        for call in self.chosen(recorded.calls):
            for when in ("before", "after", "torn"):
                if when == "torn" and call.what != "write":
                    continue
                run = self.perform(when, call.number)
                allowed = {"old", "new"} if run.signal == KILLED else {"new"}
                complaints = self._ended_badly(run, is_killed=True)
                complaints += self.oracle.judge(trees.read(self.tracer.root), allowed, leftovers=True)
                self.tally.add("kills", f"{when} {call.number} ({call.name} {call.path})", complaints)

    def fail(self, recorded):
        for call in self.chosen(recorded.calls):
            for error in ("EIO", "ENOSPC"):
                self.fail_once(call, error)
                if call.is_change:
                    self.fail_from(call, error)
            if call.what == "write":
                run = self.perform("short", call.number)
                complaints = self._ended_badly(run)
                if run.code != self.scenario.code:
                    complaints.append(f"exit code {run.code} because of a short write: {run.errors.strip()}")
                complaints += self.oracle.judge(trees.read(self.tracer.root), {"new"}, leftovers=False)
                self.tally.add("errors", f"short {call.number} ({call.name} {call.path})", complaints)

    def fail_once(self, call, error):
        run = self.perform("fail", call.number, error)
        fault = f"fail {call.number} {error} ({call.name} {call.path})"
        self.judge_error(run, fault, call, is_removal(call), self.scenario.is_strict)

    def fail_from(self, call, error):
        run = self.perform("from", call.number, error)
        # Nothing can be put back when nothing can be written, but all of the old or the new content must be there.
        is_strict = self.scenario.is_strict and error == "ENOSPC"
        self.judge_error(run, f"from {call.number} {error} ({call.name} {call.path})", call, error == "EIO", is_strict)

    def judge_error(self, run, fault, call, leftovers, is_strict):
        tree = trees.read(self.tracer.root)
        if self.scenario.saves_what_it_can and not call.is_change and run.code == 1:
            # What cannot be read is not saved, and is told.
            contents = [self.oracle.content(tree, target) for target in self.scenario.targets]
            bad = [f"{oracles.describe(content)}" for content in contents if content[0] == "bad"]
            self.tally.add("errors", fault, bad)
            return
        succeeded = run.code == self.scenario.code
        # Behind the point of no return the message says that there is none.
        is_told = "the change is made" in run.errors
        allowed = {"new"} if succeeded else {"old"} if is_strict and not is_told else {"old", "new"}
        complaints = self._ended_badly(run)
        complaints += self.oracle.judge(tree, allowed, leftovers or not self.scenario.is_strict)
        words = f"exit code {run.code}" + (f", {run.errors.strip()}" if run.errors else "")
        self.tally.add("errors", fault, [f"{complaint} ({words})" for complaint in complaints])

    @staticmethod
    def _ended_badly(run, is_killed=False):
        if run.signal is not None and not (is_killed and run.signal == KILLED):
            return [f"signal {run.signal}"]
        if run.code == oracles.PANICKED:
            return [f"panicked: {run.errors.strip()}"]
        return []

    def replay(self, recorded):
        recording = replay.Recording(replay.Image.of(self.scenario.before, recorded.inodes), recorded.calls)
        points = recording.points()
        share = max(1, self.options.replays // len(points))
        for point in points:
            is_end = point == points[-1]
            # The end is what a user relies on.
            count = share * 4 if is_end else share
            seen = set()
            for lost, torn in recording.losses(point, count, self.chance):
                if (lost, str(torn)) in seen:
                    continue
                seen.add((lost, str(torn)))
                tree = recording.image(point, lost, torn).tree()
                complaints = self.oracle.judge(tree, {"new"} if is_end else {"old", "new"}, leftovers=True)
                where = "the end" if is_end else f"change {point[0]}, sync {point[1]}"
                numbers = [recording.ops[i].number for i in sorted(lost)]
                torn_numbers = {recording.ops[i].number: sorted(kept) for i, kept in torn.items()}
                fault = f"power lost at {where}, without calls {numbers}" + (f", of {torn_numbers} only these sectors" if torn else "")
                self.tally.add("replays", fault, complaints)


def is_removal(call):
    """Whether a call is part of removing files. If it fails, they stay."""
    if call.name in ("unlink", "unlinkat", "rmdir"):
        return True
    if call.name == "statx":
        return trees.ROOM.fullmatch(call.path) is not None
    return trees.is_in_room(call.path) and not call.is_change and call.name in ("openat", "newfstatat", "getdents64")


WORKER = {}


def prepare(options, directory):
    """Gives a worker process a directory of its own."""
    place = os.path.join(directory, str(os.getpid()))
    os.mkdir(place)
    tracer = traced.Tracer(os.path.abspath(options.tracer), os.path.abspath(options.binary), os.path.abspath(options.commits), place)
    WORKER.update(options=options, tracer=tracer, made=scenarios.all_of(tracer, options.short))


def try_scenario(name):
    """The tally of a scenario."""
    try:
        return Trial(name, WORKER["made"][name], WORKER["tracer"], WORKER["options"]).run()
    except Exception:  # noqa: BLE001: a scenario that cannot be tried is a failure among others
        tally = Tally(name)
        tally.losses.append(("not tried", traceback.format_exc()))
        return tally


def part(text):
    """`2/3` is the second of three parts."""
    number, count = map(int, text.split("/"))
    if not 1 <= number <= count:
        raise ValueError(text)
    return number, count


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tracer", help="the program made of tracer.c")
    parser.add_argument("binary", help="the command `blosc`")
    parser.add_argument("commits", help="the program made of commits.rs")
    parser.add_argument("--short", action="store_true", help="a choice of scenarios, and of calls in each")
    parser.add_argument("--only", default="", metavar="WORDS", help="scenarios whose names have these words in them")
    parser.add_argument("--part", type=part, default=(1, 1), metavar="K/N", help="every N-th scenario from the K-th on, of those")
    parser.add_argument("--kinds", default="kills,errors,replays", help="which faults (default: %(default)s)")
    parser.add_argument("--replays", type=int, metavar="N", help="about how many losses of power for each scenario")
    parser.add_argument("--seed", type=int, default=1, help="of what is left to chance (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="scenarios at a time (default: %(default)s)")
    parser.add_argument("--most", type=int, default=20, metavar="N", help="losses of a scenario to print (default: %(default)s)")
    options = parser.parse_args()
    options.limit = 24 if options.short else None
    if options.replays is None:
        options.replays = 100 if options.short else 300
    return options


def main():
    options = parse()
    # Memory, where there is such a place: nothing here relies on a disk.
    home = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    directory = tempfile.mkdtemp(prefix="blosc-faults-", dir=home)
    total = Tally("all")
    failed = 0
    try:
        names = [name for name in scenarios.all_of(traced.Tracer("", "", "", directory), options.short) if options.only in name]
        names = names[options.part[0] - 1::options.part[1]]
        with multiprocessing.Pool(options.jobs, prepare, (options, directory)) as pool:
            for tally in pool.imap_unordered(try_scenario, names):
                failed += bool(tally.losses)
                for kind, count in tally.counts.items():
                    total.counts[kind] += count
                total.losses += tally.losses
                report(tally, options)
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    counts = ", ".join(f"{count} {kind}" for kind, count in total.counts.items())
    print(f"{len(names)} scenarios, {counts}: {len(total.losses)} losses in {failed} scenarios (seed {options.seed})")
    return 1 if total.losses or not names else 0


def report(tally, options):
    """A line for a scenario, and one for each loss with what makes it happen again."""
    counts = ", ".join(f"{count} {kind}" for kind, count in tally.counts.items())
    print(f"{'LOST' if tally.losses else 'good'}  {tally.name}: {counts}, {tally.seconds:.1f} s", flush=True)
    for fault, complaint in tally.losses[:options.most]:
        print(f"      --seed {options.seed} --only '{tally.name}': {fault}: {complaint}")
    if len(tally.losses) > options.most:
        print(f"      and {len(tally.losses) - options.most} more")


if __name__ == "__main__":
    sys.exit(main())
