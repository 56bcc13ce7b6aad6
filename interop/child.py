"""Runs what may kill Python in a process of its own."""

import os


def in_child(action):
    """The text that an action returns, or how it has died; None if there is nothing to say."""
    receiver, sender = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(sender, guarded(action).encode()[:4000])
        os._exit(0)
    os.close(sender)
    with open(receiver, "rb") as file:
        text = file.read().decode(errors="replace")
    status = os.waitpid(child, 0)[1]
    return f"python-blosc2 dies, status {status}" if status else text or None


def guarded(action):
    try:
        return action() or ""
    except Exception as error:
        return f"{type(error).__name__}: {error}"
