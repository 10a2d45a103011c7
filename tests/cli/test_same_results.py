"""scripts/same_results finds what differs in two folders of results, and nothing else."""

import json
import pathlib
import sys
import tempfile
import unittest

import h5py
import numpy as np

from command import SOURCE

sys.path.insert(0, str(SOURCE / "tests/same_results"))

from cases import shipped_cases  # noqa: E402
from compare import compare_files  # noqa: E402


class Comparison(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="c3sim same results ")
        self.addCleanup(scratch.cleanup)
        self.before, self.after = (pathlib.Path(scratch.name) / name for name in ("before", "after"))
        for folder in (self.before, self.after):
            folder.mkdir()
            self.write(folder)

    @staticmethod
    def write(folder, time=1.5, names=("a", "b"), column=(1.0, 2.0), date="today", extra=None):
        (folder / "stdout.json").write_text(json.dumps({"time_us": time, "date": date, **(extra or {})}) + "\nplain words\n")
        with h5py.File(folder / "run.h5", "w") as file:
            file.attrs["git_commit"] = date
            file["names"] = [name.encode() for name in names]
            file["strategies/x/bytes"] = np.array(column)
            file["strategies/x/name"] = np.array([names.index("b")])
            file["strategies/x/name"].attrs["indexes"] = "/names"

    def compare(self, **after):
        self.write(self.after, **after)
        differences, new = compare_files(self.before, self.after)
        return [difference.where for difference in differences], new

    def test_equal_results_are_equal_whatever_the_date_and_the_order_of_names(self):
        self.assertEqual(self.compare(), ([], set()))
        self.assertEqual(self.compare(date="tomorrow", names=("b", "a")), ([], set()))

    def test_the_last_bit_of_a_number_is_a_difference(self):
        self.assertEqual(self.compare(time=np.nextafter(1.5, 2))[0], ["stdout.json .time_us"])
        self.assertEqual(self.compare(column=(1.0, np.nextafter(2.0, 3)))[0], ["run.h5 strategies/x/bytes"])
        self.assertEqual(self.compare(names=("a", "c", "b"))[0], [])
        self.assertEqual(self.compare(column=(1.0,))[0], ["run.h5 strategies/x/bytes"])

    def test_figures_are_known_by_their_names_wherever_they_stand(self):
        one, two = {"id": "one", "value": 1}, {"id": "two", "value": 2}
        self.write(self.before, extra={"figures": [one, two]})
        self.assertEqual(self.compare(extra={"figures": [two, one]}), ([], set()))
        self.assertEqual(self.compare(extra={"figures": [{**two, "value": 1}, one]})[0],
                         ["stdout.json .figures[two].value"])

    def test_what_is_new_is_named_and_what_is_lost_is_a_difference(self):
        self.assertEqual(self.compare(extra={"more": 1}), ([], {".more"}))
        (self.after / "more.json").write_text("{}")
        self.assertEqual(compare_files(self.before, self.after)[1], {".more", "more.json"})
        (self.after / "run.h5").unlink()
        self.assertEqual([d.where for d in compare_files(self.before, self.after)[0]], ["run.h5"])

    def test_every_shipped_experiment_is_a_case(self):
        names = [case.name for case in shipped_cases(SOURCE, SOURCE / "no data", whole=True)]
        self.assertEqual(len(names), len(set(names)))
        for file in (SOURCE / "configs/experiments").rglob("*.toml"):
            self.assertTrue(any(file.stem.removeprefix("sweep_") in name for name in names), file)
        self.assertIn("study_t3", names)


if __name__ == "__main__":
    unittest.main()
