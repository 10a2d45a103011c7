"""README.md's commands do what a reader expects: those of c3sim run and exit with 0, the scripts are there.

Checked are the lines of fenced `sh` and `console` blocks that start with ./scripts/ or build/release/c3sim. They run
in the order of the page in a scratch folder laid out like the repository, so that a command finds what an earlier
one wrote and the checkout stays as it is. ./scripts/demo itself builds: what it runs, runs in its place.
"""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["C3SIM_SOURCE"])
README = SOURCE / "README.md"
COMMAND = "build/release/c3sim"
DEMO = f"{COMMAND} run configs/experiments/c3_llama70b_mi300x.toml"


def commands(markdown):
    """The shell commands of the page, in order, without prompts; a command may go on after a backslash."""
    found = []
    for language, block in re.findall(r"^```(sh|console)\n(.*?)^```", markdown, re.MULTILINE | re.DOTALL):
        for line in block.replace("\\\n", " ").splitlines():
            if language == "console":
                prompt, line = line[:2], line[2:]
                if prompt != "$ ":
                    continue  # what the command prints
            found.append(line.strip())
    return found


class Readme(unittest.TestCase):
    def setUp(self):
        self.assertTrue(README.is_file(), f"{README} is missing")
        self.commands = commands(README.read_text())

    def test_every_script_is_there_and_executable(self):
        scripts = [command.split()[0] for command in self.commands if command.startswith("./scripts/")]
        self.assertTrue(scripts, "README.md shows no ./scripts/ command")
        for script in scripts:
            with self.subTest(script=script):
                self.assertTrue(os.access(SOURCE / script, os.X_OK), f"{script} is missing or not executable")

    def test_every_c3sim_command_exits_with_0(self):
        to_run = [DEMO if command == "./scripts/demo" else command for command in self.commands]
        to_run = [command for command in to_run if command.startswith(COMMAND)]
        self.assertTrue(to_run, "README.md shows no c3sim command")
        with tempfile.TemporaryDirectory(prefix="c3sim-readme-") as scratch:
            folder = pathlib.Path(scratch)
            (folder / "configs").symlink_to(SOURCE / "configs")
            (folder / COMMAND).parent.mkdir(parents=True)
            (folder / COMMAND).symlink_to(os.environ["C3SIM"])
            for command in to_run:
                with self.subTest(command=command):
                    done = subprocess.run(["bash", "-euo", "pipefail", "-c", command], cwd=folder,
                                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
                    self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_table_it_shows_is_the_table_the_main_job_prints(self):
        shown = re.search(rf"^\$ {re.escape(DEMO)}\n(.*?)^```", README.read_text(), re.MULTILINE | re.DOTALL)
        self.assertTrue(shown, f"README.md shows no output of {DEMO}")
        with tempfile.TemporaryDirectory(prefix="c3sim-readme-") as scratch:
            printed = subprocess.run([os.environ["C3SIM"], *DEMO.split()[1:], "-o", f"{scratch}/out.h5"], cwd=SOURCE,
                                     stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True).stdout
        self.assertEqual(shown.group(1).splitlines(), printed.splitlines())

    def test_every_experiment_it_shows_is_accepted(self):
        experiments = re.findall(r"^```toml\n(.*?)^```", README.read_text(), re.MULTILINE | re.DOTALL)
        self.assertTrue(experiments, "README.md shows no experiment")
        with tempfile.TemporaryDirectory(prefix="c3sim-readme-") as scratch:
            for text in experiments:
                file = pathlib.Path(scratch, "experiment.toml")
                file.write_text(text)
                done = subprocess.run([os.environ["C3SIM"], "config", "check", file], stdin=subprocess.DEVNULL,
                                      capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
