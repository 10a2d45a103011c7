"""The main job's HDF5 file, read with h5py as a user would, says what the table says and adds up by itself."""

import csv
import functools
import hashlib
import io
import json
import pathlib
import re
import tempfile
import tomllib
import unittest

import h5py
import numpy as np

from command import MAIN_JOB, c3sim

PICOSECONDS = 1e6  # in a microsecond
ROUNDING = 2  # ps: two dates, each rounded to the nearest
GATHERED = 896 * 2**20  # bytes of the main job's all-gather
GPUS = 8


def columns(group):
    return {name: item for name, item in group.items() if isinstance(item, h5py.Dataset)}


def union(intervals):
    """Length of the union of (start, end) pairs."""
    total, reached = 0, -1
    for start, end in sorted(intervals):
        total += max(0, end - max(start, reached))
        reached = max(reached, end)
    return total


def use_of(resources, row):
    """Steps (time, used, capacity) of one resource; of equal times only the last holds."""
    steps = resources["steps"]
    mine = steps["resource"][:] == row
    time, used, capacity = (steps[name][:][mine] for name in ("time", "used", "capacity"))
    last = np.append(time[1:] != time[:-1], True) if len(time) else np.array([], bool)
    return time[last], used[last], capacity[last]


def for_each_strategy(test):
    """The test, once for every strategy: test(self, group of the file, row of the table)."""
    @functools.wraps(test)
    def all_strategies(self):
        for name, row in self.rows.items():
            with self.subTest(strategy=name):
                test(self, self.file["strategies"][name], row)
    return all_strategies


class MainJob(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(prefix="c3sim hdf5 ")
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        cls.path = cls.folder / "out/c3_llama70b_mi300x.h5"  # the default
        cls.arguments = ["run", MAIN_JOB, "--set", "measure.seeds=3", "--json", "-q"]
        done = c3sim(*cls.arguments, folder=cls.folder)
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        cls.table = json.loads(done.stdout)
        cls.rows = {row["strategy"]: row for row in cls.table["strategies"]}
        cls.file = h5py.File(cls.path)
        cls.addClassCleanup(cls.file.close)
        cls.names = cls.file["names"].asstr()[:]

    def each_group(self):
        groups = []
        self.file["strategies"].visititems(
            lambda _, item: groups.append(item) if isinstance(item, h5py.Group) and columns(item) else None)
        return groups

    # What the file says about itself

    def test_the_table_names_the_file_and_its_strategies(self):
        self.assertEqual(self.folder / self.table["output"], self.path)
        self.assertEqual(set(self.file["strategies"]), set(self.rows))
        self.assertEqual(len(self.rows), 7)

    def test_every_dataset_has_units_and_a_long_name(self):
        seen = []
        self.file.visititems(lambda name, item: seen.append((name, item.attrs)) if isinstance(item, h5py.Dataset) else None)
        self.assertGreater(len(seen), 7 * 20)
        for name, attributes in seen:
            self.assertTrue(attributes.get("units"), name)
            self.assertTrue(attributes.get("long_name"), name)

    def test_all_columns_of_a_table_have_one_length(self):
        self.assertEqual(len(self.each_group()), 7 * 8)
        for group in self.each_group():
            self.assertEqual(len({column.shape for column in columns(group).values()}), 1, group.name)

    @for_each_strategy
    def test_times_are_whole_picoseconds_and_kinds_are_enums(self, group, _):
        for name in ("start", "end"):
            self.assertEqual(group["activities"][name].dtype, np.int64)
            self.assertEqual(group["activities"][name].attrs["units"], "ps")
        for table in ("activities", "dependencies"):
            values = h5py.check_enum_dtype(group[table]["kind"].dtype).values()
            self.assertLessEqual(set(group[table]["kind"][:]), set(values))

    def test_every_number_of_a_name_is_in_names(self):
        self.assertEqual(len(set(self.names)), len(self.names))
        for group in self.each_group():
            for name, column in columns(group).items():
                if column.attrs.get("indexes") == "/names":
                    self.assertTrue((column[:] < len(self.names)).all(), f"{group.name}/{name}")

    def test_the_saved_configuration_is_the_one_that_was_hashed_and_runs_again_to_the_same_data(self):
        text = self.file.attrs["config_resolved"]
        self.assertEqual(hashlib.sha256(text.encode()).hexdigest(), self.file.attrs["config_sha256"])
        saved, again = self.folder / "saved.toml", self.folder / "again.h5"
        saved.write_text(text)
        done = c3sim("run", saved, "-q", "-o", again)
        self.assertEqual(done.returncode, 0, done.stderr)
        with h5py.File(again) as other:
            same = []

            def compare(name, item):
                if isinstance(item, h5py.Dataset):
                    self.assertTrue(np.array_equal(item[:], other[name][:]), name)
                    same.append(name)

            self.file.visititems(compare)
            self.assertGreater(len(same), 7 * 20)

    # What the tables say about each other

    @for_each_strategy
    def test_activities_are_numbered_once_and_end_after_they_start(self, group, _):
        activities = group["activities"]
        ids = activities["id"][:]
        self.assertEqual(len(set(ids)), len(ids))
        self.assertGreater(len(ids), 0)
        self.assertTrue((activities["start"][:] <= activities["end"][:]).all())
        self.assertLessEqual(set(activities["parent"][:]) - {0}, set(ids))

    @for_each_strategy
    def test_dependencies_join_activities_that_exist_and_go_forward_in_time(self, group, _):
        start, end = (dict(zip(group["activities"]["id"][:], group["activities"][name][:])) for name in ("start", "end"))
        kinds = h5py.check_enum_dtype(group["dependencies"]["kind"].dtype)
        # A child is launched while its parent runs, and slots are free before the last stores of a work group land.
        overlap = {kinds["launch"], kinds["slot"]}
        edges = list(zip(*(group["dependencies"][name][:].tolist() for name in ("successor", "predecessor", "kind"))))
        self.assertGreater(len(edges), 0)
        self.assertLessEqual({end_point for edge in edges for end_point in edge[:2]}, set(start))
        backward = [edge for edge in edges if start[edge[0]] < (start if edge[2] in overlap else end)[edge[1]]]
        self.assertEqual(backward, [])

    @for_each_strategy
    def test_no_resource_is_ever_used_beyond_its_capacity(self, group, _):
        resources = group["resources"]
        count = len(resources["list/name"])
        self.assertLess(max(resources["steps/resource"][:]), count)
        self.assertEqual(len(set(resources["list/name"][:])), count)
        for row in range(count):
            time, used, capacity = use_of(resources, row)
            self.assertTrue((np.diff(time) > 0).all())
            self.assertTrue((used <= capacity * (1 + 1e-9)).all(), self.names[resources["list/name"][row]])

    # What the tables and the printed table say about each other

    @for_each_strategy
    def test_the_last_activity_ends_at_the_time_of_the_table(self, group, row):
        self.assertAlmostEqual(max(group["activities/end"][:]), row["time_us"] * PICOSECONDS, delta=ROUNDING)

    @for_each_strategy
    def test_the_kernel_is_busy_as_long_as_the_table_says(self, group, row):
        activities = group["activities"]
        kind = h5py.check_enum_dtype(activities["kind"].dtype)["kernel"]
        gpu = activities["gpu"][:]
        mine = (activities["kind"][:] == kind) & (gpu == min(gpu[gpu >= 0]))
        busy = union(zip(activities["start"][:][mine].tolist(), activities["end"][:][mine].tolist()))
        self.assertAlmostEqual(busy, row["kernel"]["together_us"] * PICOSECONDS, delta=ROUNDING)

    @for_each_strategy
    def test_the_collective_takes_as_long_as_the_table_says(self, group, row):
        collectives = group["collectives"]
        time = collectives["end"][:] - collectives["start"][:]
        self.assertAlmostEqual(max(time), row["collective"]["together_us"] * PICOSECONDS, delta=ROUNDING)
        self.assertTrue(np.allclose(collectives["algbw"][:], GATHERED / (time * 1e-12), rtol=1e-9))
        self.assertTrue(np.allclose(collectives["busbw"][:], collectives["algbw"][:] * (GPUS - 1) / GPUS, rtol=1e-9))

    @for_each_strategy
    def test_the_links_of_a_gpu_carry_the_share_of_all_others(self, group, _):
        # Direct or ring, every GPU sends (n-1)/n of the gathered bytes; the library's protocol adds its own to them.
        backend = self.names[group["collectives/backend"][0]]
        configuration = tomllib.loads(self.file.attrs["config_resolved"])
        rates = (configuration["node"]["link_both_ways"], configuration["library"]["link_payload"])
        usable, payload = (float(rate["nominal"].removesuffix(" GB/s")) for rate in rates)
        expected = GATHERED * (GPUS - 1) / GPUS * (usable / payload if backend == "cu" else 1)
        resources = group["resources"]
        sent = 0.0
        for row, name in enumerate(self.names[resources["list/name"][:]]):
            if re.fullmatch(r"link0-\d", name):
                time, used, _ = use_of(resources, row)
                self.assertEqual(used[-1], 0)
                sent += np.dot(used[:-1], np.diff(time)) * 1e-12
        self.assertAlmostEqual(sent / expected, 1, delta=1e-6)

    @for_each_strategy
    def test_the_summary_is_the_row_of_the_table_and_what_is_absent_is_absent(self, group, row):
        flat = {"time": "time_us", "time_p5": "time_p5_us", "time_p95": "time_p95_us", "lower_bound": "lower_bound_us"}
        expected = {column: row[key] * PICOSECONDS for column, key in flat.items() if row[key] is not None}
        expected.update({key: row[key] for key in ("speedup", "ideal_speedup")})
        expected.update({key: row[key] for key in ("share_of_ideal", "best_cus") if row.get(key) is not None})
        for side in ("kernel", "collective"):
            expected.update({f"{side}_{when}": row[side][f"{when}_us"] * PICOSECONDS for when in ("alone", "together")})
        expected.update({f"loss_{part}": us * PICOSECONDS for part, us in (row["loss_us"] or {}).items()})
        summary = {name: column[:].tolist() for name, column in columns(group["summary"]).items()}
        self.assertEqual(set(summary), set(expected))
        for name, value in expected.items():
            self.assertEqual(len(summary[name]), 1)
            self.assertAlmostEqual(summary[name][0], value, delta=max(1, abs(value) * 1e-12), msg=name)

    # What inspect says about the file

    def test_inspect_exports_the_same_rows(self):
        text = c3sim("inspect", self.path, "--strategy", "dma", "--table", "activities", "--csv").stdout
        rows = list(csv.DictReader(io.StringIO(text)))
        activities = self.file["strategies/dma/activities"]
        self.assertEqual([int(row["start_ps"]) for row in rows], activities["start"][:].tolist())
        self.assertEqual([float(row["bytes_B"]) for row in rows], activities["bytes"][:].tolist())
        self.assertEqual([row["name"] for row in rows], self.names[activities["name"][:]].tolist())
        self.assertEqual({row["strategy"] for row in rows}, {"dma"})

    def test_inspect_overview_names_every_strategy_and_its_time(self):
        text = c3sim("inspect", self.path).stdout
        overview = json.loads(c3sim("inspect", self.path, "--json").stdout)
        self.assertEqual([entry["strategy"] for entry in overview["strategies"]], list(self.rows))
        for entry in overview["strategies"]:
            time = self.rows[entry["strategy"]]["time_us"]
            self.assertAlmostEqual(entry["time_ps"], time * PICOSECONDS, delta=ROUNDING)
            self.assertIn(f"\n{entry['strategy']}: {entry['time_ps'] / PICOSECONDS:.2f} us\n", text)
            self.assertTrue(all(0 <= use <= 1 + 1e-9 for use in entry["mean_use"].values()))

    def test_an_unknown_strategy_is_a_usage_error_with_a_suggestion(self):
        done = c3sim("inspect", self.path, "--strategy", "dme")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertRegex(done.stderr, r"^c3sim: unknown strategy 'dme'; did you mean 'dma'\? known: .*\n$")


if __name__ == "__main__":
    unittest.main()
