"""README.md and docs/: every command runs, every output and picture is today's, every link leads somewhere.

scripts/refresh_docs says what is run and how; it brings outputs up to date when it is run without --check.
"""

import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["C3SIM_SOURCE"])
DOCS = [SOURCE / "README.md", *sorted((SOURCE / "docs").glob("*.md"))]
MARKDOWN = [*DOCS, *sorted((SOURCE / "docs").glob("*/*.md")),
            *(path for path in sorted(SOURCE.glob("*/**/README.md")) if path not in DOCS and "build" not in path.parts)]
SCRIPT = SOURCE / "scripts/refresh_docs"
MOST_LINES = 110  # of README.md: two screens


def refresh_docs(*arguments, script=SCRIPT):
    return subprocess.run([script, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)


def without_blocks(page):
    return re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)


def anchors(page):
    """What GitHub makes of a page's headings."""
    headings = re.findall(r"^#+ (.*)$", without_blocks(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


class Docs(unittest.TestCase):
    def test_every_command_runs_and_every_output_shown_is_today_s(self):
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for page, done in zip(DOCS, pool.map(lambda page: refresh_docs("--check", page), DOCS)):
                with self.subTest(page=page.name):
                    self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_readme_shows_the_main_job_and_a_picture_and_fits_on_two_screens(self):
        readme = (SOURCE / "README.md").read_text()
        self.assertIn("\n$ build/release/c3sim run configs/experiments/c3_llama70b_mi300x.toml\nc3_llama70b_mi300x on mi300x-8", readme)
        self.assertRegex(readme, r"!\[[^]]+\]\(docs/main_job\.svg\)")
        self.assertLessEqual(readme.count("\n"), MOST_LINES)

    def test_every_script_shown_is_there_and_executable(self):
        scripts = set(re.findall(r"^\./(scripts/\w+)", "".join(page.read_text() for page in DOCS), re.MULTILINE))
        self.assertLessEqual({"scripts/demo", "scripts/test"}, scripts)
        for script in scripts:
            self.assertTrue(os.access(SOURCE / script, os.X_OK), f"{script} is missing or not executable")

    def test_every_link_leads_to_a_file_and_a_heading_of_it(self):
        for page in MARKDOWN:
            for target in re.findall(r"\]\(([^)\s]+)\)", without_blocks(page)):
                if re.match(r"https?://", target):
                    continue
                with self.subTest(page=str(page.relative_to(SOURCE)), link=target):
                    file, _, heading = target.partition("#")
                    linked = (page.parent / file).resolve() if file else page
                    self.assertTrue(linked.exists())
                    if heading:
                        self.assertIn(heading, anchors(linked))


class RefreshDocs(unittest.TestCase):
    """On a page of its own, in a repository that has nothing else."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="c3sim docs ")
        self.addCleanup(scratch.cleanup)
        self.source = pathlib.Path(scratch.name)
        for folder in ("docs", "scripts", "results"):
            (self.source / folder).mkdir()
        (self.source / "configs").symlink_to(SOURCE / "configs")
        self.script = self.source / "scripts/refresh_docs"
        shutil.copy(SCRIPT, self.script)
        self.page = self.source / "README.md"

    def check(self, text, pattern):
        self.page.write_text(text)
        done = refresh_docs("--check", script=self.script)
        self.assertEqual((done.returncode, self.page.read_text()), (1, text))
        self.assertRegex(done.stderr, pattern)

    def test_keys_come_from_the_schemas_and_a_page_of_keys_must_have_every_table(self):
        shutil.copy(SOURCE / "scripts/key_tables.py", self.source / "scripts")
        self.check("# Keys\n<!-- keys of: model experts -->\n| yesterday |\n<!-- end of keys -->\nend\n",
                   r"lacks the keys of: experiment strategy\.\*\n(.|\n)*-\| yesterday \|(.|\n)*\+\| `count` \| integer 1 to 4096 \| required \| ")
        self.assertNotEqual(refresh_docs(script=self.script).returncode, 0)
        self.assertIn("| `capacity` | ", self.page.read_text())

    def test_an_output_that_is_not_today_s_fails_the_check_and_is_updated(self):
        command = "$ build/release/c3sim list collectives | head -n 1\n"
        self.check(f"# Page\n```console\n{command}yesterday\n```\nend\n", r"-yesterday\n(.|\n)*scripts/refresh_docs updates")
        self.assertEqual(refresh_docs(script=self.script).returncode, 0)
        updated = self.page.read_text()
        self.assertNotIn("yesterday", updated)
        self.assertRegex(updated, rf"^# Page\n```console\n{re.escape(command)}.+\n```\nend\n$")
        self.assertEqual(refresh_docs("--check", script=self.script).returncode, 0)

    def test_a_command_that_fails_or_that_no_test_runs_fails_the_check(self):
        self.check("```sh\nbuild/release/c3sim list nonsense\n```\n", "exit code 2: build/release/c3sim list nonsense")
        self.check("```sh\nrm -rf /nonexistent/c3sim\n```\n", "no test runs: rm -rf")
        self.check("```python\nraise SystemExit(1)\n```\n", "exit code 1")
        self.check("```toml\nschema = 1\nsystem = 3\n```\n", "exit code 3")

    def test_a_picture_with_other_numbers_fails_the_check_and_is_updated(self):
        (self.source / "docs/p.svg").write_text("<svg><text>1.5 ms</text></svg>")
        (self.source / "results/python").mkdir()
        (self.source / "results/python/draw.py").write_text('open("docs/p.svg", "w").write("<svg><text>2.5 ms</text></svg>")')
        self.check("```sh\n/usr/bin/python3 results/python/draw.py\n```\n", "p.svg: shows other numbers")
        self.assertEqual(refresh_docs(script=self.script).returncode, 0)
        self.assertIn("2.5 ms", (self.source / "docs/p.svg").read_text())


if __name__ == "__main__":
    unittest.main()
