"""The page of a sweep shows what is in the merged table: true to its numbers, and to what is missing in it."""

import csv
import math
import pathlib
import re
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree

import h5py
import numpy

from command import COMMAND, ScratchTest, c3sim, unseal
from test_report import Balance, contrast
from test_sweep import POINTS, STEP, SWEEP

BACKEND = "strategy.partitioned.comm.backend"
STRATEGIES = ("cu", "partitioned")
PARETO = ("--pareto", "cus,collective_together")
MANY = 300  # values of each of two keys


def page_of(path):
    return xml.etree.ElementTree.fromstring(path.read_text().removeprefix("<!DOCTYPE html>\n"))


def words(element):
    return "".join(element.itertext())


def cells(section, css_class):
    """Rows of a table, by column."""
    table = next(table for table in section.iter("table") if css_class in table.get("class").split())
    header = [words(cell) for cell in table.findall("thead/tr/th")]
    return [dict(zip(header, (words(cell) for cell in row))) for row in table.find("tbody")]


def shown(value):
    """As the page writes a ratio: four digits, no zeros at the end."""
    return f"{value:.{max(0, 3 - math.floor(math.log10(abs(value))))}f}".rstrip("0").rstrip(".")


class Pages(ScratchTest):
    def merged(self, text, name="sweep", code=0):
        (self.folder / f"{name}.toml").write_text(text)
        c3sim("sweep", self.folder / f"{name}.toml", "-q", "-o", self.folder / name)
        done = c3sim("merge", "-q", self.folder / name, "--csv")
        self.assertEqual(done.returncode, code, done.stderr)
        with open(self.folder / f"{name}.csv", newline="") as file:
            return self.folder / f"{name}.h5", list(csv.DictReader(file))

    def page(self, path, *options):
        done = c3sim("report", "-q", path, *options)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        root = page_of(path.with_suffix(".html"))
        return {"root": root, **{section.get("id"): section for section in root.iter("section")}}


class SweepPage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(prefix="c3sim sweep page ")
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        cls.maker = Pages()
        cls.maker.folder = cls.folder
        cls.path, cls.rows = cls.maker.merged(SWEEP)
        cls.page = cls.maker.page(cls.path, *PARETO)
        cls.text = cls.path.with_suffix(".html").read_text()

    def test_it_is_a_whole_page_without_scripts_or_network(self):
        balance = Balance()
        balance.feed(self.text)
        self.assertEqual((balance.open, balance.tags["script"]), ([], 0))
        self.assertEqual(len(balance.ids), len(set(balance.ids)))
        for pattern in (r"https?:", r"\bsrc=", r"\bhref=", r"url\(", "@import", r"\bnan\b", r"\binf\b"):
            self.assertNotRegex(self.text, pattern)
        for svg in self.page["root"].iter("svg"):
            self.assertEqual(svg.get("role"), "img")
        self.assertEqual(list(self.page), ["root", "best", "lines", "heat", "pareto", "points", "provenance"])
        self.assertEqual(c3sim("report", "-q", self.path, *PARETO, "-o", self.folder / "again.html").returncode, 0)
        self.assertEqual((self.folder / "again.html").read_text(), self.text)

    def test_the_head_says_what_was_swept_and_how_to_do_it_again(self):
        head = words(self.page["root"].find(".//header"))
        self.assertIn(f"{POINTS} points, {POINTS} ok", head)
        for text in ("1 MiB, 2 MiB, 4 MiBgiven", "8, 16, 24, 32a choice", "cu, dmaa choice", "c3sim sweep "):
            self.assertIn(text, head)

    def test_the_best_points_are_those_of_the_table(self):
        best = {row["number"]: row for row in cells(self.page["best"], "by-number")}
        points = [(row, strategy) for row in self.rows for strategy in STRATEGIES]
        for column, pick, unit in (("speedup", max, ""), ("time_us", min, " us")):
            row, strategy = pick(points, key=lambda point: float(point[0][f"{point[1]}.{column}"]))
            said = best[column.removesuffix("_us")]
            self.assertEqual((said["value"], said["strategy"]), (shown(float(row[f"{strategy}.{column}"])) + unit, strategy))
        self.assertEqual(best["speedup"]["best is"], "the largest")
        self.assertIn("serial time over time", best["speedup"]["is"])
        for row in cells(self.page["best"], "for-each"):
            of_size = [row_ for row_ in self.rows if f"{float(row_['size_B']) / 2**20:g} MiB" == row["size"]]
            largest = max(float(row_[f"{s}.speedup"]) for row_ in of_size for s in STRATEGIES)
            smallest = min(float(row_[f"{s}.speedup"]) for row_ in of_size for s in STRATEGIES)
            self.assertEqual((row["speedup"], row["worst speedup"]), (shown(largest), shown(smallest)))

    def test_a_command_on_the_page_runs_the_point_it_stands_beside(self):
        table = next(table for table in self.page["best"].iter("table") if "few" in table.get("class"))
        row = table.find("tbody/tr")
        command = row.find(".//code").text
        [point] = [point for point in self.rows if point["command"] == command]
        best = max(float(point[f"{strategy}.speedup"]) for point in self.rows for strategy in STRATEGIES)
        self.assertEqual(max(float(point["cu.speedup"]), float(point["partitioned.speedup"])), best)

    def test_lines_have_a_dot_for_every_point_that_says_its_number(self):
        titles = [circle.find("title").text for circle in self.page["lines"].iter("circle")]
        self.assertEqual(len(titles), 2 * POINTS)  # two strategies
        expected = sorted(shown(float(row[f"{strategy}.speedup"])) for row in self.rows for strategy in STRATEGIES)
        self.assertEqual(sorted(re.match(r"speedup: (\S+)\n", title).group(1) for title in titles), expected)

    def test_a_dot_is_where_its_axes_say(self):
        for figure in self.page["lines"].iter("figure"):
            ticks = [(float(text.get("y")) - 4, float(text.text)) for text in figure.iter("text") if text.get("class") == "tick-y"]
            (y0, low), (y1, high) = ticks[0], ticks[-1]
            across = {text.text: float(text.get("x")) for text in figure.iter("text") if text.get("class") == "tick-x"}
            for circle in figure.iter("circle"):
                value = float(re.match(r"speedup: (\S+)\n", circle.find("title").text).group(1))
                self.assertAlmostEqual(float(circle.get("cy")), y0 + (value - low) / (high - low) * (y1 - y0), delta=0.2)
                cus = re.search(r"cus (\d+)", circle.find("title").text).group(1)
                self.assertAlmostEqual(float(circle.get("cx")), across[cus], delta=0.01)

    def test_a_heat_map_has_a_cell_for_every_point(self):
        filled = [cell for cell in self.page["heat"].iter("td") if "heat" in cell.get("class").split()]
        empty = [cell for cell in self.page["heat"].iter("td") if cell.get("class") == "none"]
        self.assertEqual((len(filled), len(empty)), (2 * POINTS, 2 * 2))
        for cell in filled:
            back, ink = re.match(r"background:(#\w{6});color:#(\w)\w\w", cell.get("style")).groups()
            self.assertGreaterEqual(contrast(back, "#" + 6 * ink), 4.5)
            self.assertTrue(cell.get("title").startswith(f"speedup: {cell.text} "), cell.get("title"))

    def test_points_on_the_front_are_not_beaten(self):
        table = cells(self.page["points"], "all")
        for row in cells(self.page["pareto"], "points"):
            same = [other for other in table if other["size"] == row["size"]]
            self.assertTrue(same)
            for other in same:
                less = [float(other[column]) - float(row[column]) for column in ("cus", "collective_together [us]")]
                self.assertFalse(max(less) <= 0 and min(less) < 0, (row, other))

    def test_the_whole_table_has_every_point_and_strategy(self):
        table = cells(self.page["points"], "all")
        self.assertEqual(len(table), 2 * POINTS)
        expected = [(f"{float(row['size_B']) / 2**20:g} MiB", row["cus"], row[BACKEND], strategy, shown(float(row[f"{strategy}.speedup"])))
                    for row in self.rows for strategy in STRATEGIES]
        self.assertEqual([(row["size"], row["cus"], row[BACKEND], row["strategy"], row["speedup"]) for row in table], expected)

    def test_the_command_under_a_plot_makes_it(self):
        for section in ("lines", "heat", "pareto"):
            command = self.page[section].find("p[@class='command']/code").text
            self.assertIn("c3sim report ", command)
            out = self.folder / f"{section}.html"
            subprocess.run(["sh", "-c", f"{command.replace('c3sim', COMMAND, 1)} -q -o '{out}'"], check=True, cwd=self.folder)
            again = next(part for part in page_of(out).iter("section") if part.get("id") == section)
            self.assertEqual(xml.etree.ElementTree.tostring(again), xml.etree.ElementTree.tostring(self.page[section]))


class OtherSweeps(Pages):
    def test_over_seeds_the_median_of_each_point_with_a_band(self):
        path, rows = self.merged(SWEEP.replace('["cu", "dma"]', '["cu"]').replace("[sweep]\n", "[sweep]\nseeds = 4\n"))
        page = self.page(path)
        self.assertIn(f"({len(rows) // 4} combinations, 4 seeds)", words(page["root"].find(".//header")))
        self.assertEqual(len(list(page["lines"].iter("circle"))), 2 * len(rows) // 4)
        bands = [part for part in page["lines"].iter("path") if part.get("class") == "band"]
        self.assertEqual(len(bands), len([part for part in page["lines"].iter("g")]))
        for row in cells(page["points"], "all"):
            values = sorted(float(point[f"{row['strategy']}.speedup"]) for point in rows
                            if point["cus"] == row["cus"] and f"{float(point['size_B']) / 2**20:g} MiB" == row["size"])
            self.assertEqual(row["speedup"], shown(values[1]))  # the lower of two in the middle

    def test_failed_and_missing_points_are_said_and_never_drawn(self):
        path, _ = self.merged(SWEEP.replace("{ from = 8, to = 32, step = 8 }", "[8, 12, 16]"), code=5)
        unseal(path)
        with h5py.File(path, "a") as file:
            status = file["points/status"].asstr()[:]
            gone = list(status).index("ok")
            file["points/status"][gone] = "missing"
            for name, column in file["points"].items():
                if "." in name and column.dtype.kind == "f":
                    column[gone] = numpy.nan
        page = self.page(path)
        head = words(page["root"].find(".//header"))
        self.assertRegex(head, r"18 points, 11 ok, 6 failed, 1 missing")
        hatched = [cell.text for cell in page["heat"].iter("td") if "hatched" in cell.get("class").split()]
        self.assertEqual((hatched.count("failed"), hatched.count("missing")), (12, 2))  # under two strategies
        titles = [circle.find("title").text for circle in page["lines"].iter("circle")]
        self.assertEqual(len(titles), 2 * 11)
        rows = cells(page["failures"], "failures")
        self.assertEqual([(row["points"], row["status"]) for row in rows], [("1", "missing"), ("6", "failed")])
        self.assertIn("12 is not a multiple of 8", rows[1]["why"])
        self.assertEqual(rows[1]["the first of them"], "cu, size 1 MiB, cus 12")
        self.assertNotRegex(words(page["root"]), r"speedup: 0\n")

    def test_out_of_memory_is_a_result_without_a_time(self):
        path, _ = self.merged(STEP)
        page = self.page(path, "--y", "tokens_per_second")
        self.assertIn("1 out of memory", words(page["root"].find(".//header")))
        self.assertRegex(cells(page["failures"], "failures")[0]["why"], r"of 1\d\.\d GB, at '.*'")

    def test_texts_make_bars(self):
        text = SWEEP.replace("{ from = 8, to = 32, step = 8 }", "[16]").replace('{ from = "1 MiB", to = "4 MiB", factor = 2 }', '["4 MiB"]')
        path, rows = self.merged(text)
        page = self.page(path, "--x", BACKEND, "--y", "time")
        self.assertNotIn("lines", page)
        bars = [rect for rect in page["bars"].iter("rect")]
        widths = [float(rect.get("width")) for rect in bars]
        times = [float(row[f"{strategy}.time_us"]) for row in rows for strategy in STRATEGIES]
        for width, time in zip(widths, times, strict=True):
            self.assertAlmostEqual(width, 1200 * time / max(times), delta=0.02)

    def test_one_point_and_no_number_at_all_still_make_a_page(self):
        text = SWEEP.replace("{ from = 8, to = 32, step = 8 }", "[16]").replace('["cu", "dma"]', '["cu"]').replace(
            '{ from = "1 MiB", to = "4 MiB", factor = 2 }', '["4 MiB"]')
        path, _ = self.merged(text)
        page = self.page(path)
        self.assertEqual(len(list(page["bars"].iter("rect"))), 2)
        unseal(path)
        with h5py.File(path, "a") as file:
            file["points/status"][0] = "failed"
            file["points/error"][0] = "a <b> & c"
            for name in [name for name, column in file["points"].items() if "." in name and column.dtype.kind == "f"]:
                del file["points"][name]
        page = self.page(path)
        self.assertEqual(list(page), ["root", "failures", "points", "provenance"])
        self.assertIn("there is nothing to draw", words(page["root"].find(".//header")))
        self.assertIn("a <b> & c", words(page["failures"]))

    def test_a_large_sweep_makes_a_small_page_that_says_what_it_leaves_out(self):
        path = self.folder / "large.h5"
        a, b = (grid.ravel() for grid in numpy.meshgrid(numpy.arange(MANY), numpy.arange(MANY), indexing="ij"))
        with h5py.File(path, "w", track_order=True) as file:
            file.attrs.update({"schema": "c3sim.sweep", "schema_version": "1.0.0", "experiment": "large", "axes": numpy.uint64(2)})
            points = file.create_group("points", track_order=True)
            columns = {"id": ["id"] * len(a), "a": a, "b": b, "status": ["ok"] * len(a), "error": [""] * len(a),
                       "s.time": 1.0 + a + 2.0 * b, "s.memory_peak": 1e9 + 1e6 * (a * b % 997), "command": ["c3sim run x.toml " + "y" * 200] * len(a)}
            for name, values in columns.items():
                column = points.create_dataset(name, data=values, dtype=h5py.string_dtype() if isinstance(values[0], str) else None)
                column.attrs.update({"units": "us" if name == "s.time" else "1", "long_name": name})
        page = self.page(path)
        self.assertLess(path.with_suffix(".html").stat().st_size, 5e6)
        notes = [words(note) for section in ("lines", "heat", "points") for note in page[section].iter("p")
                 if "left-out" in note.get("class")]
        for note in ("12 of 300 combinations", "32 of 300 values of a", "of 90000 rows"):
            self.assertTrue(any(note in text for text in notes), (note, notes))

    def test_a_key_that_is_chosen_is_no_longer_given(self):
        path, _ = self.merged(SWEEP)
        self.assertIn("for each", "".join(self.page(path)["best"].itertext()))
        page = self.page(path, "--choose", "size")
        self.assertNotIn("for each", "".join(page["best"].itertext()))
        roles = {row.find("th").text: "".join(row.findall("td")[1].itertext())
                 for row in page["root"].find(".//header").iter("tr") if row.findall("td")}
        self.assertEqual(roles["size"], "a choice: how it is run")
        self.assert_one_line(c3sim("report", path, "--choose", "size", "--for-each", "size"), 2,
                             "--choose and --for-each: 'size' cannot be in both")

    def test_only_keeps_the_points_with_a_value(self):
        path, rows = self.merged(SWEEP)
        page = self.page(path, "--only", "size=4 MiB", "--only", "cus=8", "--only", "cus=16")
        kept = [row for row in rows if float(row["size_B"]) == 4 * 2**20 and row["cus"] in ("8", "16")]
        self.assertEqual(len(cells(page["points"], "all")), 2 * len(kept))

    def test_what_a_sweep_does_not_have_is_a_usage_error(self):
        path, _ = self.merged(SWEEP)
        run = self.folder / "run.h5"
        self.assertEqual(c3sim("run", self.folder / "sweep.toml", "-q", "-o", run).returncode, 0)
        for arguments, reason in (((path, "--x", "cuss"), "unknown swept key 'cuss'.*did you mean 'cus'"),
                                  ((path, "--y", "speedupp"), "unknown metric 'speedupp'.*did you mean 'speedup'"),
                                  ((path, "--strategies", "cuu"), "unknown strategy 'cuu'"),
                                  ((path, "--heat", "cus"), "--heat: two different names"),
                                  ((path, "--pareto", "time,tim"), "unknown metric 'tim'"),
                                  ((path, "--only", "cus=9"), "unknown value of cus '9'; known: 8, 16"),
                                  ((path, "--only", "cus"), "--only: 'cus' is not KEY=VALUE"),
                                  ((path, "--only", "=8"), "--only: '=8' is not KEY=VALUE"),
                                  ((path, "--x", "cus", "--series", "cus"), "two different keys"),
                                  ((path, run), "a sweep has a page of its own"),
                                  ((run, "--x", "cus"), "--x is for a file of c3sim merge")):
            with self.subTest(arguments=arguments[1:]):
                self.assert_one_line(c3sim("report", *arguments, "-o", self.folder / "x.html"), 2, rf"^c3sim: .*{reason}")
        self.assertNotIn("x.html", self.files())


if __name__ == "__main__":
    unittest.main()
