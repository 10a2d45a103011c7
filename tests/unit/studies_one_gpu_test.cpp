// Tables of one GPU: reading them, and scoring them by hand.

#include <doctest/doctest.h>

#include <string>

#include "studies/one_gpu/parts.hpp"
#include "tests/support/near.hpp"
#include "tests/unit/config_files.hpp"

namespace c3 {
namespace {

const PublishedFigures& published() {
  static const PublishedFigures kPublished(study_file("one_gpu", "published.csv"));
  return kPublished;
}

constexpr const char* kProduct = "gemm,bf16,4096,4096,4096";

TEST_CASE("kernels alone are scored by group, with sign") {
  const ScratchFolder folder;
  const std::string rows = std::string("gpu,group,op,dtype,m,n,k,ms\n") + "h100-sxm,products," + kProduct +
                           ",0.0001\nh100-sxm,products," + kProduct + ",1000\n";
  const StudySection section = KernelsAlonePart(folder.write("kernels.csv", rows)).section(published());
  REQUIRE(section.lines.size() == 1);
  const StudyLine& line = section.lines.front();
  CHECK(line.label == "h100-sxm: products");
  CHECK(line.rows == 2);
  // One is far too slow here and one takes nothing: +x % and -100 %.
  CHECK(line.beside.front().second == near(*line.figure.simulated - 100.0, 1e-3));
}

TEST_CASE("parts of a GPU are scored by the time over that on the whole GPU") {
  const ScratchFolder folder;
  const auto error_when = [&](const char* on_part) {
    const std::string rows = std::string("gpu,kernel,how,sms,op,dtype,m,n,k,ms\n") +
                             "h100-sxm,gemm a,parted,132," + kProduct + ",0.2\nh100-sxm,gemm a,parted,120," +
                             kProduct + "," + on_part + "\n";
    const StudySection section = GpuPartsPart(folder.write("parts.csv", rows)).section(published());
    REQUIRE(section.lines.size() == 2);
    CHECK(section.lines.back().label == "h100-sxm: all products");
    CHECK(*section.lines.back().figure.simulated == near(*section.lines.front().figure.simulated));
    return *section.lines.back().figure.simulated;
  };
  CHECK(error_when("0.283") < 3.0);  // six waves for four, as measured
  CHECK(error_when("0.2") > 35.0);
}

TEST_CASE("a row that is no kernel is refused with its place") {
  const ScratchFolder folder;
  CHECK_THROWS_WITH_AS(KernelsAlonePart(folder.write(
                           "kernels.csv", "gpu,group,op,dtype,m,n,k,ms\nh100-sxm,x,gemm,bf16,0,1,1,2\n")),
                       doctest::Contains("kernels.csv:2"), ConfigError);
}

// An addition keeps HBM busy: reads of a copy wait there, its writes do not.
TEST_CASE("beside an addition a copy to the host is far below its rate, one from there is not") {
  const ScratchFolder folder;
  const StudySection section =
      CopiesPart(folder.write("engines.csv",
                              "gpu,kernel,way,alone_ms,together_ms,copy_alone_gb_s,copy_together_gb_s\n"
                              "h100-sxm,add 16384 8192,to_host,0.26592,0.270848,55.1309,29.4539\n"
                              "h100-sxm,add 16384 8192,from_host,0.265568,0.276832,54.8506,54.9323\n"
                              "h100-sxm,add 16384 8192,within,0.26592,0.438336,1474.55,1398.2\n"))
          .section(published());
  REQUIRE(section.lines.size() == 4);  // copies within the GPU are left out
  CHECK(section.lines[1].label == "h100-sxm: to_host, copies");
  CHECK(*section.lines[1].figure.simulated < 40.0);  // the link's rate would be 87 % off
  CHECK(section.lines[3].label == "h100-sxm: from_host, copies");
  CHECK(*section.lines[3].figure.simulated < 3.0);
}

TEST_CASE("a row of a step makes its model and its framework") {
  const ScratchFolder folder;
  StepsPart part(folder.write("steps.csv",
                              "gpu,job,compiled,kind,hidden,ffn,heads,kv_heads,layers,vocabulary,sequence,"
                              "micro_batch,micro_batches,recompute,"
                              "parameters,ms,allocated_gb\n"
                              "h100-sxm,small,0,gpt,256,1024,4,4,2,512,128,1,1,none,1000,1,1\n"
                              "h100-sxm,small,1,llama,256,1024,4,2,2,512,128,1,1,full,1000,1,1\n"));
  SimulationJobs jobs;
  part.plan(jobs);
  REQUIRE(jobs.size() == 2);
  for (const SimulationJob& job : jobs)
    job.take(SimulatedTime{.time = Seconds{1.1e-3}});
  const StudyReport report = part.sections(published());
  REQUIRE(report.size() == 2);
  CHECK(report[0].lines[0].label == "h100-sxm: small, eager");
  CHECK(report[0].lines[1].label == "h100-sxm: small, compiled");
  CHECK(*report[0].lines[2].figure.simulated == near(10.0));  // the mean error, then with its sign
  CHECK(*report[0].lines[3].figure.simulated == near(10.0));
}

}  // namespace
}  // namespace c3
