"""Compares every result of this working tree with those of another commit, bit for bit; scripts/same_results runs it."""

import argparse
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys

from cases import shipped_cases
from compare import compare_files

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHOWN = 20  # differences of one case

DESCRIPTION = """\
Runs the shipped experiments and sweeps, tables of `collective` and `kernel`, all other verbs that answer
(memory, explain, tune, import, sample, project, select; text and JSON) and the studies with both builds, and
compares every number and text of their JSON and every column of their HDF5 files bit for bit.
Figures are compared by their names, wherever they stand. Not compared: versions, dates, command lines, hashes
and the text of the configuration. What only the new build writes is listed and is no difference; what only the
old one writes is one.
The other commit is built in build/same_results/COMMIT, and its results are kept there."""


def run(words, **options):
    return subprocess.run([str(word) for word in words], check=True, **options)


def reference_of(commit_name):
    """Builds the command of a commit, once. Returns its source tree."""
    asked = subprocess.run(["git", "rev-parse", "--verify", "--quiet", f"{commit_name}^{{commit}}"], cwd=ROOT,
                           capture_output=True, text=True)
    if asked.returncode:
        print(f"same_results: '{commit_name}' is not a commit of this repository", file=sys.stderr)
        sys.exit(2)
    commit = asked.stdout.strip()
    tree = ROOT / "build/same_results" / commit[:12]
    if not (tree / "CMakeLists.txt").exists():
        shutil.rmtree(tree, ignore_errors=True)
        run(["git", "worktree", "prune"], cwd=ROOT)
        run(["git", "worktree", "add", "--detach", tree, commit], cwd=ROOT, stdout=subprocess.DEVNULL)
    build(tree)
    return tree


def build(tree):
    """The log of a build is worth reading only when it fails."""
    studies = ["c3sim_reproduce"] if (tree / "studies/main.cpp").exists() else []  # else c3sim has them
    done = subprocess.run([str(tree / "scripts/build"), "release", "c3sim", *studies], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        print(f"{done.stdout}\nsame_results: {tree} does not build (log above)", file=sys.stderr)
        sys.exit(2)


def results_of(tree, cases, folder, data, jobs):
    """Runs each case on the build of a tree; its outputs are folder/CASE/*."""
    command = tree / "build/release/c3sim"
    environment = {**os.environ, "C3SIM_CONFIGS": "", "C3SIM_DATA": str(data)}

    def make(case):
        out = folder / case.name
        if (out / "done").exists():
            return
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir(parents=True)
        for words in case.commands(tree, out):
            with open(out / "stdout.json", "ab") as stdout, open(out / "stderr", "ab") as stderr:
                code = subprocess.run([command, "-q", *words], cwd=tree, env=environment, stdout=stdout,
                                      stderr=stderr).returncode
            with open(out / "codes", "a") as codes:
                codes.write(f"{code}\n")
        (out / "done").touch()

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for number, _ in enumerate(pool.map(make, cases), 1):
            if sys.stderr.isatty():
                print(f"\r{tree.name}: {number} of {len(cases)} cases", end="", file=sys.stderr, flush=True)
    print(f"\n{tree.name}: {len(cases)} cases have run", file=sys.stderr)


def report(case, differences, new):
    print(f"{'DIFFERENT' if differences else 'identical':9}  {case.name}")
    for difference in differences[:SHOWN]:
        print(f"             {difference}")
    if len(differences) > SHOWN:
        print(f"             and {len(differences) - SHOWN} more")
    if new:
        print(f"             new: {', '.join(sorted(new)[:8])}{' ..' if len(new) > 8 else ''}")


def main():
    parser = argparse.ArgumentParser(prog="scripts/same_results", description=DESCRIPTION,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ref", metavar="REF", help="the commit to compare with")
    parser.add_argument("-k", "--only", metavar="TEXT", default="", help="only cases with TEXT in their name")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--whole", action="store_true", help="also what takes minutes: the study of training steps, large searches")
    parser.add_argument("--list", action="store_true", help="print the names of the cases and stop")
    arguments = parser.parse_args()

    data = pathlib.Path(os.environ.get("C3SIM_DATA", ROOT / "data")).resolve()
    cases = [case for case in shipped_cases(ROOT, data, arguments.whole) if arguments.only in case.name]
    if arguments.list or not cases:
        print("\n".join(case.name for case in cases) or f"no case has '{arguments.only}' in its name")
        return 0 if cases else 2
    reference = reference_of(arguments.ref)
    build(ROOT)
    results_of(reference, cases, reference / "build/results", data, arguments.jobs)
    ours = ROOT / "build/same_results/here"
    shutil.rmtree(ours, ignore_errors=True)
    results_of(ROOT, cases, ours, data, arguments.jobs)

    different = 0
    for case in cases:
        differences, new = compare_files(reference / "build/results" / case.name, ours / case.name)
        report(case, differences, new)
        different += bool(differences)
    print(f"{len(cases)} cases: {f'{different} different' if different else 'identical'}")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
