// The study of T3: its scenarios, its means, and what a sub-layer takes.

#include <doctest/doctest.h>

#include <fstream>
#include <string>

#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "studies/t3/sublayer_results.hpp"
#include "tests/support/near.hpp"
#include "tests/support/temporary_folder.hpp"

namespace c3::studies_t3_test {
namespace {

constexpr const char* kHeader = "group,model,hidden,layers,tokens,tp,sublayer,k_hidden,pass\n";

SublayerList read(const std::string& rows) {
  const TemporaryFolder folder;
  const auto file = folder / "sublayers.csv";
  std::ofstream(file) << kHeader << rows;
  return read_sublayers(file);
}

std::string refusal(const std::string& row) {
  const SublayerList list = read(row + "\n");
  REQUIRE(list.broken.size() == 1);
  return list.broken.front().substr(list.broken.front().find("sublayers.csv"));
}

}  // namespace

TEST_CASE("a row is a sub-layer: its GEMM, its partial sums, its name") {
  const SublayerList list = read("main,T-NLG,4256,78,8192,16,FC-1,4,backward\n");
  REQUIRE(list.sublayers.size() == 1);
  const Sublayer& sublayer = list.sublayers.front();
  CHECK(sublayer.gemm() == GemmShape{8192, 4256, 1064, DType::fp16});
  CHECK(sublayer.partial_sums() == Bytes{8192.0 * 4256 * 2});
  CHECK(sublayer.id() == "t-nlg.tp16.fc-1");
  CHECK_FALSE(sublayer.forward);
}

TEST_CASE("a row that is no sub-layer is named with its place and what it may be") {
  CHECK(refusal("main,T-NLG,4256,78,8192,16,FC1,4,backward") ==
        "sublayers.csv:2:28: sublayer: unknown sublayer 'FC1'; did you mean 'FC-1'? known: OP, FC-2, FC-1, IP");
  CHECK(refusal("main,T-NLG,4256,78,8192,1,OP,4,forward") ==
        "sublayers.csv:2:25: tp: must be at least 2: there is nothing to reduce");
  CHECK(refusal("main,T-NLG,4257,78,8192,16,OP,1,forward") ==
        "sublayers.csv:2:25: tp: does not divide 1 x 4257");
  CHECK(refusal("main,T-NLG,0,78,8192,16,OP,1,forward") ==
        "sublayers.csv:2:12: hidden: must be a whole number from 1 to 16777216, not '0'");
}

TEST_CASE("ideal speedups by definition: the longer of GEMM and reduce-scatter, then the all-gather") {
  const SublayerTimes times = SublayerTimes::from({4.0, 3.0, 2.0, 2.5, 8.0, 7.0, 4.5});
  CHECK(times.sequential() == 9.0_s);
  CHECK(times.ideal() == near(9.0 / 6.0));
  CHECK(times.ideal_in_memory() == near(9.0 / 6.0));
  CHECK(times.speedup_t3() == near(9.0 / 8.0));
  CHECK(times.speedup_t3_mca() == near(9.0 / 7.0));
  const SublayerTimes reduce_bound = SublayerTimes::from({1.0, 3.0, 2.0, 2.5, 5.0, 5.0, 1.0});
  CHECK(reduce_bound.ideal() == near(6.0 / 5.0));
  CHECK(reduce_bound.ideal_in_memory() == near(6.0 / 4.5));
  CHECK_FALSE(reduce_bound.is_gemm_bound());
}

TEST_CASE("means are geometric, over the sub-layers that are kept") {
  const SublayerList list = read(
      "main,A,4096,1,1024,8,OP,1,forward\nlarge,B,4096,1,1024,8,OP,1,forward\nmain,C,4096,1,1024,8,IP,3,"
      "backward\n");
  std::vector<SublayerResult> results;
  for (const Sublayer& sublayer : list.sublayers)
    results.push_back({&sublayer, SublayerTimes::from({1, 1, 1, 1, 1, results.empty() ? 1.5 : 6.0, 1})});
  const Summary summary =
      summarise(results, in_group("main"), [](const SublayerTimes& t) { return t.t3_mca.value; });
  CHECK(summary.count == 2);
  CHECK(summary.geomean == near(3.0));
  CHECK(summary.most == 6.0);
  CHECK(summarise(results, in_group("small"), [](const SublayerTimes&) { return 1.0; }).count == 0);
}

}  // namespace c3::studies_t3_test
