"""Runs one invocation and says which of the promises of the command it breaks."""

import os
import pathlib
import re
import resource
import shlex
import shutil
import subprocess

from . import world

# An internal error is documented, too, but it is a bug whatever the input.
CODES = re.findall(r"kExit(\w+) = (\d+),", (pathlib.Path(os.environ["C3SIM_SOURCE"]) / "app/command/exit_code.hpp").read_text())
DOCUMENTED = {int(code) for name, code in CODES if name != "Internal"}
PREFIX = re.compile(rb"^c3sim: .", re.MULTILINE)
LOCATION = re.compile(rb"^.+:\d+:\d+: \S", re.MULTILINE | re.DOTALL)
SANITIZED = b"__asan_init" in pathlib.Path(os.environ["C3SIM"]).read_bytes()
SLOWER = 4 if SANITIZED else 1
CPU_SECONDS = 10 * SLOWER  # of each process; the wall clock depends on what else the machine does
WALL_SECONDS = 60 * SLOWER
MEMORY = 2_000_000_000  # address space: a result of some kilobytes never needs it


def limits(invocation):
    """To be called in the new process."""
    def close(descriptor):
        try:
            os.close(descriptor)
        except OSError:
            pass

    def apply():
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if not SANITIZED:  # its shadow memory alone is terabytes of addresses
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        if invocation.file_size is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (invocation.file_size, invocation.file_size))
        for redirection in invocation.streams.split():
            descriptor = {"<": 0, ">": 1, "2": 2}[redirection[0]]
            if redirection.endswith(">&-") or redirection == "<&-":
                close(descriptor)
            elif redirection.endswith("/dev/full"):
                os.dup2(os.open("/dev/full", os.O_WRONLY), descriptor)
            else:  # 2>&1
                os.dup2(1, 2)
    return apply


def prepare(folder, invocation):
    for name in ("out", "own"):
        shutil.rmtree(folder / name, ignore_errors=True)
        (folder / name).mkdir()
    for path, content in invocation.files.items():
        with open(os.fsencode(folder) + b"/" + path, "wb") as file:
            file.write(content)
    for kind, path, content in invocation.before:
        place = os.fsencode(folder) + b"/" + path
        if os.path.lexists(place):
            continue
        if kind == "file":
            with open(place, "wb") as file:
                file.write(content)
        elif kind == "link":
            os.symlink(content, place)
        else:
            {"folder": os.mkdir, "pipe": os.mkfifo}[kind](place)


def command_line(invocation):
    """As a line for a shell."""
    words = " ".join(shlex.quote(os.fsdecode(word)) for word in invocation.words)
    limit = "" if invocation.file_size is None else f"ulimit -f {invocation.file_size / 1024:g}; "
    return f"{limit}{os.environ['C3SIM']} {words} {invocation.streams}".rstrip()


def broken_promises(invocation, code, out, err):
    if code < 0:
        return [f"it ended by signal {-code}"]
    if code not in DOCUMENTED:
        return [f"exit code {code} is not documented"]
    broken = []
    hears_stderr = "2>" not in invocation.streams
    has_stdout = ">&-" not in invocation.streams.replace("2>&-", "") and ">/dev/full" not in invocation.streams.replace("2>/dev/full", "")
    if code == 2 and out:
        broken.append("a usage error wrote to standard output")
    if code in (2, 74, 124, 130) and hears_stderr and not PREFIX.search(err):
        broken.append(f"with exit code {code}, no line of stderr begins with 'c3sim: '")
    if code == 3 and hears_stderr and not LOCATION.match(err) and not PREFIX.search(err):
        broken.append("with exit code 3, stderr names no file, line and column")
    if code != 0 and hears_stderr and has_stdout and not err and not out:
        broken.append(f"exit code {code} without a word")
    if b"terminate called" in err or b"runtime error" in err or b"AddressSanitizer" in err:
        broken.append("stderr shows a crash")
    return broken


def changes(folder, before, invocation):
    """What of the inputs is not as it was. What is new beside them, such as a default output, is removed."""
    broken = []
    after = world.inputs_of(folder)
    for path in set(after) - set(before):
        name = os.fsdecode(os.path.relpath(path, os.fsencode(folder)))
        if path.endswith(b".tmp"):
            broken.append(f"a temporary file is left: {name}")
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path, ignore_errors=True)
        elif os.path.lexists(path):
            os.unlink(path)
    broken += [f"an input changed: {os.fsdecode(path)}" for path, state in before.items() if after.get(path) != state]
    for path, content in invocation.files.items():
        with open(os.fsencode(folder) + b"/" + path, "rb") as file:
            if file.read() != content:
                broken.append(f"an input changed: {os.fsdecode(path)}")
    for kind, path, content in invocation.before:
        if kind == "file" and content == world.OF_THE_USER:
            with open(os.fsencode(folder) + b"/" + path, "rb") as file:
                if file.read() != content:
                    broken.append(f"a file of the user was replaced: {os.fsdecode(path)}")
    for root, _, files in os.walk(os.fsencode(folder) + b"/out"):
        broken += [f"a temporary file is left: {os.fsdecode(name)}" for name in files if name.endswith(b".tmp")]
    return broken


def run(folder, invocation):
    """Runs in `folder`. Returns its exit code, both outputs, and the promises that it broke."""
    folder = pathlib.Path(folder)
    prepare(folder, invocation)
    before = world.inputs_of(folder)
    environment = {**os.environ, "C3SIM_DATA": "nowhere", "ASAN_OPTIONS": "detect_leaks=0:exitcode=99",
                   "UBSAN_OPTIONS": "print_stacktrace=1"}
    process = subprocess.Popen([os.fsencode(os.environ["C3SIM"]), *invocation.words], cwd=folder, env=environment,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               preexec_fn=limits(invocation))
    try:
        out, err = process.communicate(timeout=WALL_SECONDS)
    except subprocess.TimeoutExpired:
        has_ended = process.poll() is not None  # then it was the machine that stood still
        process.kill()
        out, err = process.communicate()
        if not has_ended:
            return process.returncode, out, err, [f"it did not end within {WALL_SECONDS} s"]
    broken = broken_promises(invocation, process.returncode, out, err) + changes(folder, before, invocation)
    return process.returncode, out, err, broken
