"""c3sim reproduce sets measurements beside what is computed here, and says which are not there."""

import json
import os
import shutil
import subprocess
import unittest
import unittest.mock

from command import COMMAND, ScratchTest, c3sim

NEUSIGHT_PRODUCT = "split,device,op,B,M,N,K,ms,tile0,tile1,grid,block,kernel\n"
MODEL = ("device,model,mode,seq,batch,option,n_layer,measured_ms,measured_fw_ms,measured_bw_ms,neusight_ms,"
         "neusight_fw_ms,neusight_bw_ms,roofline_ms,roofline_fw_ms,roofline_bw_ms\n")
GEMM = "source,dtype,m,n,k,ms\nx,bfloat16,4096,4096,4096,0.6\nx,bfloat16,8,4096,4096,0.05\n"
ATTENTION = "batch_size,isl,num_heads,num_key_value_heads,head_dim,ms\n4,2048,32,8,128,1\n"

# A few rows of each table, of no real machine.
TABLES = {
    "neusight_nvidia_bmm.csv": NEUSIGHT_PRODUCT + "test,A100-PCIE-40GB,bmm,16,512,512,512,0.3,,,,,\n",
    "neusight_nvidia_linear.csv": NEUSIGHT_PRODUCT
    + "test,V100-PCIE-32GB,linear,1,4096,1024,1024,0.8,,,,,\ntest,V100-PCIE-32GB,linear,1,8,8,8,0.03,,,,,\n"
    + "train,V100-PCIE-32GB,linear,1,4096,2048,1024,1.5,,,,,\n",
    "neusight_nvidia_vec.csv": "split,device,op,B,H,ms,grid,block,kernel\ntest,T4,add,16384,4096,3,,,\n",
    "neusight_e2e.csv": MODEL + "Tesla_V100-PCIE-32GB,bert_large,inf,512,8,,24,257,257,0,271,271,0,222,222,0\n",
    "gemm_a100_sxm.csv": GEMM,
    "gemm_h100_sxm.csv": GEMM + "x,fp8,4096,4096,4096,0.2\n",
    "gemm_b200_burst_and_sustained.csv": "framework,dtype,m,n,k,sustained_ms,power_W,burst_ms\n"
    + "trtllm,bfloat16,4096,4096,4096,0.12,800,0.1\n",
    "neusight_h100_bmm_half.csv": NEUSIGHT_PRODUCT + "test,H100-SXM-80GB,bmm,16,1024,1024,1024,0.9,,,,,\n",
    "neusight_mi100_linear.csv": NEUSIGHT_PRODUCT + "test,MI100,linear,1,4096,1024,1024,0.4,,,,,\n",
    "neusight_mi100_bmm.csv": NEUSIGHT_PRODUCT + "test,MI100,bmm,16,1024,1024,1024,1.5,,,,,\n",
    "aiter_attention_mi300x.csv": "b,heads,kv_heads,seq,kv_seq,head_dim,causal,fwd_tflops,bwd_a16_tflops,bwd_a32_tflops\n"
    + "1,32,8,2048,2048,128,0,500,400,350\n",
    "aiter_gemm_mi308x_mi300x.csv": "gpu,cu_num,kind,B,M,N,K,libtype,splitK,us,kernelName,file\n"
    + "MI300X,304,8bit,,4096,4096,4096,ck,0,180,x,a8w8_blockscale_tuned_gemm_x.csv\n"
    + "MI308X,80,8bit,,4096,4096,4096,ck,0,400,x,dsv3_a8w8_bpreshuffle_tuned_gemm.csv\n"
    + "MI308X,80,bf16,,4096,4096,4096,ck,0,800,x,dsv3_bf16_tuned_gemm.csv\n",
    "simumax_b200_gemm.csv": "b,m,n,k,layout,accumulate,out_dtype,tflops,ms\n"
    + "1,4096,8192,8192,NT,True,fp32,1100,0.5\n",
    "attention_prefill_causal_a100_sxm.csv": ATTENTION,
    "attention_prefill_causal_h100_sxm.csv": ATTENTION,
    "linear_attention_h100.csv": "framework,version,op_name,kernel_source,phase,batch_size,seq_len,num_tokens,d_model,num_k_heads,num_v_heads,model_name,us\n"
    + "SGLang,0,gdn,chunk_gated_delta_rule,context,1,1024,1024,2048,16,32,m,100\n",
    "mamba2_h100.csv": "kernel_source,phase,batch_size,seq_len,num_tokens,d_model,d_state,nheads,n_groups,chunk_size,model_name,us\n"
    + "causal_conv1d_fn,context,1,1024,1024,1024,64,16,4,128,m,10\n",
}
FIELDS = ["id", "label", "unit", "published", "simulated", "p5", "p95", "low", "high", "gate", "pass", "kind", "known_miss",
          "source", "rows", "skipped", "beside"]


class Reproduce(ScratchTest):
    def write(self, tables):
        (self.folder / "kernels").mkdir()
        for name, text in tables.items():
            (self.folder / "kernels" / name).write_text(text)

    def test_an_unknown_study_is_a_usage_error_with_a_suggestion(self):
        self.assert_one_line(c3sim("reproduce", "kernel"), 2,
                             r"^c3sim: unknown study 'kernel'; did you mean 'kernels'\? known: bert, camping, cluster, collectives, conccl, convolutions, dlrm, goldyloc, hybrid_sharding, interference, jitq, kernels and 8 more$")
        self.assert_one_line(c3sim("reproduce"), 2, "NAME is required")

    def test_a_command_without_the_program_of_the_studies_says_what_to_build(self):
        alone = shutil.copy(COMMAND, self.folder / "c3sim")
        done = subprocess.run([alone, "reproduce", "t3"], capture_output=True, text=True, check=False)
        self.assert_one_line(done, 74, r"^c3sim: .*/c3sim-reproduce: cannot start the studies: it is not there: its CMake target is c3sim_reproduce$")
        listed = subprocess.run([alone, "list", "studies"], capture_output=True, text=True, check=False)
        self.assertIn("interference", listed.stdout)

    def test_measurements_that_are_not_there_are_named(self):
        tables = dict(TABLES)
        del tables["gemm_h100_sxm.csv"]
        self.write(tables)
        self.assert_one_line(
            c3sim("reproduce", "kernels", "--data", self.folder), 74,
            r"cannot reproduce kernels: the measurements are not there: kernels/gemm_h100_sxm.csv \(.*H100\); "
            "name their folder with --data or C3SIM_DATA$")

    def test_the_environment_names_the_folder_too(self):
        with unittest.mock.patch.dict(os.environ, {"C3SIM_DATA": "/nowhere"}):
            done = c3sim("reproduce", "kernels")
        self.assert_one_line(done, 74, "^c3sim: /nowhere: cannot reproduce kernels")
        for name in TABLES:
            self.assertIn(f"kernels/{name} (", done.stderr)

    def test_json_has_the_documented_fields(self):
        self.write(TABLES)
        done = c3sim("reproduce", "kernels", "--data", self.folder, "--json")
        self.assertEqual((done.returncode, done.stderr), (1, ""))  # a table of one row cannot be fitted
        found = json.loads(done.stdout)
        self.assertEqual((found["schema_version"], found["study"]), (1, "kernels"))
        for figure in found["figures"]:
            self.assertEqual(list(figure), FIELDS)
            self.assertEqual(figure["unit"], "%")
            self.assertTrue(figure["source"])
            self.assertEqual(figure["pass"] is None, figure["gate"] == "none")
        figures = {figure["id"]: figure for figure in found["figures"]}
        self.assertEqual(len(figures), len(found["figures"]))

        linear = figures["fp32.linear"]
        self.assertEqual((linear["rows"], linear["kind"], linear["gate"], linear["high"]), (1, "fitted", "band", 10))
        # 2 x 4096 x 1024 x 1024 flop at 14.1 TFLOP/s take 0.609 ms of the measured 0.8.
        self.assertAlmostEqual(linear["beside"]["roofline"], 100 * (1 - 2 * 4096 * 1024**2 / 14.1e12 / 0.8e-3), delta=1)

        unseen = figures["fp32.unseen.linear.v100-pcie-32gb"]
        self.assertEqual((unseen["simulated"], unseen["rows"], unseen["skipped"]), (None, 0, 1))
        self.assertEqual((figures["bf16.unseen_shapes"]["simulated"], figures["bf16.unseen_shapes"]["pass"]), (None, False))
        self.assertEqual(figures["bf16.all_m.h100-sxm"]["rows"], 2)
        self.assertEqual(figures["fp8.h100"]["rows"], 1)
        self.assertIn("quantises", figures["fp8.h100"]["known_miss"])
        self.assertEqual([figures[f"tuned.{name}"]["rows"] for name in ("mi300x", "mi308x", "mi308x.block", "mi308x.token")],
                         [1, 1, 0, 1])
        self.assertEqual(figures["mechanism.h100.all"]["rows"], 1)

        model = figures["models.row.inference.v100-pcie-32gb.bert-large.8x512"]
        self.assertEqual((model["kind"], model["rows"]), ("predicted", 1))
        self.assertAlmostEqual(model["beside"]["NeuSight"], 100 * (271 / 257 - 1))
        self.assertAlmostEqual(model["beside"]["roofline"], 100 * (1 - 222 / 257))
        self.assertAlmostEqual(model["simulated"], figures["models.inference"]["simulated"])

    def test_the_table_shows_the_same_numbers_and_says_what_misses(self):
        self.write(TABLES)
        arguments = ("reproduce", "kernels", "--data", self.folder)
        figures = {figure["id"]: figure for figure in json.loads(c3sim(*arguments, "--json").stdout)["figures"]}
        done = c3sim(*arguments)
        self.assertEqual(done.returncode, 1)
        line, = [line for line in done.stdout.splitlines() if line.startswith("linear, v100-pcie-32gb") and "fitted" in line]
        self.assertIn(f"{figures['fp32.linear.v100-pcie-32gb']['simulated']:.1f}", line)
        missed, = [line for line in done.stdout.splitlines() if line.startswith("both in the fit, unseen shapes")]
        self.assertIn("0..8  MISS", missed)

    def test_a_table_that_is_none_is_refused_at_its_place(self):
        self.write({**TABLES, "neusight_e2e.csv": MODEL + "T4,opt_13,inf,1,1,,,1,x,0,,,,,,\n"})
        self.assert_one_line(c3sim("reproduce", "kernels", "--data", self.folder), 3,
                             r"neusight_e2e.csv:2:23: measured_fw_ms: 'x' is not a number")


if __name__ == "__main__":
    unittest.main()
