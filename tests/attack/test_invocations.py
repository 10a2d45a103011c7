"""Random command lines over every verb, option, key and kind of file: none crashes, hangs, or harms an input.

C3SIM_ATTACK=N draws N invocations (default: 100; `whole`: 10000), C3SIM_ATTACK_SEED=S others than those of CI (1).
`--only NUMBER` runs one again and shows all of it; `--keep FOLDER` keeps the files it ran on.
"""

import argparse
import collections
import multiprocessing
import os
import pathlib
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from invocations import check, generate, options, world  # noqa: E402

WHOLE = 10_000
SMALL = WHOLE // 100
SHOWN = 2000  # bytes of an output


def count():
    wanted = os.environ.get("C3SIM_ATTACK", "whole" if "C3SIM_WHOLE" in os.environ else str(SMALL))
    return WHOLE if wanted == "whole" else int(wanted)


def generator_for(folder, seed):
    inputs = [path[len(os.fsencode(folder)) + len(b"/in/"):] for path in world.inputs_of(folder)]
    names = [name for name in inputs if name.count(b"/") == 1 and name.split(b"/")[0] not in (b"data",)] + [b"data"]
    return generate.Generator(VERBS, KEYS, names, seed)


def report(number, seed, invocation, code, out, err, broken):
    lines = [f"invocation {number}: {'; '.join(broken)}", f"  {check.command_line(invocation)}",
             f"  exit code {code}, stderr: {err[:SHOWN].decode(errors='backslashreplace')!r}"]
    if out:
        lines.append(f"  stdout: {out[:200].decode(errors='backslashreplace')!r} .. {len(out)} bytes")
    for path, content in invocation.files.items():
        lines.append(f"  {os.fsdecode(path)}: {content[:SHOWN]!r}")
    for before in invocation.before:
        lines.append(f"  before: {before}")
    lines.append(f"  again: C3SIM={os.environ['C3SIM']} C3SIM_SOURCE={os.environ['C3SIM_SOURCE']} C3SIM_ATTACK_SEED={seed} "
                 f"/usr/bin/python3 -B {pathlib.Path(__file__)} --only {number}")
    return "\n".join(lines)


def work(task):
    """Some of the invocations. Returns how many ended with which code, what failed, and the longest time."""
    numbers, seed = task
    codes, failures, slowest = collections.Counter(), [], 0.0
    with tempfile.TemporaryDirectory(prefix="c3sim attack ", ignore_cleanup_errors=True) as folder:
        world.build(folder, seed)
        generator = generator_for(folder, seed)
        for number in numbers:
            invocation = generator.draw(number)
            started = time.monotonic()
            code, out, err, broken = check.run(folder, invocation)
            slowest = max(slowest, time.monotonic() - started)
            codes[code] += 1
            if broken:
                failures.append(report(number, seed, invocation, code, out, err, broken))
    return codes, failures, slowest


def run_one(number, seed, keep):
    folder = pathlib.Path(keep) if keep else pathlib.Path(tempfile.mkdtemp(prefix="c3sim attack "))
    world.build(folder, seed)
    invocation = generator_for(folder, seed).draw(number)
    code, out, err, broken = check.run(folder, invocation)
    print(report(number, seed, invocation, code, out, err, broken or ["nothing broken"]))
    print(f"  in: {folder}")
    return 1 if broken else 0


def run_all(seed):
    total, workers = count(), os.cpu_count() or 1
    parts = max(4 * workers, total // 100)  # so that no worker waits long for another, and failures show early
    started, codes, failures, slowest = time.monotonic(), collections.Counter(), 0, 0.0
    with multiprocessing.Pool(workers) as pool:
        tasks = [(range(part, total, parts), seed) for part in range(parts)]
        for its_codes, its_failures, its_slowest in pool.imap_unordered(work, tasks):
            codes.update(its_codes)
            slowest = max(slowest, its_slowest)
            failures += len(its_failures)
            for text in its_failures:
                print(text, flush=True)
    print(f"{total} invocations (seed {seed}, {len(VERBS)} verbs, {len(KEYS)} keys) in {time.monotonic() - started:.0f} s on "
          f"{workers} cores; slowest {slowest:.1f} s")
    print("exit codes: " + ", ".join(f"{code}: {times}" for code, times in sorted(codes.items())))
    print(f"{failures} broke a promise")
    return 1 if failures else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", type=int)
    parser.add_argument("--keep")
    arguments = parser.parse_args()
    seed = int(os.environ.get("C3SIM_ATTACK_SEED", "1"))
    return run_one(arguments.only, seed, arguments.keep) if arguments.only is not None else run_all(seed)


VERBS = options.all_verbs()
KEYS = options.all_keys()

if __name__ == "__main__":
    sys.exit(main())
