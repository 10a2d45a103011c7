"""Inputs are never replaced by outputs, damaged files are one clear error, and standard streams may be closed or full."""

import hashlib
import os
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import time
import unittest

from command import COMMAND, ScratchTest, c3sim, unseal

EXPERIMENT = """schema = 1
system = "mi300x-8"
[[stream]]
name = "a"
run = [{ gemm = { m = 1024, n = 1024, k = 1024, dtype = "bf16" } }]
[[stream]]
name = "b"
run = [{ all_gather = "16 MiB" }]
[strategy.concurrent]
[strategy.dma]
b.backend = "dma"
[measure]
seeds = 2
"""
SWEEP = EXPERIMENT + """[sweep]
"stream.1.run.0.all_gather" = ["1 MiB", "=1+cmd|' /C calc'!A0"]
"""
CONFLICT = "choose another output$"


def shell(command, folder):
    """Runs a line of bash in which $C is the command."""
    return subprocess.run(["bash", "-c", command], cwd=folder, env={**os.environ, "C": COMMAND}, capture_output=True,
                          text=True, check=False, stdin=subprocess.DEVNULL, timeout=60)


class OutputOverInput(ScratchTest):
    def setUp(self):
        super().setUp()
        (self.folder / "base.toml").write_text(EXPERIMENT)
        (self.folder / "in.toml").write_text('extends = "base.toml"\n')

    def assert_refused(self, *arguments):
        before = {name: (self.folder / name).read_bytes() for name in self.files()}
        self.assert_one_line(c3sim(*arguments, folder=self.folder), 2, CONFLICT)
        self.assertEqual({name: (self.folder / name).read_bytes() for name in self.files()}, before)

    def test_run_keeps_the_experiment_and_what_it_extends(self):
        (self.folder / "link").symlink_to("base.toml")
        for output in ("in.toml", "base.toml", "./base.toml", "link"):
            with self.subTest(output=output):
                self.assert_refused("run", "in.toml", "-o", output)

    def test_merge_keeps_manifest_and_points(self):
        (self.folder / "sweep.toml").write_text(EXPERIMENT + "[sweep.product]\n\"measure.seed\" = [1, 2]\n")
        self.assertEqual(c3sim("sweep", "sweep.toml", "-o", "DIR", "-q", folder=self.folder).returncode, 0)
        point = next((self.folder / "DIR/points").glob("*.json"))
        for output in ("DIR/manifest.json", point.relative_to(self.folder)):
            with self.subTest(output=output):
                self.assert_refused("merge", "DIR", "-o", output)
        done = c3sim("merge", "DIR", "-o", "same.csv", "--csv", folder=self.folder)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertRegex(done.stderr, "two outputs have this name")

    def test_report_keeps_its_result(self):
        self.assertEqual(c3sim("run", "base.toml", "-o", "r.h5", "-q", folder=self.folder).returncode, 0)
        self.assert_refused("report", "r.h5", "-o", "r.h5")

    def test_kernel_keeps_its_table(self):
        (self.folder / "t.csv").write_text("op,m,n,k,dtype\ngemm,512,512,512,bf16\n")
        shutil.copy(self.folder / "t.csv", self.folder / "o.rejected.csv")
        self.assert_refused("kernel", "--csv", "t.csv", "--gpu", "mi300x", "-o", "t.csv")
        self.assert_refused("kernel", "--csv", "o.rejected.csv", "--gpu", "mi300x", "-o", "o.csv")

    def test_standard_output_is_no_file_for_a_result(self):
        for command in ("$C run base.toml -o /dev/stdout > out", "$C run base.toml -o out > out",
                        "$C run base.toml -o err 2> err; code=$?; cat err >&2; exit $code"):
            with self.subTest(command=command):
                done = shell(command, self.folder)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertRegex(done.stderr, "this file is standard (output|error); choose another output")
        done = shell("$C run base.toml -o /dev/stdout | cat; exit ${PIPESTATUS[0]}", self.folder)
        self.assertEqual((done.returncode, done.stdout), (74, ""))
        self.assertTrue(os.path.islink("/dev/stdout"))

    def test_a_link_is_followed(self):
        (self.folder / "disk").mkdir()
        (self.folder / "r.h5").symlink_to("disk/r.h5")
        self.assertEqual(c3sim("run", "base.toml", "-o", "r.h5", "-q", folder=self.folder).returncode, 0)
        self.assertTrue((self.folder / "r.h5").is_symlink())
        self.assertEqual(c3sim("inspect", "disk/r.h5", folder=self.folder).returncode, 0)

    def test_an_empty_output_is_a_mistake(self):
        for option in ("-o", "--trace"):
            with self.subTest(option=option):
                self.assert_one_line(c3sim("run", "base.toml", option, "", folder=self.folder), 2, "must not be empty$")
        self.assertEqual(self.files(), ["base.toml", "in.toml"])


class Streams(ScratchTest):
    def setUp(self):
        super().setUp()
        (self.folder / "base.toml").write_text(EXPERIMENT)

    def test_closed_and_full_streams_end_with_the_documented_code(self):
        for command, code in (("$C run nosuch.toml 2>/dev/full", 3), ("$C foo 2>&-", 2), ("$C foo 2>/dev/full", 2),
                              ("$C run base.toml 2>/dev/full", 0), ("$C run base.toml 2>&-", 0),
                              ("$C run base.toml <&-", 0), ("$C run base.toml <&- 2>&-", 0),
                              ("$C version >/dev/full", 74), ("$C version >&-", 74),
                              ("$C run base.toml >/dev/full", 74), ("$C run base.toml >/dev/full 2>&1", 74),
                              ("$C list systems >/dev/full", 74), ("$C list systems >/dev/full 2>&-", 74),
                              ("$C --help >/dev/full", 74), ("$C run --help >/dev/full", 74),
                              ("$C --version >/dev/full", 74), ("$C --version >&-", 74), ("$C --help", 0)):
            with self.subTest(command=command):
                done = shell(command, self.folder)
                self.assertEqual(done.returncode, code, done.stderr)

    def test_a_result_is_whole_whatever_is_closed(self):
        for closed in ("2>&-", "<&-", "<&- 2>&-", ">&-", "<&- >&- 2>&-"):
            with self.subTest(closed=closed):
                shell(f"$C run base.toml -o r.h5 {closed}", self.folder)
                self.assertEqual(c3sim("inspect", "r.h5", folder=self.folder).returncode, 0)
                (self.folder / "r.h5").unlink()

    def test_a_reader_that_goes_away_is_no_error_message(self):
        done = shell("$C list systems | head -1; exit ${PIPESTATUS[0]}", self.folder)
        self.assertIn(done.returncode, (0, 128 + signal.SIGPIPE))
        self.assertEqual(done.stderr, "")

    def test_memory_that_runs_out_is_reported_with_what_was_too_large(self):
        limit = 300_000 * 1024
        done = c3sim("collective", "all_reduce", "--system", "mi300x-8", "--nodes", 512, "--fabric", "ib-ndr", "--grain", "step",
                     "--min", "64 MiB", "--max", "64 MiB", folder=self.folder,
                     preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
        self.assert_one_line(done, 74, r"^c3sim: out of memory: all_reduce of 67\.1089 MB on 4096 GPUs needs more than the "
                                       r"0\.3 GB that this process may use \(ulimit -v\)$")


class Damage(ScratchTest):
    def setUp(self):
        super().setUp()
        (self.folder / "base.toml").write_text(EXPERIMENT)
        self.whole = self.folder / "r.h5"
        self.assertEqual(c3sim("run", "base.toml", "-o", self.whole, "-q", folder=self.folder).returncode, 0)

    def read(self, path, *arguments):
        """The command reads the file, or refuses it with one line and 74, in little time and memory."""
        limit = 1_500_000_000
        started = time.monotonic()
        done = c3sim(*arguments, path, folder=self.folder,
                     preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
        self.assertLess(time.monotonic() - started, 20, path)
        self.assertIn(done.returncode, (0, 74), done.stderr)
        if done.returncode != 0:
            self.assert_one_line(done, 74, "^c3sim: .*damaged.h5: cannot ")
        return done

    def test_a_changed_file_is_refused(self):
        whole, damaged = self.whole.read_bytes(), self.folder / "damaged.h5"
        draw = random.Random(1)
        for _ in range(40):
            bytes_ = bytearray(whole)
            bytes_[draw.randrange(len(whole))] ^= 1 << draw.randrange(8)
            damaged.write_bytes(bytes_)
            self.assertEqual(self.read(damaged, "inspect").returncode, 74)

    def test_a_damaged_file_without_a_seal_does_no_harm(self):
        damaged = self.folder / "damaged.h5"
        draw = random.Random(2)
        unseal(self.whole)
        self.assertEqual(c3sim("inspect", self.whole).returncode, 0)
        whole, refused = self.whole.read_bytes(), 0
        for i in range(60):
            bytes_ = bytearray(whole)
            for _ in range(4):
                bytes_[draw.randrange(512, len(whole))] ^= 1 << draw.randrange(8)
            damaged.write_bytes(bytes_)
            options = (["inspect"], ["inspect", "--json"], ["inspect", "--table", "activities", "--json"],
                       ["report", "-q", "-o", "page.html"])[i % 4]
            refused += self.read(damaged, *options).returncode == 74
        self.assertGreater(refused, 10)

    def test_enumerations_that_another_program_made_wider_are_refused(self):
        import h5py
        import numpy
        damaged = self.folder / "damaged.h5"
        shutil.copy(self.whole, damaged)
        unseal(damaged)
        with h5py.File(damaged, "r+") as file:
            group = file["strategies/concurrent/activities"]
            numbers, kinds = group["kind"][:], h5py.check_enum_dtype(group["kind"].dtype)
            attributes = dict(group["kind"].attrs)
            del group["kind"]
            wide = group.create_dataset("kind", data=numbers.astype(numpy.int32), dtype=h5py.enum_dtype(kinds, basetype=numpy.int32))
            wide.attrs.update(attributes)
        done = self.read(damaged, "inspect", "--table", "activities", "--strategy", "concurrent")
        self.assert_one_line(done, 74, "its enumeration has 4 bytes a value, and must have one$")

    def test_every_dataset_of_numbers_has_a_checksum_for_other_readers(self):
        """HDF5 allows no filter on texts of variable length."""
        import h5py
        without = []
        with h5py.File(self.whole) as file:
            file.visititems(lambda name, item: without.append(name)
                            if isinstance(item, h5py.Dataset) and not item.fletcher32 else None)
        self.assertEqual(without, ["names", "streams"])

    def test_the_seal_is_one_line_of_text_and_a_sha256_that_others_can_check(self):
        content = self.whole.read_bytes()
        first, digest = content[:512].rstrip(b"\0").decode().splitlines()
        self.assertEqual(first, f"c3sim result file, sealed. {len(content) - 512} bytes of HDF5 follow this block, with the SHA-256")
        self.assertEqual(digest, hashlib.sha256(content[512:]).hexdigest())

    def test_a_pipe_that_nobody_writes_to_is_refused_at_once(self):
        os.mkfifo(self.folder / "pipe")
        self.assert_one_line(c3sim("inspect", "pipe", folder=self.folder), 74, "pipe: cannot read: it is not a regular file$")
        done = c3sim("kernel", "--csv", "pipe", "--gpu", "mi300x", "-o", "-", folder=self.folder)
        self.assert_one_line(done, 74, "pipe: cannot read: no process writes to this pipe$")

    def test_a_table_may_come_from_a_pipe(self):
        done = shell("$C kernel --csv <(echo op,m,n,k,dtype; sleep 0.2; echo gemm,512,512,512,bf16) --gpu mi300x -o -",
                     self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(done.stdout.splitlines()), 2)


class Interrupted(ScratchTest):
    def test_a_killed_run_leaves_nothing_behind_for_long(self):
        (self.folder / "base.toml").write_text(EXPERIMENT.replace("seeds = 2", "seeds = 1000"))
        with subprocess.Popen([COMMAND, "run", "base.toml", "-o", "r.h5"], cwd=self.folder, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as process:
            while len(self.files()) < 2 and process.poll() is None:
                time.sleep(0.01)
            process.kill()
        self.assertEqual(len(self.files()), 2)
        (self.folder / "notes.h5.tmp").write_text("mine")
        done = c3sim("run", "base.toml", "--set", "measure.seeds=1", "-o", "other.h5", "-q", folder=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.files(), ["base.toml", "notes.h5.tmp", "other.h5"])


    def test_a_report_that_is_interrupted_ends_with_130_and_leaves_nothing(self):
        (self.folder / "base.toml").write_text(EXPERIMENT)
        self.assertEqual(c3sim("run", "base.toml", "-o", "r.h5", "-q", folder=self.folder).returncode, 0)
        before, codes = self.files(), []
        while 130 not in codes and len(codes) < 50:  # it may end before the signal comes
            with subprocess.Popen([COMMAND, "report", "r.h5"], cwd=self.folder, stderr=subprocess.PIPE, text=True) as process:
                while self.files() == before and process.poll() is None:
                    pass
                process.send_signal(signal.SIGINT)
                _, stderr = process.communicate(timeout=60)
            codes.append(process.returncode)
            (self.folder / "r.html").unlink(missing_ok=True)
            self.assertIn(process.returncode, (0, 130), stderr)
            self.assertEqual(self.files(), before)
        self.assertIn(130, codes)


class Links(ScratchTest):
    def test_a_loop_of_links_and_unreadable_files_say_what_is_wrong(self):
        (self.folder / "a.toml").symlink_to("b.toml")
        (self.folder / "b.toml").symlink_to("a.toml")
        (self.folder / "mem.toml").symlink_to("/proc/self/mem")
        for name, reason in (("a.toml", "is a loop of symbolic links"), ("mem.toml", "cannot be read: Input/output error")):
            with self.subTest(name=name):
                self.assert_one_line(c3sim("run", name, folder=self.folder), 3, rf"^{name}:1:1: file: {reason}$")

    def test_a_file_name_of_any_bytes_is_read_and_its_result_too(self):
        name = b"caf\xe9.toml"
        (pathlib.Path(os.fsdecode(os.fsencode(self.folder) + b"/" + name))).write_text("name = 'cafe'\n" + EXPERIMENT)
        for extra in ([], ["--json"]):
            done = subprocess.run([os.fsencode(COMMAND), b"run", name, b"-o", b"r\xe9.h5", b"-q", *map(os.fsencode, extra)],
                                  cwd=self.folder, capture_output=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
        for extra in ([], ["--json"]):
            done = subprocess.run([os.fsencode(COMMAND), b"inspect", b"r\xe9.h5", *map(os.fsencode, extra)],
                                  cwd=self.folder, capture_output=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
