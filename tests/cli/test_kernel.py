"""c3sim kernel times one kernel, some, or a table of shapes, whose broken rows are told apart from the good ones."""

import csv
import io
import json
import subprocess
import unittest

from command import COMMAND, ScratchTest, c3sim
from test_output_errors import limit_file_size

GEMM = ("gemm", "-m", "2048", "-n", "8192", "-k", "4096", "--dtype", "bf16")
OUT_COLUMNS = ["time_us", "bound", "waves", "hbm_read_bytes", "hbm_write_bytes"]


def rows(*arguments):
    done = c3sim("kernel", *arguments, "--json")
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return json.loads(done.stdout)["rows"]


class OneKernel(ScratchTest):
    def test_an_rms_norm_of_short_rows_takes_what_a_softmax_of_them_does(self):
        # Norms of heads of 128 numbers, 302 MB in and out at 3.1 TB/s: 196 us, and a wave's latencies.
        shape = ("--rows", "1179648", "--cols", "128", "--dtype", "bf16", "--gpu", "h100-sxm")
        norm, = rows("rmsnorm", *shape)
        self.assertTrue(200 < norm["time_us"] < 300, norm["time_us"])
        softmax, = rows("softmax", *shape)
        self.assertLess(abs(norm["time_us"] / softmax["time_us"] - 1), 0.25)
        eager, = rows("rmsnorm_eager", *shape)  # PyTorch's own kernel, a work group a row
        self.assertGreater(eager["time_us"], 2000)

    def test_a_maximum_reads_its_whole_tensor_and_says_what_the_caches_hold_of_it(self):
        shape = ("absmax", "--rows", "8192", "--cols", "4096", "--dtype", "bf16")
        tensor = 2 * 8192 * 4096
        for gpu in ("h100-sxm", "l40s"):
            found, = rows(*shape, "--gpu", gpu)
            self.assertAlmostEqual(found["hbm_read_bytes"] + found["found_in_caches_bytes"], tensor, delta=1e-6 * tensor)
            cold, = rows(*shape, "--gpu", gpu, "--cache-share", "0")
            self.assertAlmostEqual(cold["hbm_read_bytes"], tensor, delta=1e-6 * tensor)
            self.assertLess(cold["time_us"], 1.4 * cold["roofline_us"] if gpu == "l40s" else 65)  # measured on an H100: 57
        text = c3sim("kernel", *shape, "--gpu", "h100-sxm").stdout
        self.assertRegex(text, r"absmax 8192 x 4096 bf16 on h100-sxm: [\d.]+ MB of the loads are found in the caches")

    def test_a_cold_vector_operator_moves_all_of_its_bytes(self):
        shape = ("add", "--rows", "1024", "--cols", "1024", "--dtype", "fp32", "--gpu", "mi300x")
        warm, = rows(*shape)
        cold, = rows(*shape, "--warm", "none")
        tensor = 4 * 1024 * 1024
        self.assertAlmostEqual(cold["hbm_read_bytes"], 2 * tensor)
        self.assertAlmostEqual(cold["hbm_write_bytes"], tensor)
        self.assertLess(warm["hbm_read_bytes"], 0.1 * cold["hbm_read_bytes"])
        self.assertLess(warm["time_us"], cold["time_us"])
        refused = c3sim("kernel", *shape, "--warm", "activations")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("of a vector operator it is 'all' or 'none'", refused.stderr)

    def test_a_warm_product_says_what_it_finds_in_the_caches(self):
        shape = ("gemm", "-m", "1024", "-n", "1024", "-k", "1024", "--dtype", "bf16", "--gpu", "h100-sxm")
        cold, = rows(*shape)
        warm, = rows(*shape, "--warm", "all")
        self.assertLess(warm["hbm_read_bytes"], 0.1 * cold["hbm_read_bytes"])
        self.assertAlmostEqual(warm["hbm_read_bytes"] + warm["found_in_caches_bytes"], cold["hbm_read_bytes"], delta=1e-6 * cold["hbm_read_bytes"])

    def test_a_tile_that_does_not_fit_into_a_cu_leaves_the_others(self):
        shape = ("gemm", "-m", "1024", "-n", "1024", "-k", "1024", "--dtype", "fp32", "--gpu", "l40s", "--set", "gpu.wave_slots_per_cu=6")
        found, = rows(*shape)
        smaller, = rows(*shape, "--set", 'gpu.vector_tiles=["64x128x8 w4","64x64x8 w2"]')
        self.assertLessEqual(found["time_us"], 1.01 * smaller["time_us"])

    def test_a_measured_level_is_of_16_bit_products_and_a_board_at_it_is_bound_by_power(self):
        shape = ("gemm", "-m", "16384", "-n", "16384", "-k", "8192", "--gpu", "b200-sxm", "--set", 'gpu.sustained_level="1010 TFLOP/s"')
        self.assertEqual(rows(*shape, "--dtype", "bf16")[0]["bound"], "power")
        done = c3sim("kernel", *shape, "--dtype", "fp8", "--set", 'gpu.bf16_sustained="1500 TFLOP/s"')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("not used here", done.stderr)

    def test_latent_attention_reads_its_keys_once_and_values_apart_beside_them(self):
        shape = ("attention", "--gpu", "b200-sxm", "-b", "16", "--heads", "128", "--kv-heads", "1", "--seq", "1", "--kv-seq", "8192",
                 "--head-dim", "576", "--value-dim", "512", "--dtype", "bf16")
        keys, values, queries = 2 * 16 * 8192 * 576, 2 * 16 * 8192 * 512, 2 * 16 * 128 * (576 + 512) / 2
        latent, = rows(*shape)
        self.assertEqual(latent["values"], "in_keys")
        self.assertAlmostEqual(latent["hbm_read_bytes"], keys + queries, delta=1e3)
        apart, = rows(*shape, "--values", "apart")
        self.assertAlmostEqual(apart["hbm_read_bytes"], keys + values + queries, delta=1e3)
        self.assertLess(latent["time_us"], 0.92 * apart["time_us"])
        (self.folder / "shapes.csv").write_text("op,dtype,b,heads,kv_heads,seq,kv_seq,head_dim,value_dim,values\n"
                                                "attention,bf16,16,128,1,1,8192,576,512,\nattention,bf16,16,128,1,1,8192,576,512,apart\n")
        done = c3sim("kernel", "--csv", "shapes.csv", "--gpu", "b200-sxm", "-o", "-", folder=self.folder)
        read = [float(row["hbm_read_bytes"]) for row in csv.DictReader(io.StringIO(done.stdout))]
        self.assertAlmostEqual(read[1] - read[0], values, delta=1e3)
        refused = c3sim("kernel", *shape[:-4], "--value-dim", "640", "--dtype", "bf16", "--values", "in_keys")
        self.assert_one_line(refused, 2, "--values: values of 640 elements cannot be part of keys of 576")

    def test_a_large_product_is_slower_where_the_board_is_at_its_limit(self):
        def row(*options):
            shape = ("gemm", "-m", "8192", "-n", "8192", "-k", "8192", "--dtype", "bf16", "--gpu", "h100-sxm")
            return json.loads(c3sim("kernel", *shape, "--json", *options).stdout)["rows"][0]

        alone = row()
        self.assertEqual((alone["state"], alone["time_us"]), ("burst", alone["burst_us"]))
        self.assertGreater(alone["sustained_us"], 1.05 * alone["burst_us"])
        hot = row("--state", "sustained")
        self.assertAlmostEqual(hot["time_us"], alone["sustained_us"])
        self.assertEqual(row("--launch", "device")["state"], "sustained")
        less = row("--set", "gpu.power_limit=\"500 W\"", "--state", "sustained")
        self.assertGreater(less["time_us"], 1.05 * hot["time_us"])
        cool = row("--set", "gpu.power_limit=\"2 kW\"")
        self.assertEqual(cool["sustained_us"], cool["burst_us"])

    def test_a_host_s_part_of_a_call_is_in_the_time_where_the_host_is_named(self):
        softmax = ("softmax", "--rows", "4096", "--cols", "1024", "--dtype", "fp32", "--gpu", "t4")
        alone, = rows(*softmax)
        called, = rows(*softmax, "--host", "neusight")
        self.assertAlmostEqual(called["launch_us"], 44.9434)
        self.assertAlmostEqual(called["time_us"] - alone["time_us"], 44.9434 - alone["launch_us"])
        queued = c3sim("kernel", *softmax, "--host", "neusight", "--launch", "device")
        self.assertEqual(queued.returncode, 2)
        self.assertIn("--host: its part of a call is hidden with --launch device", queued.stderr)
        unknown = c3sim("kernel", *softmax, "--host", "neusigt")
        self.assertEqual(unknown.returncode, 3)
        self.assertIn("did you mean 'neusight'?", unknown.stderr)

    def test_json_has_the_documented_fields(self):
        done = c3sim("kernel", *GEMM, "--gpu", "mi300x", "--json")
        found = json.loads(done.stdout)
        self.assertEqual(found["schema_version"], 1)
        row, = found["rows"]
        self.assertEqual(list(row), ["gpu", "op", "dtype", "b", "m", "n", "k", "traffic", "layout", "warm", "scales", "result", "cus", "time_us", "launch_us",
                                     "state", "burst_us", "sustained_us", "bound", "waves",
                                     "work_groups", "tflops", "share_of_peak", "roofline_us", "hbm_read_bytes",
                                     "hbm_write_bytes", "found_in_caches_bytes", "kept_in_caches_bytes", "l2_bytes"])
        self.assertEqual([row[key] for key in list(row)[:8]], ["mi300x", "gemm", "bf16", 1, 2048, 8192, 4096, "tiled"])
        self.assertEqual((row["state"], row["burst_us"], row["sustained_us"]), ("burst", row["time_us"], row["time_us"]))
        flops = 2 * 2048 * 8192 * 4096
        self.assertAlmostEqual(row["tflops"], flops / row["time_us"] / 1e6)
        self.assertAlmostEqual(row["share_of_peak"], row["tflops"] / 1307.4)
        self.assertAlmostEqual(row["roofline_us"], flops / 1307.4e6)
        self.assertGreater(row["time_us"], row["roofline_us"])
        self.assertGreaterEqual(row["hbm_write_bytes"], 2 * 2048 * 8192)
        self.assertGreaterEqual(row["l2_bytes"], row["hbm_write_bytes"] + row["hbm_read_bytes"])

    def test_the_table_shows_the_same_numbers(self):
        row, = rows(*GEMM, "--gpu", "mi300x")
        lines = c3sim("kernel", *GEMM, "--gpu", "mi300x").stdout.splitlines()
        shown, = [line for line in lines if line.startswith("mi300x ")]
        self.assertIn("2048 x 8192 x 4096 bf16", shown)
        for text in (f"{row['time_us']:.2f}", row["bound"], f"{row['tflops']:.2f}", f"{100 * row['share_of_peak']:.1f}%",
                     f"{row['roofline_us']:.2f}", f"{row['hbm_read_bytes'] / 1e6:.2f}", f"{row['l2_bytes'] / 1e6:.2f}",
                     f"{(row['hbm_read_bytes'] + row['hbm_write_bytes']) / row['time_us'] / 1e3:.1f}"):
            self.assertIn(f" {text}", shown)

    def test_compute_units_are_called_what_all_vendors_of_the_table_call_them(self):
        for gpus, word in (("mi300x", "CUs"), ("h100-sxm,a100-sxm-80gb", "SMs"), ("mi300x,h100-sxm", "CUs")):
            with self.subTest(gpus=gpus):
                heading = c3sim("kernel", *GEMM, "--gpu", gpus).stdout.splitlines()[2].split()
                self.assertIn(word, heading)

    def test_several_values_give_a_row_each(self):
        found = rows("matmul", "--gpu", "mi300x,h100-sxm", "-m", "256,512", "-n", "8192", "-k", "64,128", "--dtype",
                     "half", "--cus", "64,128")
        self.assertEqual([(row["gpu"], row["m"], row["k"], row["cus"]) for row in found],
                         [(gpu, m, k, cus) for gpu in ("mi300x", "h100-sxm") for m in (256, 512) for k in (64, 128)
                          for cus in (64, 128)])

    def test_a_part_of_the_gpu_is_slower_and_an_override_is_taken(self):
        whole, = rows(*GEMM, "--gpu", "mi300x")
        for part in (("--cus", "64"), ("--hbm-share", "0.01"), ("--set", 'gpu.bf16_sustained="300 TFLOP/s"')):
            with self.subTest(part=part):
                self.assertGreater(rows(*GEMM, "--gpu", "mi300x", *part)[0]["time_us"], whole["time_us"])
        few_caches, = rows(*GEMM, "--gpu", "mi300x", "--cache-share", "0")
        self.assertGreater(few_caches["hbm_read_bytes"], whole["hbm_read_bytes"])

    def test_a_gpu_may_be_written_as_its_driver_does(self):
        self.assertEqual(rows("gemm", "--gpu", "NVIDIA_A100-PCIE-40GB", "-m", "1", "-n", "1", "-k", "1", "--dtype",
                              "float16")[0]["gpu"], "a100-pcie-40gb")

    def test_pools_take_windows_of_images(self):
        pool = ("--gpu", "h100-sxm", "-b", "512", "--channels", "64", "--height", "112", "--filter-h", "3", "--stride-h", "2", "--pad-h", "1", "--dtype", "fp16")
        forward, = rows("max_pool", *pool)
        self.assertEqual([forward[key] for key in ("op", "width", "filter_w", "stride_w", "pad_w", "pass")], ["max_pool", 112, 3, 2, 1, "forward"])
        images, inputs, outputs = 512 * 64, 112 * 112, 56 * 56
        self.assertAlmostEqual(forward["hbm_write_bytes"] / (images * outputs * (2 + 8)), 1, delta=0.01)  # indices of 8 bytes
        backward, = rows("max_pool", *pool, "--pass", "backward")
        self.assertAlmostEqual(backward["hbm_write_bytes"] / (images * inputs * 2 * 2), 1, delta=0.01)  # cleared, then written
        self.assertGreater(backward["time_us"], forward["time_us"])
        mean, = rows("avg_pool2d", *pool)
        self.assertEqual(mean["op"], "average_pool")
        self.assertLess(mean["time_us"], forward["time_us"])
        self.assertIn("512 of 64 x 112 x 112 fp16, windows of 3 x 3 stride 2 x 2 pad 1 x 1", c3sim("kernel", "max_pool", *pool).stdout)
        pixels, = rows("max_pool", *pool, "--layout", "nhwc")
        self.assertEqual((forward["layout"], pixels["layout"]), ("nchw", "nhwc"))
        self.assertAlmostEqual(pixels["hbm_read_bytes"] / forward["hbm_read_bytes"], 1, places=9)
        self.assertNotEqual(pixels["time_us"], forward["time_us"])
        self.assertIn("pad 1 x 1 nhwc", c3sim("kernel", "max_pool", *pool, "--layout", "nhwc").stdout)
        whole, = rows("average_pool", "--gpu", "h100-sxm", "--channels", "64", "--height", "7", "--filter-h", "7", "--dtype", "fp16")
        self.assertEqual((whole["stride_h"], whole["stride_w"]), (7, 7))
        self.assert_one_line(c3sim("kernel", "max_pool", *pool, "--pad-w", "2"), 2, "--pad-w.*must be at most half the window, 1")

    def test_batch_norms_of_few_channels_leave_a_gpu_idle_in_nchw(self):
        norm = ("--gpu", "h100-sxm", "-b", "64", "--channels", "64", "--height", "112", "--dtype", "fp16")
        rows_first, = rows("batch_norm", *norm)
        pixels_first, = rows("batch_norm", *norm, "--layout", "nhwc")
        self.assertEqual([rows_first[key] for key in ("op", "width", "layout", "pass", "work_groups")], ["batch_norm", 112, "nchw", "forward", 64])
        self.assertEqual(pixels_first["work_groups"], 264)  # 2 of each SM
        self.assertGreater(rows_first["time_us"], 3 * pixels_first["time_us"])
        self.assertIn("64 of 64 x 112 x 112 fp16 nhwc backward", c3sim("kernel", "batch_norm", *norm, "--layout", "nhwc", "--pass", "backward").stdout)
        self.assert_one_line(c3sim("kernel", "batch_norm", *norm[:-1], "fp8"), 2, "--dtype.*must be bf16, fp16 or fp32 of a batch norm")

    def test_recurrences_run_kernel_by_kernel(self):
        scan = ("--gpu", "h100-sxm", "-b", "2", "--heads", "32", "--kv-heads", "16", "--seq", "4096", "--head-dim", "128", "--dtype", "bf16")
        states, = rows("gated_delta", *scan, "--stage", "states")
        self.assertEqual([states[key] for key in ("op", "stage", "value_dim", "chunk", "pass", "initial", "work_groups")],
                         ["gated_delta", "states", 128, 64, "forward", "fresh", 2 * 32 * 4])  # four blocks of 32 values
        written = 2 * 32 * (4096 * 128 + 64 * 128 * 128) * 2  # V' of each token, a state of each chunk
        self.assertAlmostEqual(states["hbm_write_bytes"] / written, 1, delta=0.01)
        longer, = rows("gated_delta", *scan[:8], "--seq", "8192", *scan[10:], "--stage", "states")
        self.assertAlmostEqual(longer["time_us"] / states["time_us"], 2, delta=0.05)
        self.assertIn("states of 2 of 32/16 heads, 4096 x 128/128 in chunks of 64 bf16", c3sim("kernel", "gated_delta", *scan, "--stage", "states").stdout)
        passing, = rows("ssd", *scan, "--stage", "passing_gradient", "--pass", "backward")
        self.assertEqual((passing["op"], passing["chunk"]), ("mamba2", 256))
        self.assert_one_line(c3sim("kernel", "gated_delta", *scan, "--stage", "passing"), 2, "--stage.*norm, cumsum, inverse, rows, states, output")
        self.assert_one_line(c3sim("kernel", "gated_delta", *scan), 2, "--stage.*is missing; gated_delta requires it")

    def test_causal_convolutions_move_their_input_once(self):
        conv = ("--gpu", "h100-sxm", "--seq", "65536", "--channels", "8192", "--dtype", "bf16")
        last, = rows("causal_conv", *conv)
        first, = rows("causal_conv1d", *conv, "--layout", "channels_first")
        self.assertEqual([last[key] for key in ("op", "window", "layout", "work_groups")], ["causal_conv", 4, "channels_last", 8192 * 32])
        self.assertEqual((first["op"], first["work_groups"]), ("causal_conv", 8192))
        self.assertAlmostEqual(last["hbm_write_bytes"] / (65536 * 8192 * 2), 1, delta=0.01)
        self.assert_one_line(c3sim("kernel", "causal_conv", *conv, "--window", "5"), 2, "--window.*must be at most 4, not 5")

    def test_what_cannot_be_is_refused_with_the_reason(self):
        shape = GEMM[1:7]
        for arguments, code, message in (
            ((*GEMM, "--gpu", "mi3000x"), 3, "^--gpu:1:1: gpu: unknown GPU preset 'mi3000x'.*did you mean 'mi300x'"),
            ((*GEMM,), 2, "--gpu is required"),
            ((*GEMM, "--gpu", "mi300x", "--set", "gpu.hbm_raed=1"), 3, "did you mean 'hbm_read'"),
            ((*GEMM, "--gpu", "mi300x", "--cus", "305"), 4, "305"),
            ((*GEMM, "--gpu", "h100-pci"), 3, "did you mean 'h100-pcie'"),
            ((*GEMM, "--gpu", "mi300x", "--cus", "0"), 2, "--cus: '0'"),
            ((*GEMM, "--gpu", "mi300x", "--hbm-share", "0"), 2, "--hbm-share"),
            ((*GEMM, "--gpu", "mi300x", "--cache-share", "nan"), 2, "--cache-share"),
            ((*GEMM, "--gpu", "mi300x", "-o", "x.csv"), 2, "-o: is for --csv"),
            (("gem", *shape, "--gpu", "mi300x"), 2, "unknown operator 'gem'.*did you mean 'gemm'"),
            (("gemm", *shape, "--gpu", "mi300x"), 2, "--dtype: is missing"),
            (("gemm", *shape, "--gpu", "p4", "--dtype", "bf16"), 4, "'p4' has no matrix rate for bf16"),
            (("gemm", "-m", "0", "-n", "1", "-k", "1", "--gpu", "t4", "--dtype", "fp16"), 2, "-m: must be at least 1"),
            (("gemm", "-m", "9999999999999", "-n", "1", "-k", "1", "--gpu", "t4", "--dtype", "fp16"), 2,
             r"-m: must be at most 2\^40"),
            (("attention", "--heads", "32", "--kv-heads", "5", "--seq", "1", "--head-dim", "64", "--gpu", "t4",
              "--dtype", "fp16"), 2, "--kv-heads: 5 does not divide"),
            ((), 2, "OP: is missing"),
        ):
            with self.subTest(arguments=arguments):
                self.assert_one_line(c3sim("kernel", *arguments), code, message)


class KernelFile(ScratchTest):
    def write(self, text, name="shapes.csv"):
        (self.folder / name).write_text(text)

    def time(self, *arguments, name="shapes.csv", **options):
        return c3sim("kernel", "--csv", name, *arguments, folder=self.folder, **options)

    def table(self, name="out.csv"):
        with open(self.folder / name, newline="") as file:
            return list(csv.DictReader(file))

    def test_rows_keep_their_columns_and_get_the_times_of_single_kernels(self):
        self.write("# own shapes\r\nm,op,n,k,dtype\r\n2048,gemm,8192,4096,bf16\r\n\r\n1,\"linear\",2,3,half\r\n")
        done = self.time("--gpu", "mi300x", "-o", "out.csv")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", "wrote out.csv: 2 of 2 rows timed\n"))
        self.assertEqual(self.files(), ["out.csv", "shapes.csv"])
        found = self.table()
        self.assertEqual(list(found[0]), ["m", "op", "n", "k", "dtype", *OUT_COLUMNS])
        self.assertEqual([row["op"] for row in found], ["gemm", "linear"])
        alone, = rows(*GEMM, "--gpu", "mi300x")
        self.assertEqual(found[0]["bound"], alone["bound"])
        for key in ("time_us", "waves", "hbm_read_bytes", "hbm_write_bytes"):
            self.assertAlmostEqual(float(found[0][key]) / alone[key], 1, delta=1e-7)

    def test_broken_rows_are_reported_and_rejected_and_the_others_timed(self):
        self.write("op,dtype,m,n,k\ngemm,bf16,1,1,1\ngemm,fp8,1,1,1\nconv,bf16,1,1,1\ngemm,bf16,0,1,1\n"
                   "gemm,bf16,1099511627776,1099511627776,1\ngemm,bf16,1,1\ngemm,bf16,2,2,2\n")
        done = self.time("--gpu", "a100-sxm-80gb", "-o", "out.csv")
        self.assertEqual((done.returncode, done.stdout), (5, ""))
        lines = done.stderr.splitlines()
        for line, start in zip(lines, ("shapes.csv:3:1: op: gpu 'a100-sxm-80gb' has no matrix rate for fp8",
                                       "shapes.csv:4:1: op: unknown operator 'conv'",
                                       "shapes.csv:5:11: m: must be at least 1, not 0",
                                       "shapes.csv:6:11: m: the operator would move",
                                       "shapes.csv:7:13: row: has 4 cells, the header 5",
                                       "wrote out.csv: 2 of 7 rows timed"), strict=True):
            self.assertTrue(line.startswith(start), line)
        self.assertEqual([row["m"] for row in self.table()], ["1", "2"])
        rejected = (self.folder / "out.rejected.csv").read_text().splitlines()
        self.assertEqual(len(rejected), 6)
        self.assertEqual(rejected[0], "op,dtype,m,n,k,reason")
        self.assertEqual(rejected[3], 'gemm,bf16,0,1,1,"m: must be at least 1, not 0"')

        self.write("op,dtype,m,n,k\ngemm,bf16,1,1,1\n")
        self.assertEqual(self.time("--gpu", "a100-sxm-80gb", "-o", "out.csv").returncode, 0)
        self.assertEqual(self.files(), ["out.csv", "shapes.csv"])  # no reasons of an earlier run beside it

    def test_many_broken_rows_are_counted(self):
        self.write("op,dtype,m,n,k\n" + "gemm,bf16,0,1,1\n" * 50)
        lines = self.time("--gpu", "mi300x", "-o", "out.csv", "-q").stderr.splitlines()
        self.assertEqual(len(lines), 21)
        self.assertEqual(lines[-1], "c3sim: and 30 more broken rows")

    def test_a_header_that_cannot_be_right_leaves_nothing_behind(self):
        for header, row, message in (("op,dtype,m,n", "gemm,bf16,1,1", "shapes.csv:1:1: k: the column is missing"),
                                     ("op,m,n,k", "gemm,1,1,1", "shapes.csv:1:1: dtype: the column is missing"),
                                     ("op,dtype,m,n,kk", "gemm,bf16,1,1,1", "shapes.csv:1:14: kk: unknown column"),
                                     ("op,dtype,m,m", "gemm,bf16,1,1", "shapes.csv:1:12: m: is there twice"),
                                     ("dtype,m,n,k", "bf16,1,1,1", "shapes.csv:1:1: op: the column is missing")):
            with self.subTest(header=header):
                self.write(f"{header}\n{row}\n")
                self.assert_one_line(self.time("--gpu", "mi300x", "-o", "out.csv"), 3, f"^{message}")
                self.assertEqual(self.files(), ["shapes.csv"])

    def test_standard_output_takes_the_table_alone(self):
        self.write("op,m,n,k,dtype\ngemm,1,1,1,\ngemm,x,1,1,\ngemm,1,1,1,fp8\n")
        done = self.time("--gpu", "mi300x", "--dtype", "bf16", "-o", "-")
        self.assertEqual(done.returncode, 5)
        self.assertEqual(len(list(csv.DictReader(io.StringIO(done.stdout)))), 2)
        self.assertRegex(done.stderr, "^shapes.csv:3:6: m: 'x' is not an integer\n$")
        self.assertEqual(self.files(), ["shapes.csv"])

    def test_a_column_names_the_gpu_of_each_row_and_measured_times_stay(self):
        self.write("op,dtype,m,n,k,gpu,time_us\ngemm,fp16,4096,4096,4096,T4,9\ngemm,fp16,4096,4096,4096,,9\n"
                   "gemm,fp16,4096,4096,4096,h100,\n")
        done = self.time("--gpu", "h100-sxm", "-o", "out.csv")
        self.assertEqual(done.returncode, 5)
        self.assertIn("shapes.csv:4:26: gpu: unknown GPU preset 'h100'", done.stderr)
        t4, h100 = self.table()
        self.assertEqual(t4["measured_us"], "9")
        self.assertGreater(float(t4["time_us"]), 4 * float(h100["time_us"]))
        self.assertIn("gpu: is missing, and there is no --gpu", self.time("-o", "out.csv").stderr)

    def test_a_part_of_the_gpu_is_taken_for_every_row(self):
        self.write("op,dtype,m,n,k\ngemm,bf16,2048,8192,4096\n")
        self.time("--gpu", "mi300x", "--cus", "64", "-o", "out.csv")
        self.assert_one_line(self.time("--gpu", "mi300x", "--cus", "305", "-o", "none.csv"), 4, "has 304 CUs, not 305")
        self.assertFalse((self.folder / "none.csv").exists())
        part, = rows(*GEMM, "--gpu", "mi300x", "--cus", "64")
        self.assertAlmostEqual(float(self.table()[0]["time_us"]) / part["time_us"], 1, delta=1e-7)

    def test_many_rows_stay_in_order(self):
        count = 50_000
        self.write("op,dtype,m,n,k\n" + "".join(f"gemm,bf16,{m},64,64\n" for m in range(1, count + 1)))
        self.time("--gpu", "mi300x", "-o", "out.csv")
        self.assertEqual([int(row["m"]) for row in self.table()], list(range(1, count + 1)))

    def test_usage_and_files_that_are_not_there(self):
        self.write("op,dtype,m,n,k\ngemm,bf16,1,1,1\n")
        self.write("op,dtype,m,n,k\ngemm,bf16,1,1,1\n", "x.rejected.csv")
        before = self.files()
        for arguments, code, message in (
            (("--csv", "shapes.csv", "--gpu", "t4"), 2, "-o is required"),
            (("--csv", "shapes.csv", "-o", "out.csv"), 2, "--gpu is required"),
            (("--csv", "shapes.csv", "--gpu", "t4,p4", "-o", "out.csv"), 2, "--gpu: one for a file"),
            (("--csv", "shapes.csv", "--gpu", "t4", "-o", "out.csv", "--json"), 2, "--json"),
            (("--csv", "shapes.csv", "--gpu", "t4", "-o", "out.csv", "-m", "3"), 2, "-m: with --csv"),
            (("gemm", "--csv", "shapes.csv", "--gpu", "t4", "-o", "out.csv"), 2, "OP: with --csv"),
            (("--csv", "shapes.csv", "--gpu", "t4", "-o", "shapes.csv"), 2, "this file is read by the command, which would replace it"),
            (("--csv", "x.rejected.csv", "--gpu", "t4", "-o", "x.csv"), 2, "rejected rows would replace this file"),
            (("--csv", "none.csv", "--gpu", "t4", "-o", "out.csv"), 74, "none.csv: cannot read: No such file"),
            (("--csv", ".", "--gpu", "t4", "-o", "out.csv"), 74, "cannot read: Is a directory"),
            (("--csv", "shapes.csv", "--gpu", "t4", "-o", "no/out.csv"), 74, "no/out.csv: cannot create"),
        ):
            with self.subTest(arguments=arguments):
                self.assert_one_line(c3sim("kernel", *arguments, folder=self.folder), code, f"c3sim: .*{message}")
                self.assertEqual(self.files(), before)

    def test_a_full_disk_leaves_nothing_behind(self):
        self.write("op,dtype,m,n,k\n" + "gemm,bf16,1,1,1\n" * 1000)
        done = self.time("--gpu", "mi300x", "-o", "out.csv", preexec_fn=limit_file_size(20_000))
        self.assert_one_line(done, 74, "File too large")
        self.assertEqual(self.files(), ["shapes.csv"])

    def test_a_full_standard_output_is_an_error(self):
        self.write("op,dtype,m,n,k\n" + "gemm,bf16,1,1,1\n" * 1000)
        with open("/dev/full", "w") as full:
            done = subprocess.run([COMMAND, "kernel", "--csv", "shapes.csv", "--gpu", "mi300x", "-o", "-"],
                                  cwd=self.folder, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (74, "c3sim: standard output: No space left on device\n"))


if __name__ == "__main__":
    unittest.main()
