"""What a file of somebody else says reaches the terminal as one short line of printable characters."""

import unittest

import h5py
from command import ScratchTest, c3sim, unseal
from test_robust_files import EXPERIMENT

NASTY = "\x1b]0;owned\x07\x1b[31mred\x7f\u009b2J"
LONG = "x" * 100_000


class ForeignText(ScratchTest):
    def setUp(self):
        super().setUp()
        (self.folder / "e.toml").write_text(EXPERIMENT.replace("seeds = 2", "seeds = 1"))
        self.assertEqual(c3sim("run", "e.toml", "-o", "r.h5", "-q", folder=self.folder).returncode, 0)
        (self.folder / "o.h5").write_bytes((self.folder / "r.h5").read_bytes())

    def rewrite(self, **attributes):
        unseal(self.folder / "r.h5")
        with h5py.File(self.folder / "r.h5", "r+") as file:
            for name, text in attributes.items():
                if name in file.attrs:
                    file.attrs.modify(name, text)
                else:
                    file.attrs[name] = text

    def assert_clean(self, *words):
        done = c3sim(*words, folder=self.folder)
        for text in (done.stdout, done.stderr):
            self.assertEqual([c for c in text if not c.isprintable() and c != "\n"], [], words)
            self.assertLess(max(map(len, text.split("\n"))), 2100, words)
        return done

    def test_in_tables_and_attributes(self):
        for text in (NASTY, LONG, NASTY + LONG):
            self.rewrite(system=text, gpu=text, experiment=text, incomplete=text, missing_strategies=text)
            self.assertEqual(self.assert_clean("diff", "r.h5", "o.h5", "--check").returncode, 1)
            self.assertEqual(self.assert_clean("inspect", "r.h5").returncode, 0)
            self.assertEqual(self.assert_clean("report", "r.h5", "o.h5").returncode, 0)

    def test_in_names_of_strategies(self):
        unseal(self.folder / "r.h5")
        with h5py.File(self.folder / "r.h5", "r+") as file:
            file["strategies"].move("dma", NASTY)
        self.assert_clean("diff", "r.h5", "o.h5")
        self.assert_clean("inspect", "r.h5")
        self.assertEqual(self.assert_clean("inspect", "r.h5", "--strategy", "dma").returncode, 2)
        self.assertEqual(self.assert_clean("inspect", "r.h5", "--table", "activities").returncode, 0)

    def test_in_error_messages(self):
        for text in (NASTY, "1." + LONG):
            self.rewrite(schema_version="9" + text)
            self.assertEqual(self.assert_clean("report", "r.h5").returncode, 74)
        (self.folder / "e.toml").write_text(EXPERIMENT + '"\\u001b[31m' + "y" * 5000 + '" = 1\n')
        self.assertEqual(self.assert_clean("run", "e.toml").returncode, 3)


if __name__ == "__main__":
    unittest.main()
