"""Compares what became of tests: `blosc2.py OURS.xml EXCEPTIONS.txt [THEIRS.xml]`.

Each test that has failed with ours has to have failed with C-Blosc2 as well, where that was run, or to be an exception. An
exception that passes is out of date, and an error.
"""

import sys
import xml.etree.ElementTree as ElementTree


def outcomes(path):
    """Names of tests, and whether each has passed, failed or was skipped."""
    found = {}
    for case in ElementTree.parse(path).iter("testcase"):
        name = f"{case.get('classname')}::{case.get('name')}"
        kinds = {child.tag for child in case}
        found[name] = "failed" if kinds & {"failure", "error"} else "skipped" if "skipped" in kinds else "passed"
    return found


def count(results, kind):
    return sum(outcome == kind for outcome in results.values())


def main(ours_path, exceptions_path, theirs_path=None):
    with open(exceptions_path) as file:
        exceptions = {line.split(" # ")[0] for line in map(str.strip, file) if line and not line.startswith("#")}
    ours = outcomes(ours_path)
    theirs = outcomes(theirs_path) if theirs_path else {}
    good = [name for name, outcome in theirs.items() if outcome == "passed"]
    missing = [name for name in good if ours.get(name) is None]
    failed = [name for name, outcome in ours.items() if outcome == "failed" and theirs.get(name, "passed") == "passed"]
    unexpected = [name for name in failed if name not in exceptions]
    outdated = [name for name in exceptions if ours.get(name) == "passed"]
    print(f"ours: {count(ours, 'passed')} passed, {count(ours, 'failed')} failed, {count(ours, 'skipped')} skipped")
    if theirs:
        print(f"C-Blosc2: {len(good)} passed, {count(theirs, 'failed')} failed; of those that pass {len(failed)} fail with ours")
    for title, names in [("failed", unexpected), ("not run", missing), ("an exception, but passes", outdated)]:
        for name in names:
            print(f"{title}: {name}")
    return 1 if unexpected or missing or outdated or not count(ours, "passed") else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
