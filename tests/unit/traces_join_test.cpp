#include <doctest/doctest.h>

#include "tests/support/trace_text.hpp"
#include "workloads/traces/kernel_class.hpp"
#include "workloads/traces/rank_record.hpp"
#include "workloads/traces/rank_summary.hpp"

namespace c3::traces_join_test {

TEST_CASE("GPU work belongs to the call of its correlation and to the innermost operator around it") {
  TraceText text;
  text.op("aten::linear", 0, 100)
      .op("aten::mm", 10, 50)
      .launch("gemm", 20, 40, 30, 5)
      .launch("relu", 80, 90, 3, 6);
  text.kernel("earlier", 1, 2, 99);
  const Trace trace = text.read();
  const TraceJoin found = join(trace);
  // Sorted by start: earlier, gemm, relu.
  CHECK(found.launch_of[0] == kNoIndex);
  CHECK(found.op_of[0] == kNoIndex);
  CHECK(trace.name_of(trace.ops[found.op_of[1]]) == "aten::mm");
  CHECK(trace.name_of(trace.ops[found.op_of[2]]) == "aten::linear");
  CHECK(trace.name_of(trace.ops[found.parent_op[found.op_of[1]]]) == "aten::linear");
}

TEST_CASE("operators of other threads are not around a launch") {
  TraceText text;
  text.op("aten::mm", 0, 100, "", 2).launch("k", 20, 40, 30, 5, 7, 1);
  CHECK(join(text.read()).op_of[0] == kNoIndex);
}

TEST_CASE("a driver call inside a runtime call launches on behalf of it") {
  TraceText text;
  text.call("cudaLaunchKernelExC", 10, 20, 1).call("cuLaunchKernel", 15, 5, 2).kernel("k", 40, 5, 2);
  const Trace trace = text.read();
  const TraceJoin found = join(trace);
  CHECK(trace.name_of(trace.calls[found.launch_of[0]]) == "cuLaunchKernel");
  CHECK(trace.name_of(trace.calls[found.outer_call[found.launch_of[0]]]) == "cudaLaunchKernelExC");
  CHECK(found.calls_of_thread[0].size() == 1);
}

TEST_CASE("a launch of a graph owns all its kernels") {
  TraceText text;
  text.call("cudaGraphLaunch", 0, 10, 1).kernel("a", 20, 5, 1).kernel("b", 26, 5, 1).launch("c", 40, 50, 5, 2);
  CHECK(graph_launches(join(text.read())) == 1);
}

TEST_CASE("the id of an operator in GPU work counts only where it is not the correlation again") {
  TraceText text;
  text.op("aten::a", 0, 1, R"("External id":5)").kernel("k", 10, 1, 77, 7, R"(,"External id":5)");
  const Trace with_ids = text.read();
  CHECK(join(with_ids).op_of[0] == 0);
  TraceText old;
  old.op("aten::a", 0, 1, R"("External id":5)").kernel("k", 10, 1, 5, 7, R"(,"External id":5)");
  CHECK(join(old.read()).op_of[0] == kNoIndex);
}

TEST_CASE("kernels are classed by name") {
  const auto work = [](const char* name) { return work_class(EventKind::kernel, name); };
  CHECK(work("ncclDevKernel_AllReduce_Sum_f16_RING_LL(ncclDevComm*)") == WorkClass::collective);
  CHECK(work("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t") == WorkClass::collective);
  CHECK(work("ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_64x3_tn") == WorkClass::gemm);
  CHECK(work("Cijk_Ailk_Bljk_HHS_BH_MT128x128") == WorkClass::gemm);
  CHECK(work("void pytorch_flash::flash_fwd_kernel<..>") == WorkClass::attention);
  CHECK(work("void at::native::vectorized_elementwise_kernel<4>") == WorkClass::vector);
  CHECK(work("__amd_rocclr_copyBuffer") == WorkClass::copy);
  CHECK(work("void fbgemm_gpu::permute_indices_weights_kernel<>") == WorkClass::vector);
  CHECK(work("my_kernel") == WorkClass::other);
  CHECK(work_class(EventKind::memset, "gemm") == WorkClass::memset);
}

TEST_CASE("metadata say that work communicates before its name does") {
  TraceText text;
  text.op("record_param_comms", 0, 100, R"("Collective name":"allreduce","In msg nelems":8,"dtype":"Float")");
  text.op("aten::copy_", 60, 20);
  text.kernel("fused_norm", 300, 10, 9, 20, R"(,"Collective name":"allreduce")");  // says so itself
  text.launch("reduce_kernel", 20, 40, 5, 1)
      .launch("elementwise_kernel", 65, 70, 5, 2);  // c10d's, and a copy's
  const auto copy = [&](const char* name, int start, int correlation) {
    text.call("cudaMemcpyAsync", start, 2, correlation)
        .event("gpu_memcpy", name, start + 5, 1, R"("pid":0,"tid":7)",
               fmt::format(R"("stream":7,"device":0,"correlation":{})", correlation));
  };
  copy("Memcpy PtoP (Device -> Device)", 82, 3);    // of NCCL's copy engines
  copy("Memcpy HtoD (Pageable -> Device)", 85, 4);  // of its setup
  const Rank rank(text.read());
  CHECK(rank.classes == std::vector{WorkClass::collective, WorkClass::vector, WorkClass::collective,
                                    WorkClass::copy, WorkClass::collective});
  REQUIRE(rank.collectives.size() == 3);
  CHECK(rank.collectives[0].bytes == 32);
  CHECK(rank.collectives[1].kind == "all_reduce");
  CHECK_FALSE(rank.collectives[1].bytes.has_value());  // one of several copies
}

TEST_CASE(
    "the share of GPU time with shapes counts operators around the launch and collectives of known size") {
  TraceText text;
  text.op("aten::linear", 0, 100, R"("Input Dims":[[4, 8]])")
      .op("aten::mm", 10, 50, R"("Input Dims":[[], []])");
  text.launch("gemm", 20, 40, 30, 5).launch("unknown", 200, 210, 60, 6);
  text.kernel(
      "ncclDevKernel_Generic", 300, 10, 9, 20,
      R"(,"Collective name":"allreduce","In msg nelems":8,"Out msg nelems":8,"dtype":"Float","Group size":2)");
  const Rank rank(text.read());
  const RankSummary summary = summary_of(rank);
  CHECK(summary.gpu_time == 100_us);
  CHECK(summary.time_with_shapes == 40_us);
  CHECK(summary.launched == 2);
}

TEST_CASE("a GPU that kernels and properties number differently is known where all GPUs are alike") {
  TraceText text;
  text.launch("gemm", 0, 20, 30, 1);  // on device 0
  const auto gpu_of = [&](const std::string& second) {
    const std::string gpus =
        R"("deviceProperties":[{"id":2,"name":"MI300X","numSms":304,"totalGlobalMem":5},{"id":3,"name":")" +
        second + R"(","numSms":304,"totalGlobalMem":5}],)";
    return summary_of(Rank(text.read(gpus))).gpu;
  };
  CHECK(gpu_of("MI300X") == "MI300X");
  CHECK(gpu_of("MI325X") == "");
}

}  // namespace c3::traces_join_test
