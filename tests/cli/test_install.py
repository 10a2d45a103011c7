"""What ./scripts/demo builds can be installed, moved, and run from elsewhere, also under mpirun."""

import os
import pathlib
import shutil
import subprocess
import unittest

from command import COMMAND, SOURCE, ScratchTest

BUILD = pathlib.Path(COMMAND).parent
HAS_MPI = "\nFIND_PACKAGE_MESSAGE_DETAILS_MPI_C:" in (BUILD / "CMakeCache.txt").read_text()
SWEEP = """\
schema = 1
system = "mi300x-8"
[[stream]]
name = "comm"
run = [{ all_gather = "${size}" }]
[strategy.default]
[measure]
loss_split = false
[sweep.product]
size = ["1 MiB", "2 MiB", "4 MiB"]
[sweep.set]
"stream.0.run" = [{ all_gather = "${size}" }]
"""


def run(*command, folder, **variables):
    environment = {name: value for name, value in os.environ.items() if name != "C3SIM_CONFIGS"} | variables
    return subprocess.run([str(word) for word in command], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, check=False)


class Install(ScratchTest):
    def setUp(self):
        super().setUp()
        self.prefix = self.folder / "prefix"
        done = run("cmake", "--install", BUILD, "--prefix", self.prefix, folder=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.elsewhere = self.folder / "elsewhere"
        self.elsewhere.mkdir()

    def c3sim(self, *arguments, prefix=None):
        done = run((prefix or self.prefix) / "bin/c3sim", *arguments, folder=self.elsewhere)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    @unittest.skipUnless(HAS_MPI, "no Open MPI")
    def test_the_target_that_demo_builds_includes_all_that_is_installed(self):
        demo = (SOURCE / "scripts/demo").read_text()
        self.assertIn("\nscripts/build release c3sim\n", demo)
        inputs = subprocess.run(["ninja", "-C", BUILD, "-t", "inputs", "c3sim"], capture_output=True, text=True, check=True)
        self.assertTrue("c3sim_mpi.so" in inputs.stdout.split(), "the target c3sim does not build c3sim_mpi.so")

    def test_an_installation_has_presets_figures_python_modules_and_completions(self):
        share = self.prefix / "share"
        for file in ("c3sim/configs/nodes/mi300x-8.toml", "c3sim/configs/experiments/c3_llama70b_mi300x.toml",
                     "c3sim/studies/conccl/published.csv", "c3sim/python/c3sim_results.py"):
            with self.subTest(file=file):
                self.assertTrue((share / file).is_file())
        for file, words in (("bash-completion/completions/c3sim", "complete -o default -F _c3sim c3sim"),
                            ("fish/vendor_completions.d/c3sim.fish", "complete -c c3sim"),
                            ("zsh/site-functions/_c3sim", "#compdef c3sim")):
            with self.subTest(file=file):
                self.assertIn(words, (share / file).read_text())

    def test_it_runs_elsewhere_with_its_own_presets_and_not_the_source_tree_s_also_after_a_move(self):
        moved = self.folder / "moved"
        for prefix in (self.prefix, moved):
            models = prefix / "share/c3sim/configs/models"
            if prefix is moved:
                self.prefix.rename(moved)
            else:
                text = (models / "llama-70b.toml").read_text().replace('"llama-70b"', '"only-here"')
                (models / "only-here.toml").write_text(text)
                (models / "llama-3-8b.toml").unlink()
            with self.subTest(prefix=prefix.name):
                names = [line.split()[0] for line in self.c3sim("list", "models", prefix=prefix).splitlines()[2:] if line]
                self.assertIn("only-here", names)
                self.assertNotIn("llama-3-8b", names)
                experiment = prefix / "share/c3sim/configs/experiments/c3_llama70b_mi300x.toml"
                table = self.c3sim("run", experiment, "--set", "measure.seeds=1", "--set", "measure.loss_split=false", prefix=prefix)
                self.assertIn("recommended:", table)

    def test_simgrid_is_loaded_for_simulations_alone(self):
        loaded = run(self.prefix / "bin/c3sim", folder=self.elsewhere, LD_TRACE_LOADED_OBJECTS="1").stdout
        self.assertIn("libhdf5", loaded)
        self.assertNotIn("simgrid", loaded)
        copied = self.elsewhere / "c3sim"
        shutil.copy(COMMAND, copied)
        (self.prefix / "lib/c3sim/c3sim_simgrid.so").unlink()
        self.c3sim("list", "systems")
        experiment = SOURCE / "configs/experiments/c3_llama70b_mi300x.toml"
        simulated = ("run", experiment, "--set", "measure.seeds=1", "--set", "measure.loss_split=false")
        done = run(self.prefix / "bin/c3sim", *simulated, folder=self.elsewhere)
        self.assertEqual((done.returncode, done.stdout), (74, ""))
        self.assertRegex(done.stderr, "^c3sim: c3sim_simgrid.so, a part of c3sim: .*No such file or directory: .*\n$")
        self.assertEqual(run(copied, *simulated, folder=self.elsewhere).returncode, 0)  # from where it was built

    def test_published_figures_are_its_own_too(self):
        (self.prefix / "share/c3sim/studies/conccl/published.csv").write_text("nonsense\n")
        done = run(self.prefix / "bin/c3sim", "reproduce", "conccl", "--draws", 0, folder=self.elsewhere)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn(f"{self.prefix}/share/c3sim/studies/conccl/published.csv:1:1: ", done.stderr)

    @unittest.skipUnless(HAS_MPI and shutil.which("mpirun"), "no Open MPI")
    def test_mpirun_shares_a_sweep_out_among_installed_commands(self):
        (self.elsewhere / "sizes.toml").write_text(SWEEP)
        done = run("mpirun", "--allow-run-as-root", "--oversubscribe", "-n", 2, self.prefix / "bin/c3sim", "sweep", "sizes.toml",
                   "-o", "sizes", folder=self.elsewhere)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("3 points, 3 done, 0 failed, 0 missing", done.stdout)


if __name__ == "__main__":
    unittest.main()
