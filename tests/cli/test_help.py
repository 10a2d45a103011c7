"""Every verb says what it does, with two examples; a slip of the keyboard gets a suggestion."""

import json
import re
import unittest

from command import ScratchTest, c3sim

SUBVERBS = {"config": ["check", "schema", "show"], "sample": ["kernels", "lengths", "loop"]}


def verbs():
    listed = c3sim("--help").stdout.split("Subcommands:")[1]
    return re.findall(r"^  ([a-z]+) ", listed, re.MULTILINE)


class Help(ScratchTest):
    def test_every_verb_shows_two_examples_that_start_with_its_name(self):
        names = [[verb] for verb in verbs()]
        names += [[verb, sub] for verb, subs in SUBVERBS.items() for sub in subs]
        self.assertGreaterEqual(len(names), 6)
        for name in names:
            with self.subTest(verb=" ".join(name)):
                done = c3sim(*name, "--help")
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                examples = done.stdout.split("Examples:\n")[1].splitlines()
                self.assertGreaterEqual(len(examples), 2)
                for example in examples:
                    self.assertTrue(example.startswith("  c3sim " + " ".join(name)), example)

    def test_the_verbs_of_the_manual_are_there(self):
        self.assertLessEqual({"run", "bench", "list", "config", "inspect", "diff", "report", "completion", "version"}, set(verbs()))

    def test_no_arguments_print_the_help_on_stderr(self):
        done = c3sim()
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertEqual(done.stderr, c3sim("--help").stdout)

    def test_an_unknown_verb_gets_a_suggestion(self):
        self.assert_one_line(c3sim("rnu", "x.toml"), 2, r"^c3sim: unknown verb 'rnu'.*did you mean 'run'\?")

    def test_a_verb_like_no_other_gets_the_list_and_no_suggestion(self):
        done = c3sim("photosynthesis")
        self.assert_one_line(done, 2, r"^c3sim: unknown verb 'photosynthesis'; known: run, ")
        self.assertNotIn("did you mean", done.stderr)

    def test_usage_errors_end_with_2_and_one_line(self):
        for arguments in (["run"], ["run", "x.toml", "--sets", "a=1"], ["inspect", "x.h5", "--table", "activity"],
                          ["inspect", "x.h5", "--csv"], ["diff", "x.h5"], ["report"], ["version", "more"], ["--quiet"], ["list"]):
            with self.subTest(arguments=arguments):
                self.assert_one_line(c3sim(*arguments), 2, r"^c3sim: .+")

    def test_the_version_names_what_it_was_built_from(self):
        version = json.loads(c3sim("version", "--json").stdout)
        self.assertEqual(version["schema_version"], 1)
        self.assertRegex(version["git_commit"], r"^([0-9a-f]{40}|unknown)$")
        for library in ("simgrid", "hdf5"):
            self.assertRegex(version[library], r"^\d+\.\d+")
        text = c3sim("version").stdout
        for key in ("version", "git_commit", "compiler", "run_file_schema_version"):
            self.assertRegex(text, rf"(?m)^{key} +{re.escape(version[key])}$")
        self.assertEqual(c3sim("--version").stdout.strip(), version["version"])


if __name__ == "__main__":
    unittest.main()
