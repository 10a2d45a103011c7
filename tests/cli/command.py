"""The c3sim command under test, for the scripts in this folder."""

import os
import pathlib
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["C3SIM_SOURCE"])
MAIN_JOB = SOURCE / "configs/experiments/c3_llama70b_mi300x.toml"
COMMAND = os.environ["C3SIM"]


def c3sim(*arguments, folder=None, preexec_fn=None):
    """Runs the command to its end, in `folder`."""
    return subprocess.run([COMMAND, *map(str, arguments)], cwd=folder, preexec_fn=preexec_fn,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)


def unseal(path):
    """Removes the checksum of a result file, as another program would have to that changes the file."""
    with open(path, "r+b") as file:
        file.write(bytes(512))


class ScratchTest(unittest.TestCase):
    """A test in an empty folder of its own."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="c3sim cli ")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def files(self):
        return sorted(str(path.relative_to(self.folder)) for path in self.folder.rglob("*") if path.is_file())

    def assert_one_line(self, done, code, pattern):
        """The command ended with `code` and said one line that matches `pattern`, on stderr only."""
        self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertRegex(done.stderr, pattern)
