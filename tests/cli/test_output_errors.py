"""A result that cannot be written is one clear line and exit code 74, and no file is left under any name.

Root may write into folders that chmod protects, so a read-only place is /proc, and a full disk is a file size limit.
"""

import os
import resource
import signal
import subprocess
import time
import unittest

from command import COMMAND, MAIN_JOB, ScratchTest, c3sim

QUICK = ["--set", "measure.seeds=1", "--set", "measure.loss_split=false"]


def limit_file_size(size):
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


class OutputErrors(ScratchTest):
    def run_to(self, output, **options):
        return c3sim("run", MAIN_JOB, *QUICK, "-o", output, folder=self.folder, **options)

    def test_a_folder_that_is_not_there(self):
        self.assert_one_line(self.run_to("no/such/run.h5"), 74,
                             r"^c3sim: no/such/run\.h5: cannot create: No such file or directory$")
        self.assertEqual(self.files(), [])

    def test_a_folder_that_nobody_may_write_to(self):
        self.assert_one_line(self.run_to("/proc/run.h5"), 74, r"^c3sim: /proc/run\.h5: cannot create: ")

    def test_a_folder_that_the_user_may_not_write_to(self):
        if os.geteuid() == 0:
            self.skipTest("root may write anywhere")
        self.folder.chmod(0o555)
        self.assert_one_line(self.run_to("run.h5"), 74, r"^c3sim: run\.h5: cannot create: Permission denied$")

    def test_a_target_that_is_a_folder(self):
        (self.folder / "results").mkdir()
        self.assert_one_line(self.run_to("results"), 74, r"^c3sim: results: cannot write: Is a directory$")
        self.assertEqual(self.files(), [])

    def test_a_target_that_is_a_device_stays_one(self):
        self.assert_one_line(self.run_to("/dev/null"), 74, r"^c3sim: /dev/null: .*not a regular file$")
        self.assertFalse(os.path.isfile("/dev/null"))

    def test_a_default_folder_that_is_a_file(self):
        (self.folder / "out").write_text("mine")
        done = c3sim("run", MAIN_JOB, *QUICK, folder=self.folder)
        self.assert_one_line(done, 74, r"^c3sim: .*out")
        self.assertEqual((self.folder / "out").read_text(), "mine")

    def test_messages_come_behind_what_was_printed_before_them(self):
        done = subprocess.run([COMMAND, "run", MAIN_JOB, *QUICK, "-o", "run.h5"], cwd=self.folder, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=True)
        lines = done.stdout.splitlines()
        self.assertIn("wrote run.h5; look into it with: c3sim inspect run.h5", lines)
        first = next(i for i, line in enumerate(lines) if line.startswith("strategy "))
        self.assertLess(first, lines.index("wrote run.h5; look into it with: c3sim inspect run.h5"))

    def test_a_full_disk_at_any_moment_leaves_nothing(self):
        for size in (0, 1000, 20_000, 60_000):
            with self.subTest(bytes=size):
                self.assert_one_line(self.run_to("run.h5", preexec_fn=limit_file_size(size)), 74,
                                     r"^c3sim: run\.h5: cannot [a-z ']+: File too large$")
                self.assertEqual(self.files(), [])

    def test_a_full_disk_leaves_the_older_result_as_it_was(self):
        older = "c3sim result file, sealed. older"
        (self.folder / "run.h5").write_text(older)
        self.assertEqual(self.run_to("run.h5", preexec_fn=limit_file_size(20_000)).returncode, 74)
        self.assertEqual(self.files(), ["run.h5"])
        self.assertEqual((self.folder / "run.h5").read_text(), older)

    def test_a_full_standard_output_is_an_error(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run([COMMAND, "version"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, 74)
        self.assertEqual(done.stderr, "c3sim: standard output: No space left on device\n")

    def test_ctrl_c_ends_the_run_with_130_and_leaves_nothing(self):
        command = [COMMAND, "run", str(MAIN_JOB), "--set", "measure.seeds=1000", "-o", "run.h5"]
        with subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True) as process:
            self.wait_for_file(process)
            time.sleep(0.3)  # into the simulation
            self.assertIsNone(process.poll(), "the run ended before it could be interrupted")
            process.send_signal(signal.SIGINT)
            stdout, stderr = process.communicate(timeout=20)
        self.assertEqual((process.returncode, stdout), (130, ""), stderr)
        self.assertEqual(stderr, "c3sim: interrupted before the first of 7 strategies was finished, nothing was written\n")
        self.assertEqual(self.files(), [])

    def wait_for_file(self, process):
        """The temporary file appears before the first simulated run."""
        deadline = time.monotonic() + 10
        while self.files() == [] and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertRegex(" ".join(self.files()), r"^run\.h5\.c3sim-[0-9a-f]{8}-0\.tmp$")


class InputErrors(ScratchTest):
    def test_what_is_not_a_result_file_is_refused(self):
        text, folder, missing = self.folder / "notes.h5", self.folder / "folder", self.folder / "missing.h5"
        text.write_text("not HDF5\n" * 1000)
        folder.mkdir()
        for path, reason in ((text, "file signature not found"), (folder, "Is a directory"),
                             (missing, "No such file or directory")):
            with self.subTest(path=path.name):
                self.assert_one_line(c3sim("inspect", path), 74, rf"^c3sim: .*{path.name}: cannot .*: {reason}$")

    def test_a_truncated_result_is_refused(self):
        whole = self.folder / "run.h5"
        self.assertEqual(c3sim("run", MAIN_JOB, *QUICK, "-q", "-o", whole).returncode, 0)
        content = whole.read_bytes()
        for share in (0.1, 0.5, 0.99):
            with self.subTest(share=share):
                whole.write_bytes(content[:int(len(content) * share)])
                self.assert_one_line(c3sim("inspect", whole), 74, r"^c3sim: .*run\.h5: cannot open as HDF5: truncated file")


if __name__ == "__main__":
    unittest.main()
