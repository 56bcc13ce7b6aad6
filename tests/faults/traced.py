"""Running the command under the tracer, and reading what the tracer has seen."""

import os
import subprocess

ERRORS = {"EIO": 5, "ENOSPC": 28}


class Call:
    """A system call that concerned a file below the working directory."""

    def __init__(self, line, root):
        number, self.name, kind, result, path, *rest = line.split("\t")
        self.number, self.result = int(number), int(result)
        self.is_change = kind == "change"
        self.path = os.path.relpath(path, root) if path != "-" else path
        self.what = rest[0] if rest else None
        self.fields = rest[1:]


class Run:
    """How a run of the command went."""

    def __init__(self, log, root, errors):
        *lines, end = log.read().splitlines()
        how, value, count = end.split("\t")
        self.calls = [Call(line, root) for line in lines]
        self.code = int(value) if how == "exit" else None
        self.signal = int(value) if how == "signal" else None
        self.count = int(count)
        self.errors = errors


class Tracer:
    """Runs the binaries in a directory of its own: the command, and the program that commits again and again."""

    def __init__(self, tracer, blosc, commits, directory):
        self.tracer, self.directory = tracer, directory
        self.programs = {"blosc": blosc, "commits": commits}
        self.root = os.path.join(directory, "work")
        self.log = os.path.join(directory, "log")

    def run(self, arguments, *order, given=b"", program="blosc"):
        """Runs a program with a fault: `record`, or `fail`, 12, "EIO", and so on."""
        order = [str(ERRORS.get(part, part)) for part in order]
        command = [self.tracer, self.log, *order, "--", self.programs[program], *arguments]
        done = subprocess.run(command, cwd=self.root, input=given, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, env={"TMPDIR": self.root}, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"the tracer failed: {done.stderr.decode()}")
        with open(self.log, encoding="utf-8") as log:
            return Run(log, self.root, done.stderr.decode(errors="replace"))

    def plain(self, root, *arguments, given=b"", program="blosc"):
        """Runs a program without a fault."""
        return subprocess.run([self.programs[program], *arguments], cwd=root, input=given, capture_output=True,
                              env={"TMPDIR": root}, check=False)
