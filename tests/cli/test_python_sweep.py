"""results/python reads what `c3sim merge` wrote, and draws it."""

import csv
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from command import SOURCE, c3sim
from test_sweep import POINTS, SWEEP

TOOLS = SOURCE / "results/python"
sys.path.insert(0, str(TOOLS))
from c3sim_results import Run, Sweep  # noqa: E402
import plot_sweep  # noqa: E402

import matplotlib.image  # noqa: E402
import numpy  # noqa: E402

BACKEND = "strategy.partitioned.comm.backend"


def plot(*arguments):
    return subprocess.run([sys.executable, "-B", TOOLS / "plot_sweep.py", *map(str, arguments)],
                          env={**os.environ, "MPLCONFIGDIR": tempfile.gettempdir()}, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, check=False)


class PythonSweep(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(prefix="c3sim python ")
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        cls.path = cls.sweep("whole", SWEEP)

    @classmethod
    def sweep(cls, name, text):
        (cls.folder / f"{name}.toml").write_text(text)
        c3sim("sweep", cls.folder / f"{name}.toml", "-q", "-o", cls.folder / name)
        done = c3sim("merge", "-q", cls.folder / name, "--csv")
        assert done.returncode in (0, 5), done.stderr
        return cls.folder / f"{name}.h5"

    def figure(self, path, *arguments):
        """What is drawn, before it is a picture."""
        options = plot_sweep.parse_arguments([str(path), *arguments])
        sweep = Sweep(path)
        figure = plot_sweep.draw(sweep, plot_sweep.chosen_points(sweep, options), options)
        self.addCleanup(plot_sweep.pyplot.close, figure)
        return [axes for axes in figure.axes if axes.get_visible()], figure

    def test_points_are_those_of_the_csv_with_keys_and_units(self):
        sweep = Sweep(self.path)
        with open(self.path.with_suffix(".csv"), newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual((sweep.keys, len(sweep.points)), ([BACKEND, "size", "cus"], POINTS))
        self.assertEqual(sweep.points["partitioned.time"].tolist(), [float(row["partitioned.time_us"]) for row in rows])
        self.assertEqual(sweep.points.command.tolist(), [row["command"] for row in rows])
        self.assertEqual((sweep.units["size"], sweep.units["partitioned.time"], sweep.units["cus"]), ("B", "us", "1"))

    def test_a_file_of_the_other_kind_is_refused(self):
        with self.assertRaisesRegex(ValueError, "not a result file of c3sim run"):
            Run(self.path)

    def test_lines_go_through_the_points_with_units_on_the_axes(self):
        axes, _ = self.figure(self.path, "--x", "cus", "--y", "partitioned.time", "--series", BACKEND)
        self.assertEqual([plot.get_title(loc="left") for plot in axes], ["size 1 MiB", "size 2 MiB", "size 4 MiB"])
        self.assertEqual((axes[0].get_ylabel(), axes[0].get_xlabel()), ("partitioned.time [us]", "cus"))
        points = Sweep(self.path).points
        for plot, size in zip(axes, (1, 2, 4)):
            self.assertEqual([line.get_label() for line in plot.lines], ["cu", "dma"])
            for line in plot.lines:
                wanted = points[(points["size"] == size * 2**20) & (points[BACKEND] == line.get_label())]
                numpy.testing.assert_allclose(line.get_ydata(), wanted["partitioned.time"])
                numpy.testing.assert_array_equal(line.get_xdata(), wanted.cus)

    def test_over_seeds_the_line_is_the_median_and_the_band_from_least_to_largest(self):
        path = self.sweep("seeds", SWEEP.replace('["cu", "dma"]', '["cu"]').replace("[sweep]\n", "[sweep]\nseeds = 3\n"))
        [plot], _ = self.figure(path, "--x", "cus", "--y", "cu.kernel_together", "--where", "size == 4194304")
        points = Sweep(path).points.query("size == 4194304")
        spread = points.groupby("cus")["cu.kernel_together"]
        numpy.testing.assert_allclose(plot.lines[0].get_ydata(), spread.median())
        [band] = plot.collections
        low, high = band.get_datalim(plot.transData).intervaly
        numpy.testing.assert_allclose((low, high), (spread.min().min(), spread.max().max()))

    def test_gains_are_over_the_line_of_one_value_at_the_same_other_keys(self):
        axes, _ = self.figure(self.path, "--x", "cus", "--y", "partitioned.time", "--series", BACKEND, "--gain-over", "cu")
        self.assertEqual(axes[0].get_ylabel(), "partitioned.time: gain over cu [%]")
        points = Sweep(self.path).points
        for plot, size in zip(axes, (1, 2, 4)):
            [line] = plot.lines
            self.assertEqual(line.get_label(), "dma")
            of_size = points[points["size"] == size * 2**20]
            by = {name: of_size[of_size[BACKEND] == name]["partitioned.time"].to_numpy() for name in ("cu", "dma")}
            numpy.testing.assert_allclose(line.get_ydata(), 100 * (by["cu"] / by["dma"] - 1))

    def test_equal_sweeps_are_equal_svg_files(self):
        pictures = [self.folder / name for name in ("a.svg", "b.svg")]
        for picture in pictures:
            done = plot(self.path, "--x", "cus", "--y", "cu.speedup", "-o", picture)
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(*(picture.read_bytes() for picture in pictures))

    def test_a_heat_map_has_its_cells_where_keys_cross_and_says_what_failed(self):
        path = self.sweep("fails", SWEEP.replace("{ from = 8, to = 32, step = 8 }", "[8, 12, 16]"))
        axes, figure = self.figure(path, "--x", "cus", "--heat", "size", "--y", "partitioned.speedup")
        self.assertIn("6 of 18 points have no value: 6 failed", figure._suptitle.get_text())
        points = Sweep(path).points
        for plot, backend in zip(axes, ("cu", "dma")):
            [image] = plot.get_images()
            table = numpy.ma.filled(image.get_array().astype(float), numpy.nan)
            for row, size in enumerate((1, 2, 4)):
                for column, cus in enumerate((8, 12, 16)):
                    cell = points[(points["size"] == size * 2**20) & (points.cus == cus) & (points[BACKEND] == backend)]
                    numpy.testing.assert_allclose(table[row, column], cell["partitioned.speedup"].iloc[0], rtol=1e-6)

    def test_it_is_a_picture(self):
        picture = self.folder / "lines.png"
        done = plot(self.path, "--x", BACKEND, "--y", "cu.speedup", "--where", "cus == 16", "-o", picture, "--dpi", 60)
        self.assertEqual((done.returncode, done.stdout), (0, f"{picture}\n"), done.stderr)
        self.assertGreater(matplotlib.image.imread(picture)[:, :, :3].std(), 0.02)
        self.assertNotIn("Warning", done.stderr)

    def test_mistakes_end_in_one_line_that_names_them(self):
        for arguments, reason in ((["--x", "cuss", "--y", "cu.time"], "no swept key 'cuss'; there are .*cus"),
                                  (["--x", "cus", "--y", "cu.tim"], "no number 'cu.tim'; there are cu.time, "),
                                  (["--x", "cus", "--y", "cu.time", "--gain-over", "cu"], "--gain-over requires --series"),
                                  (["--x", "cus", "--y", "cu.time", "--series", BACKEND, "--gain-over", "gpu"],
                                   f"no {BACKEND} 'gpu'; there are cu, dma"),
                                  (["--x", "cus", "--y", "cu.time", "--where", "cus = 3"], "--where: "),
                                  (["--x", "cus", "--y", "cu.time", "--where", "cus == 3"], "no point has cus == 3")):
            done = plot(self.path, *arguments)
            self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
            self.assertNotIn("Traceback", done.stderr)
            self.assertRegex(done.stderr.splitlines()[-1], rf"^plot_sweep\.py: .*{reason}")

    def test_help_shows_examples(self):
        done = plot("--help")
        self.assertEqual(done.returncode, 0)
        self.assertIn("--heat", done.stdout.split("examples:")[1])


if __name__ == "__main__":
    unittest.main()
