// Products and their tiles, and a GEMM beside an all-reduce: reading both tables, and scoring them by hand.

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "studies/hypotheses.hpp"
#include "studies/interference/parts.hpp"
#include "tests/support/near.hpp"
#include "tests/unit/config_files.hpp"

namespace c3::studies_interference_test { namespace {

const PublishedFigures& published() {
  static const PublishedFigures kPublished(study_file("interference", "published.csv"));
  return kPublished;
}

StudySection tiles_of(const std::string& rows) {
  const ScratchFolder folder;
  return TilesPart(folder.write("tiles.csv", "gpu,dtype,m,n,k,tile_m,tile_n,tiles\n" + rows))
      .section(published());
}

TEST_CASE("MI300X takes hipBLASLt's tiles where these fill the last wave of 304 CUs") {
  // ROCm/tritonBLAS commit 3b84da43, docs/overlap-analysis.md: five of eleven products.
  const StudySection section = tiles_of(
      "MI300X,bf16,3584,3584,4096,256,176,294\n"
      "MI300X,bf16,3840,3840,4096,256,192,300\n"
      "MI300X,bf16,4096,4096,4096,256,224,304\n"
      "MI300X,bf16,8192,8192,8192,256,224,1184\n"
      "MI300X,bf16,16384,16384,8192,512,160,3296\n");
  REQUIRE(section.lines.size() == 6);
  for (const StudyLine& line : section.lines) {
    CAPTURE(line.label);
    CHECK(line.figure.simulated == (line.label == "all products" ? 5.0 : 1.0));
  }
  CHECK(section.lines[3].beside[0].second == 1184.0);  // work groups: the fourth wave is nearly full
}

TEST_CASE("a tile other than the library's is not the same") {
  const StudySection section = tiles_of("MI300X,bf16,8192,8192,8192,256,256,1024\n");
  CHECK(section.lines.back().figure.simulated == 0.0);
}

TEST_CASE("a table of tiles of another GPU is refused with its place") {
  CHECK_THROWS_WITH_AS(tiles_of("MI355X,bf16,8192,8192,8192,256,224,1184\n"),
                       doctest::Contains("tiles.csv:2:1"), ConfigError);
}

TEST_CASE("pairs are scored from 16 channels on, by their slowdown over the time alone") {
  const ScratchFolder folder;
  PairsPart part(
      folder.write("pairs.csv",
                   "channels,comm_alone_ms,torch_alone_ms,torch_gemm_overlap_ms,torch_comm_overlap_ms\n"
                   "8,10,2,3,12\n16,10,2,2.5,11\n32,5,2,3,6\n64,5,2,3,6\n"));
  SimulationJobs jobs;
  part.plan(jobs);
  REQUIRE(jobs.size() == 3);  // 64 channels are more than RCCL has in a node
  // Here: 1.2 and 1.5 times as long; with 8 channels, which are not judged, as long as alone.
  jobs[0].take({.values = {2e-3, 2e-3, 10e-3, 10e-3}});
  jobs[1].take({.values = {2e-3, 2.4e-3, 10e-3, 11e-3}});
  jobs[2].take({.values = {1e-3, 1.5e-3, 6e-3, 7.2e-3}});
  const StudyReport report = part.sections(published());
  REQUIRE(report.size() == 2);
  const auto gemm = report[0].lines;
  REQUIRE(gemm.size() == 5);
  CHECK(gemm[0].figure.simulated == near(1.0));
  CHECK(gemm[1].beside[1].second == near(100.0 * (1.2 / 1.25 - 1.0)));
  CHECK(gemm[3].figure.simulated == near(2.0));   // (4 + 0) / 2
  CHECK(gemm[4].figure.simulated == near(25.0));  // alone: (0 + 50) / 2
  CHECK(gemm[3].rows == 2);
  const auto collective = report[1].lines;
  CHECK(collective[3].figure.simulated.value() < 1e-9);
  CHECK(collective[4].figure.simulated == near(10.0));
  CHECK(collective[3].figure.kind == FigureKind::fitted);
}

TEST_CASE("hypotheses stand beside the pairs without them, one by one and all together") {
  const ScratchFolder folder;
  PairsPart pairs(
      folder.write("pairs.csv",
                   "channels,comm_alone_ms,torch_alone_ms,torch_gemm_overlap_ms,torch_comm_overlap_ms\n"
                   "8,10,2,3,12\n32,5,2,3,6\n"));
  SimulationJobs jobs;
  pairs.plan(jobs);
  jobs[0].take({.values = {2e-3, 2e-3, 10e-3, 10e-3}});
  jobs[1].take({.values = {2e-3, 2.4e-3, 5e-3, 6e-3}});
  PairHypotheses on(pairs);
  SimulationJobs more;
  on.plan(more);
  const std::size_t count = hypotheses().size();
  REQUIRE(count == 5);
  REQUIRE(more.size() == count * 2);
  for (std::size_t i = 0; i < more.size();
       ++i)  // hypothesis by hypothesis: 1.1, 1.2, .. times as long as alone
    more[i].take({.values = {2e-3 * (1.1 + 0.1 * static_cast<double>(i / 2)), 11e-3}});
  const StudyReport report = on.sections(published());
  REQUIRE(report.size() == 2);
  const auto gemm = report[0].lines;
  REQUIRE(gemm.size() == 4);
  CHECK(gemm[0].figure.simulated == near(1.0));
  CHECK(gemm[0].beside[0].second == near(1.5));  // measured
  for (std::size_t h = 0; h < count; ++h)
    CHECK(gemm[0].beside[1 + h].second == near(1.1 + 0.1 * static_cast<double>(h)));
  CHECK(gemm[2].figure.simulated == near(100.0 / 3.0));  // 8 channels: 1.0 for 1.5
  CHECK(std::abs(gemm[2].beside.back().second) < 1e-9);  // all: 1.5 for 1.5
  CHECK(gemm[3].figure.simulated == near(20.0));
  for (const StudySection& section : report) {
    for (const StudyLine& line : section.lines)
      CHECK(line.figure.reference.gate == Gate::none);
  }
}

TEST_CASE("every hypothesis changes the pair's experiment, and none is on in what is judged") {
  const auto file = study_file("interference", "pair.toml");
  const Experiment off = under({}, file);
  for (const Hypothesis& hypothesis : hypotheses()) {
    CAPTURE(hypothesis.id);
    CHECK(under(hypothesis, file) != off);
    CHECK(under(hypothesis, study_file("conccl", "one.toml")) != under({}, study_file("conccl", "one.toml")));
  }
  CHECK_FALSE(off.cluster.gpu.hypotheses.strict_rotation);
  CHECK(off.cluster.gpu.hypotheses.product_after_others == 1.0);
  CHECK(off.cluster.gpu.hypotheses.release_rewrites == 0.0);
  CHECK(off.cluster.gpu.compute.speed_spread == 0.0);
}

}}  // namespace c3::studies_interference_test
