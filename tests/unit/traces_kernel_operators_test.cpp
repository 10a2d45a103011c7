#include <doctest/doctest.h>

#include <limits>
#include <string>

#include <fmt/format.h>

#include "gpu/kernels/attention/attention_shape.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "gpu/kernels/operator_table.hpp"
#include "gpu/kernels/vector/vector_shape.hpp"
#include "tests/support/trace_text.hpp"
#include "workloads/traces/retiming/kernel_operators.hpp"
#include "workloads/traces/retiming/op_arguments.hpp"

namespace c3::traces_kernel_operators_test {

namespace {

std::string arguments(const std::string& dims, const std::string& types, const std::string& concrete = "[]") {
  return fmt::format(R"("Input Dims":{},"Input type":{},"Concrete Inputs":{})", dims, types, concrete);
}

/// What is found for the only kernel of an operator with these arguments.
KernelOperator found_for(const std::string& op, const std::string& kernel, const std::string& recorded) {
  TraceText text;
  text.op(op, 0, 100, recorded).launch(kernel, 20, 40, 30, 5);
  const Rank rank(text.read());
  return KernelOperators(rank).of(0);
}

GemmShape product(const std::string& op, const std::string& dims, const std::string& type = "c10::BFloat16",
                  const std::string& kernel = "sm90_xmma_gemm") {
  const std::string types = fmt::format(R"(["{0}","{0}","{0}"])", type);
  const KernelOperator found = found_for(op, kernel, arguments(dims, types));
  INFO(found.note);
  REQUIRE(found.op);
  REQUIRE(found.op->as<GemmShape>() != nullptr);
  return *found.op->as<GemmShape>();
}

VectorShape vector_shape(const std::string& op, const std::string& kernel, const std::string& recorded) {
  const KernelOperator found = found_for(op, kernel, recorded);
  INFO(found.note);
  REQUIRE(found.op);
  REQUIRE(found.op->as<VectorShape>() != nullptr);
  return *found.op->as<VectorShape>();
}

constexpr const char* kBf16Pair = R"(["c10::BFloat16","c10::BFloat16","Scalar"])";

}  // namespace

TEST_CASE("a product has the extents of its factors") {
  // [788, 768] x [768, 3072], the bias first: m 788, n 3072, k 768.
  CHECK(product("aten::addmm", "[[3072],[788,768],[768,3072],[],[]]") == GemmShape{788, 3072, 768});
  CHECK(product("aten::mm", "[[788,768],[768,3072]]") == GemmShape{788, 3072, 768});
  CHECK(product("aten::mv", "[[788,768],[768]]") == GemmShape{788, 1, 768});
}

TEST_CASE("a batch of products is the leading dimension of both factors") {
  const GemmShape expected{.m = 2048, .n = 64, .k = 2048, .dtype = DType::fp16, .batch = 32};
  CHECK(product("aten::bmm", "[[32,2048,2048],[32,2048,64]]", "c10::Half") == expected);
  CHECK(product("aten::baddbmm", "[[32,2048,64],[32,2048,2048],[32,2048,64]]", "c10::Half") == expected);
}

TEST_CASE("the weight of a linear layer is transposed, and its input may have more dimensions") {
  // 4 x 197 rows of 768 by a weight of [3072, 768].
  CHECK(product("aten::linear", "[[4,197,768],[3072,768],[3072]]") == GemmShape{788, 3072, 768});
}

TEST_CASE("a product of fp32 factors on matrix units is one in TF32, half as fast as 16 bits a number") {
  CHECK(product("aten::mm", "[[8,16],[16,32]]", "float", "ampere_sgemm_128x128_tn") ==
        GemmShape{.m = 8, .n = 32, .k = 16, .dtype = DType::fp32});
  CHECK(product("aten::mm", "[[8,16],[16,32]]", "float", "cutlass_80_tensorop_s1688gemm_64x64_32x4_nn") ==
        GemmShape{.m = 8, .n = 32, .k = 32, .dtype = DType::bf16});
}

TEST_CASE("a reduction of a split product takes no time of its own") {
  TraceText text;
  text.op("aten::mm", 0, 100, arguments("[[8,16],[16,32]]", R"(["float","float"])"))
      .launch("ampere_sgemm_splitK", 20, 40, 30, 5)
      .launch("splitKreduce_kernel<float>", 30, 71, 5, 6);
  const Rank rank(text.read());
  const KernelOperators found(rank);
  CHECK(found.of(0).op);
  CHECK(found.of(1).in_another);
  CHECK(found.of(1).op == found.of(0).op);
}

TEST_CASE("a reduction of a product that is not known keeps its time") {
  TraceText text;
  text.op("aten::mm", 0, 100, arguments("[[8,16],[16,32]]", R"(["double","double"])"))
      .launch("cutlass_80_tensorop_d884gemm_64x64", 20, 40, 30, 5)
      .launch("splitKreduce_kernel<double>", 30, 71, 5, 6);
  const Rank rank(text.read());
  const KernelOperators found(rank);
  CHECK_FALSE(found.of(0).op);
  CHECK_FALSE(found.of(1).op);
  CHECK_FALSE(found.of(1).in_another);
}

TEST_CASE("what two kernels of one product compute is not told apart") {
  TraceText text;
  text.op("aten::mm", 0, 100, arguments("[[8,16],[16,32]]", R"(["float","float"])"))
      .launch("sgemm_a", 20, 40, 30, 5)
      .launch("sgemm_b", 30, 71, 5, 6);
  const Rank rank(text.read());
  CHECK_FALSE(KernelOperators(rank).of(0).op);
}

TEST_CASE("a kernel without an operator whose arguments are recorded says so") {
  TraceText text;
  text.op("aten::mm", 0, 100).launch("gemm", 20, 40, 30, 5);
  const Rank rank(text.read());
  const KernelOperators found(rank);
  CHECK_FALSE(found.of(0).op);
  CHECK(found.of(0).note == "no operator with recorded arguments around its launch");
}

TEST_CASE("factors that do not fit, and types without a rate, have a reason") {
  CHECK_FALSE(found_for("aten::mm", "gemm", arguments("[[8,16],[17,32]]", R"(["float","float"])")).op);
  CHECK(found_for("aten::mm", "gemm", arguments("[[8,16],[16,32]]", R"(["double","double"])")).note ==
        "a product in a type without a rate");
  CHECK_FALSE(found_for("aten::mm", "gemm",
                        R"("Input Dims":[[8,"x"],[[[[[)"
                        R"(]]]]]],"Input type":7)")
                  .op);
}

TEST_CASE("an elementwise operator reads its tensors and writes the broadcast one") {
  // 2 x 4 x 197 x 768 in, one of them out.
  const VectorShape sum = vector_shape("aten::add", "vectorized_elementwise_kernel<4>",
                                       arguments("[[4,197,768],[4,197,768],[]]", kBf16Pair));
  CHECK(sum == VectorShape{VectorOp::add, 1, 4 * 197 * 768, DType::bf16});
  // A scalar is no tensor.
  const VectorShape scaled = vector_shape("aten::mul", "vectorized_elementwise_kernel<4>",
                                          arguments("[[8,3137],[]]", R"(["c10::BFloat16","double"])"));
  CHECK(scaled == VectorShape{VectorOp::mul_scalar, 1, 8 * 3137, DType::bf16});
}

TEST_CASE("a copy that changes the type moves as many bytes as recorded, whatever it is called") {
  // 100 numbers of 4 B in, 100 of 2 B out: two tensors of 200 B in, one out.
  const VectorShape narrowed = vector_shape("aten::copy_", "unrolled_elementwise_kernel<>",
                                            arguments("[[100],[100],[]]", R"(["c10::Half","float","Scalar"])"));
  CHECK(narrowed == VectorShape{VectorOp::add, 1, 100, DType::fp16});
  // 200 B in, 400 B out: 300 B each way are 75 numbers of 4 B.
  const VectorShape widened = vector_shape("aten::copy_", "unrolled_elementwise_kernel<>",
                                           arguments("[[100],[100],[]]", R"(["float","c10::Half","Scalar"])"));
  CHECK(widened == VectorShape{VectorOp::copy, 1, 75, DType::fp32});
}

TEST_CASE("a norm's rows are as long as what it normalises, a softmax's as the dimension that it names") {
  const VectorShape norm =
      vector_shape("aten::native_layer_norm", "vectorized_layer_norm_kernel<>",
                   arguments("[[4,197,768],[],[768],[768],[]]",
                             R"(["c10::BFloat16","ScalarList","c10::BFloat16","c10::BFloat16","Scalar"])",
                             R"(["","[768]","","","1e-05"])"));
  CHECK(norm == VectorShape{VectorOp::layernorm, 788, 768, DType::bf16, Pass::forward, /*is_eager=*/true});
  const VectorShape softmax = vector_shape(
      "aten::_softmax", "softmax_warp_forward<>",
      arguments("[[8,12,31,37],[],[]]", R"(["c10::BFloat16","Scalar","Scalar"])", R"(["","-1","False"])"));
  CHECK(softmax == VectorShape{VectorOp::softmax, 8 * 12 * 31, 37, DType::bf16});
}

TEST_CASE("attention has heads and tokens where the operator's layout has them") {
  const std::string four =
      R"(["c10::BFloat16","c10::BFloat16","c10::BFloat16","","","Scalar","Scalar","Scalar","Scalar"])";
  const KernelOperator flash =
      found_for("aten::_flash_attention_forward", "pytorch_flash::flash_fwd_kernel<>",
                arguments("[[4,197,12,64],[4,199,6,64],[4,199,6,64],[],[],[],[],[],[]]", four,
                          R"(["","","","","","197","199","0.","False"])"));
  REQUIRE(flash.op);
  CHECK(*flash.op->as<AttentionShape>() == AttentionShape{.batch = 4,
                                                          .heads = 12,
                                                          .kv_heads = 6,
                                                          .queries = 197,
                                                          .keys = 199,
                                                          .head_dim = 64,
                                                          .kernel = AttentionKernel::flash2});
}

TEST_CASE("attention that does not say whether it is causal is not guessed") {
  const KernelOperator flash = found_for("aten::_flash_attention_forward", "flash_fwd_kernel",
                                         arguments("[[4,197,12,64],[4,197,12,64],[4,197,12,64]]", kBf16Pair));
  CHECK(flash.note == "attention without a record of whether it is causal");
}

TEST_CASE("flops of a derived product are two for each multiplication") {
  const Operator op(product("aten::bmm", "[[3,5,7],[3,7,11]]"));
  CHECK(matrix_flops(op).value == 2.0 * 3 * 5 * 7 * 11);
}

TEST_CASE("what prepares attention's backward pass is in the time of its main kernel") {
  const std::string types =
      R"(["c10::Half","c10::Half","c10::Half","c10::Half","c10::Half","float","","","Scalar","Scalar","Scalar","Scalar"])";
  const std::string one = "[2,512,8,64]";
  TraceText text;
  text.op("aten::_flash_attention_backward", 0, 100,
          arguments(fmt::format("[{0},{0},{0},{0},{0},[2,8,512],[],[],[],[],[],[]]", one), types,
                    R"(["","","","","","","","","512","512","0.","True"])"))
      .launch("flash_bwd_dot_do_o_kernel", 10, 20, 3, 1)
      .launch("flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel", 20, 30, 30, 2)
      .launch("flash_bwd_convert_dq_kernel", 30, 61, 3, 3);
  const Rank rank(text.read());
  const KernelOperators found(rank);
  CHECK(found.of(0).in_another);
  CHECK(found.of(2).in_another);
  REQUIRE(found.of(1).op);
  CHECK(*found.of(1).op->as<AttentionShape>() == AttentionShape{.batch = 2,
                                                                .heads = 8,
                                                                .kv_heads = 8,
                                                                .queries = 512,
                                                                .keys = 512,
                                                                .head_dim = 64,
                                                                .causal = true,
                                                                .dtype = DType::fp16,
                                                                .pass = Pass::backward,
                                                                .kernel = AttentionKernel::flash2});
}

TEST_CASE("a convolution is the product that implicit GEMM makes of it, all three of the same flops") {
  // 4 images of 6 x 10 x 10, 8 filters of 3 x 3, padding 1, stride 1: 400 points out.
  const std::string types =
      R"(["c10::BFloat16","c10::BFloat16","","ScalarList","ScalarList","ScalarList","Scalar","Scalar","Scalar"])";
  const KernelOperator forward =
      found_for("aten::miopen_convolution", "igemm_fwd_gtcx3_nhwc_bf16",
                arguments("[[4,6,10,10],[8,6,3,3],[],[],[],[],[],[],[]]", types,
                          R"(["","","","[1, 1]","[1, 1]","[1, 1]","1","False","False"])"));
  REQUIRE(forward.op);
  CHECK(*forward.op->as<GemmShape>() == GemmShape{.m = 400, .n = 8, .k = 54});
  const auto backward = [](const std::string& kernel) {
    return found_for(
        "aten::convolution_backward", kernel,
        arguments(
            "[[4,8,10,10],[4,6,10,10],[8,6,3,3],[],[],[],[],[],[],[],[]]",
            R"(["c10::BFloat16","c10::BFloat16","c10::BFloat16","ScalarList","ScalarList","ScalarList","ScalarList","Scalar","ScalarList","Scalar","ScalarList"])",
            R"(["","","","[0]","[1, 1]","[1, 1]","[1, 1]","False","[0, 0]","1","[True, True, False]"])"));
  };
  const KernelOperator weights = backward("igemm_wrw_gtcx3_nhwc_bf16");
  const KernelOperator input = backward("igemm_bwd_gtcx3_nhwc_bf16");
  REQUIRE(weights.op);
  REQUIRE(input.op);
  CHECK(*weights.op->as<GemmShape>() == GemmShape{.m = 8, .n = 54, .k = 400});
  CHECK(*input.op->as<GemmShape>() == GemmShape{.m = 400, .n = 6, .k = 72});
  CHECK(matrix_flops(*forward.op).value == matrix_flops(*weights.op).value);
  CHECK(matrix_flops(*forward.op).value == matrix_flops(*input.op).value);
  CHECK_FALSE(backward("implicit_convolve_sgemm").op);
  CHECK_FALSE(backward("batched_transpose_16x32_half").op);
}

TEST_CASE("a product that a convolution launches is of its class") {
  const KernelOperator found = found_for(
      "aten::cudnn_convolution", "cutlass_tensorop_bf16_s16816fprop_gemm",
      arguments("[[4,3,224,224],[768,3,16,16],[],[],[],[],[],[],[]]",
                R"(["c10::BFloat16","c10::BFloat16","ScalarList","ScalarList","ScalarList","Scalar","Scalar"])",
                R"(["","","[0, 0]","[16, 16]","[1, 1]","1","False","False","True"])"));
  REQUIRE(found.op);
  // 14 x 14 patches of 4 images; 3 x 16 x 16 numbers each.
  CHECK(*found.op->as<GemmShape>() == GemmShape{.m = 784, .n = 768, .k = 768});
  CHECK(found.work == WorkClass::convolution);
}

TEST_CASE("concatenation copies the whole list, a table a row for each index") {
  CHECK(vector_shape("aten::cat", "CatArrayBatchedCopy<OpaqueType<2u>>",
                     arguments("[[[4,1,768],[4,196,768]],[]]", R"(["TensorList","Scalar"])")) ==
        VectorShape{VectorOp::copy, 1, 4 * 197 * 768, DType::bf16});
  CHECK(vector_shape("aten::index_select", "indexSelectLargeIndex<>",
                     arguments("[[30522,512],[],[141]]", R"(["c10::BFloat16","Scalar","long int"])")) ==
        VectorShape{VectorOp::embedding, 141, 512, DType::bf16});
}

TEST_CASE("a reduction keeps the dimensions that it does not name") {
  const std::string types = R"(["float","ScalarList","Scalar","Scalar"])";
  CHECK(vector_shape("aten::sum", "reduce_kernel<512, 1>",
                     arguments("[[8,32,16],[],[],[]]", types, R"(["","[0, 2]","True",""])")) ==
        VectorShape{VectorOp::reduce, 32, 128});
  CHECK(vector_shape("aten::sum", "reduce_kernel<512, 1>", arguments("[[8,32]]", R"(["float"])")) ==
        VectorShape{VectorOp::reduce, 1, 256});
}

TEST_CASE("kernels of an optimizer's lists share them") {
  const std::string lists = "[[[100],[20,10]],[[100],[20,10]],[[100],[20,10]],[[100],[20,10]]]";
  const std::string types = R"(["TensorList","TensorList","TensorList","TensorList"])";
  TraceText text;
  text.op("aten::_fused_adamw_", 0, 100, arguments(lists, types))
      .launch("multi_tensor_apply_kernel<FusedAdam>", 10, 20, 3, 1)
      .launch("multi_tensor_apply_kernel<FusedAdam>", 20, 30, 30, 2);
  const Rank rank(text.read());
  const KernelOperators found(rank);
  REQUIRE(found.of(0).op);
  CHECK(*found.of(0).op->as<VectorShape>() == VectorShape{VectorOp::adam, 1, 150});
  CHECK(found.index_of(0) == found.index_of(1));
}

TEST_CASE("a kernel that a compiler fused has the arguments of the function around it") {
  TraceText text;
  text.op("GeLUFunction", 0, 100, arguments("[[8,4,16],[16]]", R"(["c10::Half","c10::Half"])"))
      .op("triton_poi_fused_add_mul_tanh_0", 10, 50)
      .launch("triton__0d1d2d3de", 20, 40, 30, 5);
  const Rank rank(text.read());
  const KernelOperators operators(rank);
  const KernelOperator& found = operators.of(0);
  INFO(found.note);
  REQUIRE(found.op);
  // 512 numbers in and out, and 16 of the bias: within 2 % of one tensor each way is not reached.
  CHECK(*found.op->as<VectorShape>() == VectorShape{VectorOp::copy, 1, 520, DType::fp16});
}

TEST_CASE("numbers without dimensions are counted, tensors that are not recorded are not guessed") {
  CHECK(vector_shape("aten::add_", "vectorized_elementwise_kernel<4>",
                     arguments("[[],[],[]]", R"(["long int","long int","Scalar"])")) ==
        VectorShape{VectorOp::mul_scalar, 1, 1});
  CHECK(found_for("aten::arange", "elementwise_kernel_with_index",
                  arguments("[[],[],[]]", R"(["Scalar","Scalar","Scalar"])"))
            .note == "how much it writes is not recorded");
  CHECK(
      found_for("aten::cat", "CatArrayBatchedCopy", arguments("[[],[]]", R"(["TensorList","Scalar"])")).note ==
      "a concatenation without shapes");
  CHECK_FALSE(found_for("aten::index", "index_elementwise_kernel",
                        arguments("[[755000],[]]", R"(["float","TensorList"])"))
                  .op);
  CHECK_FALSE(found_for("aten::native_batch_norm", "batch_norm_collect_statistics_kernel",
                        arguments("[[10,64,56,56]]", R"(["c10::BFloat16"])"))
                  .op);
}

TEST_CASE("copies, memsets and collectives have no operator") {
  CHECK_FALSE(found_for("aten::add", "ncclDevKernel_Generic", arguments("[[8]]", R"(["float"])")).op);
  CHECK_FALSE(found_for("aten::add", "__amd_rocclr_copyBuffer", arguments("[[8]]", R"(["float"])")).op);
}

TEST_CASE("hostile arguments are read to where they make sense") {
  const std::string deep(100'000, '[');
  CHECK(OpArguments(deep, deep, deep).size() == 0);
  CHECK(OpArguments("[[4,8],[99999999999999999999]]", "[]", "[]").size() == 0);
  const OpArguments huge("[[4611686018427387904,8]]", "[\"float\"]", "[]");
  CHECK(huge[0].elements() == std::numeric_limits<std::int64_t>::max());
  CHECK(huge[7].elements() == 0);
  CHECK(found_for("aten::mul", "vectorized_elementwise_kernel",
                  arguments("[[4611686018427387904,8]]", R"(["float"])"))
            .note == "a tensor larger than any GPU");
  CHECK_FALSE(found_for("aten::mm", "gemm",
                        arguments("[[4611686018427387904,8],[8,4611686018427387904]]", R"(["float","float"])"))
                  .op);
  // 2^62 in all, a filter that reaches beyond 64 bits, and borders that do.
  CHECK(found_for("aten::mm", "tf32_gemm",
                  arguments("[[1,4611686018427387904],[4611686018427387904,1]]", R"(["float","float"])"))
            .note == "a tensor larger than any GPU");
  CHECK(
      found_for("aten::mm", "gemm", arguments("[[1099511627776,1],[1,1099511627776]]", R"(["float","float"])"))
          .note == "a product of no size that a GPU could do");
  const auto convolution = [](const std::string& dims, const std::string& padding,
                              const std::string& dilation) {
    return found_for("aten::cudnn_convolution", "implicit_convolve_sgemm",
                     arguments(dims, R"(["float","float","ScalarList","ScalarList","ScalarList","Scalar"])",
                               fmt::format(R"(["","","[{}]","[1]","[{}]","1"])", padding, dilation)));
  };
  CHECK(found_for("aten::sum", "reduce_kernel",
                  arguments("[[8,1048576],[]]", R"(["float","ScalarList"])", R"(["","[1, 1, 1, 1]"])"))
            .note == "a reduction that names a dimension twice");
  CHECK(convolution("[[1,1,8],[1,1,3],[],[],[],[]]", "1", "1").op);
  CHECK_FALSE(convolution("[[1,1,8],[1,1,3],[],[],[],[]]", "9223372036854775807", "1").op);
  CHECK_FALSE(convolution("[[1,1,8],[1,1,3],[],[],[],[]]", "1", "9223372036854775807").op);
  CHECK_FALSE(convolution("[[1,1,8],[1,1,3],[],[],[],[]]", "-9223372036854775808", "1").op);
  CHECK_FALSE(convolution("[[1,1,8],[1,1,0],[],[],[],[]]", "1", "1").op);
  CHECK_FALSE(found_for("aten::embedding", "indexSelect",
                        arguments("[[1,1099511627776],[1099511627776]]", R"(["float","long int"])"))
                  .op);
}

TEST_CASE("an operator of heads before tokens has them there") {
  const std::string types = R"(["c10::Half","c10::Half","c10::Half","","Scalar","Scalar","Scalar"])";
  const KernelOperator found =
      found_for("aten::_scaled_dot_product_efficient_attention", "fmha_cutlassF_f16_aligned_64x64_rf_sm80",
                arguments("[[2,8,512,64],[2,8,640,64],[2,8,640,64],[],[],[],[]]", types,
                          R"(["","","","","False","0.","True"])"));
  REQUIRE(found.op);
  const AttentionShape& shape = *found.op->as<AttentionShape>();
  CHECK(shape.heads == 8);
  CHECK(shape.queries == 512);
  CHECK(shape.keys == 640);
  CHECK(shape.causal);
}

}  // namespace c3::traces_kernel_operators_test
