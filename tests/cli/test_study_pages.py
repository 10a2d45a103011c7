"""studies/*/README.md: what their tables call `here` or `now` is what `c3sim reproduce` prints today.

Those of studies that take minutes are checked in the whole size of this test. A study whose measured tables are missing is named.
"""

import os
import pathlib
import shutil
import tempfile
import unittest

from test_docs import SCRIPT, SOURCE, refresh_docs

WHOLE = ["--long"] if "C3SIM_WHOLE" in os.environ else []


class StudyPages(unittest.TestCase):
    def test_every_number_of_today_is_one_that_the_study_prints(self):
        done = refresh_docs("--check", "--studies", *WHOLE)
        print(*(line for line in done.stderr.splitlines() if line.startswith("skipped: ")), sep="\n")
        self.assertEqual(done.returncode, 0, done.stderr)


class Checks(unittest.TestCase):
    """On a page of its own, of a study that needs nothing."""

    def check(self, cell):
        with tempfile.TemporaryDirectory(prefix="c3sim pages ") as scratch:
            source = pathlib.Path(scratch)
            for folder in ("scripts", "studies/camping"):
                (source / folder).mkdir(parents=True)
            (source / "configs").symlink_to(SOURCE / "configs")
            shutil.copy(SCRIPT, source / "scripts/refresh_docs")
            page = source / "studies/camping/README.md"
            page.write_text(f"# Page\n`c3sim reproduce camping` does it.\n\n| figure | here | target |\n| --- | --- | --- |\n| a | {cell} | 99 |\n")
            return refresh_docs("--check", page, script=source / "scripts/refresh_docs")

    def test_a_number_that_is_not_printed_fails_and_one_that_is_rounded_passes(self):
        self.assertEqual(self.check("5,830; 35.6 % (before: 77777)").returncode, 0)
        done = self.check("5,831")
        self.assertEqual(done.returncode, 1)
        self.assertIn("studies/camping/README.md: a: 5831 is not what `c3sim reproduce camping` prints", done.stderr)


if __name__ == "__main__":
    unittest.main()
