"""scripts/setup installs what is missing and nothing else, or says why it cannot.

Runs the script on a PATH that holds only stand-ins for apt-get, dpkg-query, id and sudo, and the few tools it uses.
"""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["C3SIM_SOURCE"])
TOOLS = ["bash", "cat", "comm", "dirname", "env", "sed", "sort", "tr"]

STAND_INS = {
    "apt-get": 'echo "apt-get $*" >> "$CALLS"; [[ "$*" != *" $APT_FAILS"* ]]',
    "dpkg-query": 'cat "$INSTALLED"; exit 1',
    "id": 'echo "$FAKE_UID"',
    "sudo": 'echo "sudo $1" >> "$CALLS"; shift; "$@"',
}


def wanted_packages():
    lines = (SOURCE / "scripts/packages.txt").read_text().splitlines()
    names = [line.split("#")[0].strip() for line in lines]
    return [name for name in names if name]


class Setup(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="c3sim setup ")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.bin = self.folder / "bin"
        self.bin.mkdir()
        for tool in TOOLS:
            (self.bin / tool).symlink_to(shutil.which(tool))
        for name, body in STAND_INS.items():
            script = self.bin / name
            script.write_text(f"#!/bin/bash\n{body}\n")
            script.chmod(0o755)

    def run_setup(self, missing=(), uid=0, apt_fails="nothing", half_removed=()):
        """Returns the finished process and the calls of apt-get and sudo, one a line."""
        calls, installed = self.folder / "calls", self.folder / "installed"
        calls.write_text("")
        states = {name: "installed" for name in wanted_packages() if name not in missing}
        states.update({name: "config-files" for name in half_removed})
        installed.write_text("".join(f"{name} {state}\n" for name, state in states.items()))
        environment = {"PATH": str(self.bin), "CALLS": str(calls), "INSTALLED": str(installed),
                       "FAKE_UID": str(uid), "APT_FAILS": apt_fails}
        done = subprocess.run([SOURCE / "scripts/setup"], env=environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False)
        return done, calls.read_text().splitlines()

    def test_nothing_missing_calls_nothing_and_says_nothing(self):
        done, calls = self.run_setup()
        self.assertEqual((done.returncode, done.stdout, done.stderr, calls), (0, "", "", []))

    def test_missing_packages_are_installed_after_an_update_and_named(self):
        done, calls = self.run_setup(missing=["doctest-dev", "g++"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(calls), 2)
        self.assertRegex(calls[0], r"^apt-get .*\bupdate$")
        self.assertRegex(calls[1], r"^apt-get .*\binstall -y .*[a-z] doctest-dev g\+\+$")
        self.assertIn("doctest-dev g++", done.stderr)

    def test_a_removed_package_that_left_its_configuration_is_missing(self):
        _, calls = self.run_setup(half_removed=["cmake"])
        self.assertRegex(calls[-1], r" cmake$")

    def test_a_user_installs_through_sudo_which_may_not_ask_without_a_terminal(self):
        done, calls = self.run_setup(missing=["cmake"], uid=1000)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([call.split()[:2] for call in calls[::2]], [["sudo", "-n"]] * 2)
        self.assertRegex(calls[3], r"^apt-get .* cmake$")

    def test_neither_root_nor_sudo_is_an_error_that_names_the_packages(self):
        (self.bin / "sudo").unlink()
        done, calls = self.run_setup(missing=["cmake", "git"], uid=1000)
        self.assertEqual((done.returncode, calls), (1, []))
        self.assertIn("apt-get install cmake git", done.stderr)

    def test_a_user_without_sudo_needs_none_when_nothing_is_missing(self):
        (self.bin / "sudo").unlink()
        self.assertEqual(self.run_setup(uid=1000)[0].returncode, 0)

    def test_a_machine_without_apt_is_told_so(self):
        (self.bin / "apt-get").unlink()
        done, calls = self.run_setup(missing=["cmake"])
        self.assertEqual((done.returncode, calls), (1, []))
        self.assertIn("Debian", done.stderr)

    def test_a_failed_update_ends_before_the_installation(self):
        done, calls = self.run_setup(missing=["cmake"], apt_fails="update")
        self.assertEqual((done.returncode, len(calls)), (1, 1))
        self.assertIn("update failed", done.stderr)

    def test_a_failed_installation_is_an_error(self):
        done, _ = self.run_setup(missing=["cmake"], apt_fails="install")
        self.assertEqual(done.returncode, 1)
        self.assertIn("install failed", done.stderr)


if __name__ == "__main__":
    unittest.main()
