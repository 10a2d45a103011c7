#include "configs/jobs/measured_kernels.hpp"
#include "gpu/kernels/attention/attention_shape.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "gpu/kernels/vector/vector_shape.hpp"

#include <doctest/doctest.h>

#include "tests/support/print_units.hpp"
#include "tests/unit/config_files.hpp"

namespace c3::config_measured_kernels_test {
namespace {

MeasuredKernels read(const std::string& text, const std::string& gpu = "") {
  const ScratchFolder folder;
  return read_measured_kernels(folder.write("t.csv", text), gpu);
}

}  // namespace

TEST_CASE("measured times stand in a table of shapes beside the GPU") {
  const auto found = read("op,dtype,m,n,k,gpu,time_us,split\nmatmul,bf16,2,3,4,NVIDIA_H100-SXM,12.5,test\n");
  CHECK(found.broken.empty());
  REQUIRE(found.kernels.size() == 1);
  const MeasuredKernel& kernel = found.kernels.front();
  CHECK(kernel.op == Operator{GemmShape{.m = 2, .n = 3, .k = 4}});
  CHECK(kernel.gpu == "h100-sxm");
  CHECK(kernel.time.value == doctest::Approx(12.5e-6).epsilon(1e-12));
  CHECK_FALSE(kernel.train);
  CHECK(kernel.kernel_class == "matmul");
  CHECK(kernel.line == 2);
}

TEST_CASE("NeuSight's products reduce over N, in fp32, and name their devices as the driver does") {
  const auto found = read(
      "split,device,op,B,M,N,K,ms,tile0,tile1,grid,block,kernel\n"
      "train,P100-PCIE-16GB,linear,1,58,13,141,0.095712,128,32,4,256,maxwell_sgemm_128x32_tn\n"
      "test,Tesla_V100-PCIE-32GB,bmm,13,27,15,29,0.0535893,128,64,13,128,x\n");
  CHECK(found.broken.empty());
  REQUIRE(found.kernels.size() == 2);
  CHECK(found.kernels[0].op == Operator{GemmShape{.m = 58, .n = 141, .k = 13, .dtype = DType::fp32}});
  CHECK(found.kernels[0].gpu == "p100-pcie-16gb");
  CHECK(found.kernels[0].kernel_class == "linear");
  CHECK(found.kernels[0].train);
  CHECK(found.kernels[0].time.value == doctest::Approx(95.712e-6).epsilon(1e-12));
  CHECK(found.kernels[1].op ==
        Operator{GemmShape{.m = 27, .n = 29, .k = 15, .dtype = DType::fp32, .batch = 13}});
  CHECK(found.kernels[1].gpu == "v100-pcie-32gb");
  CHECK_FALSE(found.kernels[1].train);
}

TEST_CASE("NeuSight's vector operators have B rows of H") {
  const auto found =
      read("split,device,op,B,H,ms,grid,block,kernel\ntrain,T4,ln,127,168,0.05,42,128,vec_ew4\n");
  REQUIRE(found.kernels.size() == 1);
  CHECK(found.kernels[0].op ==
        Operator{VectorShape{
            .chain = VectorOp::layernorm, .rows = 127, .cols = 168, .dtype = DType::fp32, .is_eager = true}});
  CHECK(found.kernels[0].gpu == "t4");
}

TEST_CASE("aiconfigurator's tables take the GPU from the caller") {
  const auto gemm =
      read("source,dtype,m,n,k,ms\ntrtllm-1.0.0,bfloat16,8192,65536,4096,16.701\n", "a100-sxm-80gb");
  REQUIRE(gemm.kernels.size() == 1);
  CHECK(gemm.kernels[0].op == Operator{GemmShape{.m = 8192, .n = 65536, .k = 4096}});
  CHECK(gemm.kernels[0].gpu == "a100-sxm-80gb");
  CHECK(gemm.kernels[0].kernel_class == "gemm");
  const auto attention =
      read("batch_size,isl,num_heads,num_key_value_heads,head_dim,ms\n4,16384,96,2,128,176.03\n", "h100-sxm");
  REQUIRE(attention.kernels.size() == 1);
  CHECK(attention.kernels[0].op == Operator{AttentionShape{.batch = 4,
                                                           .heads = 96,
                                                           .kv_heads = 2,
                                                           .queries = 16384,
                                                           .keys = 16384,
                                                           .head_dim = 128,
                                                           .causal = true}});
  CHECK(attention.kernels[0].time.value == doctest::Approx(0.17603).epsilon(1e-12));
}

TEST_CASE("rows without a usable time, GPU or split are broken, with their place") {
  const auto found = read(
      "op,dtype,m,n,k,gpu,time_us,split\ngemm,bf16,1,1,1,t4,,\ngemm,bf16,1,1,1,t4,0,\ngemm,bf16,1,1,1,t4,nan,\n"
      "gemm,bf16,1,1,1,t5,1,\ngemm,bf16,1,1,1,,1,\ngemm,bf16,1,1,1,t4,1,tset\ngemm,bf16,1,0,1,t4,1,\n");
  CHECK(found.kernels.empty());
  REQUIRE(found.broken.size() == 7);
  CHECK(found.broken[0].key == "n");  // the shape's mistakes come first
  CHECK(found.broken[1].reason == "'' is no time: a number above 0");
  CHECK(found.broken[2].reason == "'0' is no time: a number above 0");
  CHECK(found.broken[3].reason == "'nan' is no time: a number above 0");
  CHECK(found.broken[4].reason == Part{"unknown GPU preset 't5'"});
  CHECK(found.broken[4].at.line == 5);
  CHECK(found.broken[4].at.column == 17);
  CHECK(found.broken[5].key == "gpu");
  CHECK(found.broken[6].reason == "must be train or test, not 'tset'");
}

TEST_CASE("a header of no known table lists the known ones") {
  const std::string error = error_of([] { read("op,dtype,m,n,k\n"); });
  CHECK(error == Part{"t.csv:1:1: header: is that of no table of measured kernels"});
  CHECK(error == Part{"split,device,op,B,M,N,K,ms"});
  CHECK(error == Part{"batch_size,isl,num_heads,num_key_value_heads,head_dim,ms"});
  CHECK(error_of([] { read("source,dtype,m,n,k,ms\nx,bf16,1,1,1,1\n"); }) ==
        Part{"gpu: the table does not say"});
  CHECK(error_of([] { read("op,dtype,m,n,k,gpu,time_us,splt\n"); }) == Part{"did you mean 'split'?"});
}

}  // namespace c3::config_measured_kernels_test
