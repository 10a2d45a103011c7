"""scripts/demo, scripts/test and .ci/run: what they run with which data, what they print last, and their exit status.

The scripts run in a copy of the repository's scripts, with stand-ins for ctest, c3sim and scripts/build.
"""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["C3SIM_SOURCE"])
CTEST = """#!/bin/bash
printf '%s data=%s\\n' "$*" "${C3SIM_DATA-}" >> "$CALLS"
mkdir -p build/release/Testing/Temporary
printf 'skipped: no tables (from somewhere)\\n' > build/release/Testing/Temporary/LastTest.log
printf '1/3 Test #1: unit/fast .....   Passed    0.10 sec\\n2/3 Test #2: cli/slow ...   Passed   12.00 sec\\n'
printf '3/3 Test #3: cli/middle ...***Skipped   3.00 sec\\n\\n'
[[ $* != *"$FAILS"* ]] && printf '100%% tests passed, 0 tests failed out of 3\\n' || { printf '67%% tests passed, 1 tests failed out of 3\\n'; exit 8; }
printf 'The following tests did not run:\\n'
"""

BUILD = """#!/bin/bash
printf 'build %s\\n' "$*" >> "$CALLS"
"""
C3SIM = """#!/bin/bash
printf 'c3sim %s\\n' "$*" >> "$CALLS"
printf 'a table\\n'
"""


class Scripts(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="c3sim scripts ")
        self.addCleanup(scratch.cleanup)
        self.clone = pathlib.Path(scratch.name) / "clone"
        for folder in ("scripts", ".ci", "build/release", "tests"):
            (self.clone / folder).mkdir(parents=True)
        for script in ("scripts/demo", "scripts/test", ".ci/run", "tests/slowest.py"):
            shutil.copy(SOURCE / script, self.clone / script)
        (self.clone / "tests/budget.txt").write_text("# seconds\n5 cli/s*  # a comment\n20 cli/*\n2 *\n")
        self.bin = self.clone.parent / "bin"
        self.bin.mkdir()
        for path, text in ((self.bin / "ctest", CTEST), (self.clone / "scripts/build", BUILD), (self.clone / "build/release/c3sim", C3SIM)):
            path.write_text(text)
            path.chmod(0o755)

    def run_script(self, script, fails="nothing", **variables):
        """Returns the finished process and the calls of ctest, or of what the demo runs, one a line."""
        calls = self.clone.parent / "calls"
        calls.write_text("")
        environment = {name: value for name, value in os.environ.items() if name != "C3SIM_DATA"}
        environment |= {"PATH": f"{self.bin}:{os.environ['PATH']}", "CALLS": str(calls), "FAILS": fails, **variables}
        done = subprocess.run([self.clone / script], env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, check=False)
        made = calls.read_text().splitlines()
        return done, [call for call in made if script == "scripts/demo" or not call.startswith("build ")]

    def test_the_demo_builds_runs_and_ends_with_its_files_and_its_time(self):
        done, calls = self.run_script("scripts/demo")
        self.assertEqual(done.returncode, 0, done.stderr)
        job = "configs/experiments/c3_llama70b_mi300x.toml"
        self.assertEqual(calls, ["build release c3sim", f"c3sim run {job}",
                                 "c3sim report --quiet out/c3_llama70b_mi300x.h5 -o out/c3_llama70b_mi300x.html"])
        self.assertEqual((self.clone / "out/c3_llama70b_mi300x.txt").read_text(), "a table\n")
        self.assertRegex(done.stdout.splitlines()[-1], r"^Time: \d+ s for packages and build, \d+ s for the run and its page\.")

    def test_tests_run_then_those_with_data_run_without_and_the_libraries_under_sanitizers(self):
        done, calls = self.run_script("scripts/test", C3SIM_DATA="/tables")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(calls), 3)
        self.assertRegex(calls[0], r"^--preset release -E _NOT_BUILT -j \d+ .*data=/tables$")
        self.assertRegex(calls[1], r"^--preset release -L \^measured_data\$ .*data=/nonexistent$")
        self.assertRegex(calls[2], r"^--preset asan .*data=/tables$")

    def test_each_library_test_is_built_once_for_the_sanitizers(self):
        self.run_script("scripts/test")
        builds = [call for call in (self.clone.parent / "calls").read_text().splitlines() if call.startswith("build ")]
        self.assertEqual(builds, ["build release c3sim c3sim_reproduce c3_unsanitized_tests", "build asan c3_tests"])

    def test_it_ends_with_phases_slowest_and_skipped_tests_and_the_summaries(self):
        done, _ = self.run_script("scripts/test")
        end = done.stdout.split("\n== phases\n")[1].splitlines()
        self.assertRegex("\n".join(end[:4]), r"^ +\d+ s  build release\n +\d+ s  test release\n +\d+ s  build asan\n +\d+ s  test asan$")
        passed = "100% tests passed, 0 tests failed out of 3"
        self.assertEqual(end[4:], ["== slowest release tests", "    12.0 s of 5 s  cli/slow", "     3.0 s of 20 s  cli/middle",
                                   "     0.1 s of 2 s  unit/fast",
                                   "Longer than tests/budget.txt allows; on a machine that was busy, run them again alone:",
                                   "  cli/slow: 12.0 s instead of at most 5 s", "== skipped", "skipped: no tables (from somewhere)", "== release", passed,
                                   "== release, without measured data", passed, "== asan", passed])

    def test_it_says_so_when_all_tests_are_within_their_budgets(self):
        (self.clone / "tests/budget.txt").write_text("12 *\n")
        done, _ = self.run_script("scripts/test")
        self.assertIn("  unit/fast\nAll tests are within their budgets.\n== skipped\n", done.stdout)

    def test_any_failed_run_is_an_exit_status_of_1(self):
        for part in ("--preset release -E", "measured_data", "--preset asan"):
            with self.subTest(failed=part):
                done, calls = self.run_script("scripts/test", fails=part)
                self.assertEqual((done.returncode, len(calls)), (1, 3))
                self.assertIn("67% tests passed, 1 tests failed out of 3", done.stdout.split("== skipped")[1])

    def test_a_failed_build_ends_before_its_tests(self):
        (self.clone / "scripts/build").write_text("#!/bin/bash\nexit 1\n")
        done, calls = self.run_script("scripts/test")
        self.assertEqual((done.returncode, calls), (1, []))
        self.assertIn("the release build failed", done.stderr)

    def test_ci_reads_the_tables_beside_the_repository_where_they_are(self):
        _, calls = self.run_script(".ci/run")
        self.assertTrue(calls[0].endswith("data="), calls[0])
        tables = self.clone.parent / "shared/data"
        tables.mkdir(parents=True)
        _, calls = self.run_script(".ci/run")
        self.assertTrue(calls[0].endswith(f"data={tables}"), calls[0])
        _, calls = self.run_script(".ci/run", C3SIM_DATA="/mine")
        self.assertTrue(calls[0].endswith("data=/mine"), calls[0])


if __name__ == "__main__":
    unittest.main()
