"""Whether what a fault has left is the old content or the new one, in full, and whether work can go on."""

import json
import os

import tree as trees

# What describes the content of a file; sizes and dead bytes may differ between files of equal content.
FACTS = ("format", "layout", "nbytes", "typesize", "shape", "dtype", "order", "checksum", "metalayers", "vlmetalayers")
PANICKED = 101


class Oracle:
    """Judges what runs of one scenario leave. Equal trees are looked at once."""

    def __init__(self, scenario, tracer):
        self.scenario, self.tracer = scenario, tracer
        self.root = os.path.join(tracer.directory, "oracle")
        self.contents, self.futures = {}, {}
        self.untidy = set()  # what has the bytes of an interrupted change behind its end
        self.before = scenario.before
        self.old = [self.content(self.before, target) for target in scenario.targets]
        self.new = self.after = None

    def learn(self, after):
        """Takes what an undisturbed run has left for the new content, if it is what was to be expected."""
        self.after = after
        self.new = [self.content(after, target) for target in self.scenario.targets]
        complaints = [f"{target}: {content[1]}" for target, content in zip(self.scenario.targets, self.new)
                      if content[0] == "bad"]
        complaints += self.scenario.unexpected(self.new)
        return complaints + self._others(after) + self._leftovers(after, self.after)

    def content(self, tree, target):
        """What is at `target`: nothing, plain bytes, or data with all that describes it."""
        if target not in tree:
            return ("nothing",)
        # A link leads to something outside of the target.
        part = tree if tree[target][0] == "link" else trees.below(tree, target)
        key = (target, trees.digest(part))
        if key not in self.contents:
            self.contents[key] = self._look(part, target)
            if self.is_mended:
                self.untidy.add(key)
        return self.contents[key]

    def is_tidy(self, tree, target):
        """Whether nothing of an interrupted change is in the file at `target`."""
        return target not in tree or (target, trees.digest(trees.below(tree, target))) not in self.untidy

    def _look(self, tree, target):
        self.is_mended = False
        if target in self.scenario.plain:
            return ("plain", tree.get(target, ("file", None))[1])
        trees.write(self.root, tree)
        run = self.tracer.plain
        verified = run(self.root, "verify", "-q", target)
        if verified.returncode != 0:
            # A Bloscpack file has no place to say what belongs to it but its end: `verify` names what an interrupted
            # change has left there, everything else reads over it, and `repair` or the next change takes it away.
            unmended = run(self.root, "decompress", target, "-")
            mended = run(self.root, "repair", target) if target.endswith(".blp") else unmended
            if unmended.returncode != 0 or run(self.root, "verify", "-q", target).returncode != 0:
                return ("bad", verified.stderr.decode(errors="replace").strip())
            if mended.returncode != 0 or run(self.root, "decompress", target, "-").stdout != unmended.stdout:
                return ("bad", "repaired, it is something else")
            self.is_mended = True
        facts = json.loads(run(self.root, "info", "--json", target).stdout)
        data = run(self.root, "decompress", target, "-")
        if data.returncode != 0:
            return ("bad", data.stderr.decode(errors="replace").strip())
        listed = run(self.root, "meta", "list", target).stdout.decode()
        names = [line.split(None, 2)[2] for line in listed.splitlines()]
        layers = {name: run(self.root, "meta", "get", target, name).stdout for name in names}
        described = json.dumps({name: facts.get(name) for name in FACTS})
        return ("blosc", data.stdout, described, tuple(sorted(layers.items())))

    def states(self, tree):
        """For each target whether it is `old`, `new`, `both` if these are the same, that of a commit `between`, or what is
        wrong."""
        found = []
        for target, old, new in zip(self.scenario.targets, self.old, self.new):
            content = self.content(tree, target)
            if content == old:
                found.append("both" if old == new else "old")
            elif content == new:
                found.append("new")
            elif self.scenario.is_between(old, content, new):
                found.append("between")
            else:
                found.append(f"{target} is neither the old nor the new one: {describe(content)}")
        return found

    def judge(self, tree, allowed, leftovers):
        """What is wrong with a tree, if only these states are allowed. `leftovers`: whether files may be left over."""
        complaints = []
        for state in self.states(tree):
            # The commits before the one that was disturbed stand.
            if state == "both" or state in allowed or (state == "between" and "old" in allowed):
                continue
            complaints.append(state if state not in ("old", "new", "between") else f"the {state} content is there")
        complaints += self._others(tree)
        if not leftovers:
            is_new = all(state in ("new", "both") for state in self.states(tree)) and "new" in allowed
            complaints += self._leftovers(tree, self.after if is_new else self.before)
            complaints += [f"{target}: an interrupted change is left in it" for target in self.scenario.targets
                           if self.is_tidy(self.before, target) and not self.is_tidy(tree, target)]
        if not complaints:
            complaints += self._future(tree)
        return complaints

    def _others(self, tree):
        """Files that are none of the command's business."""
        complaints = []
        for path, content in self.before.items():
            if not self._is_target(path) and tree.get(path) != content:
                complaints.append(f"{path} was changed")
        return complaints

    def _leftovers(self, tree, wanted):
        return [f"{path} is left over" for path in tree if path not in wanted and path not in self.before]

    def _is_target(self, path):
        return any(path == target or path.startswith(target + "/") for target in self.scenario.targets)

    def _future(self, tree):
        """Whether the next command finds nothing in its way."""
        key = trees.digest(tree)
        if key not in self.futures:
            self.futures[key] = self._go_on(tree)
        return self.futures[key]

    def _go_on(self, tree):
        scenario, run = self.scenario, self.tracer.plain
        if scenario.small is not None:
            target = scenario.targets[0]
            content = self.content(tree, target)
            if content[0] != "blosc":
                return []
            trees.write(self.root, tree)
            done = run(self.root, "append", target, "-", given=scenario.small)
            if done.returncode != 0:
                return [f"a small append afterwards fails: {done.stderr.decode(errors='replace').strip()}"]
            data = run(self.root, "decompress", target, "-")
            if data.returncode != 0 or data.stdout != content[1] + scenario.small:
                return ["after a small append the data are not those before with the new ones"]
            return []
        if scenario.can_be_repeated and "new" not in self.states(tree):
            trees.write(self.root, tree)
            done = run(self.root, *scenario.arguments, given=scenario.given)
            if done.returncode != scenario.code:
                return [f"the command cannot be repeated: {done.stderr.decode(errors='replace').strip()}"]
            left = trees.read(self.root)
            wrong = [state for state in self.states(left) if state not in ("new", "both")]
            return [f"repeated, the command gives something else: {state}" for state in wrong]
        return []


def describe(content):
    """A content in a few words."""
    if content[0] == "blosc":
        layers = ", ".join(f"{name} of {len(value)} bytes" for name, value in content[3])
        return f"{len(content[1])} bytes, {content[2]}, {layers or 'no metalayers'}"
    if content[0] == "plain":
        return "no file" if content[1] is None else f"{len(content[1])} bytes"
    return " ".join(content)
