// Tables of one GPU: reading them, and scoring them by hand.

#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include "studies/one_gpu/parts.hpp"
#include "tests/support/near.hpp"
#include "tests/unit/config_files.hpp"

namespace c3 { namespace {

const PublishedFigures& published() {
  static const PublishedFigures kPublished(study_file("one_gpu", "published.csv"));
  return kPublished;
}

/// The kernels of parts.csv.
const NamedKernels& named() {
  static const NamedKernels kNamed(study_file("one_gpu", "parts.csv"));
  return kNamed;
}

/// Runs what \p part plans, here.
template <class Part>
StudySection scored(Part part) {
  SimulationJobs jobs;
  part.plan(jobs);
  for (const SimulationJob& job : jobs)
    job.take(job.run());
  return part.section(published());
}

/// Kernels alone of \p file.
KernelsAlonePart alone(const std::filesystem::path& file) {
  AloneTable table = transformers_alone();
  table.file = file;
  return KernelsAlonePart(table);
}

constexpr const char* kProduct = "gemm,bf16,4096,4096,4096";

TEST_CASE("kernels alone are scored by group, with sign") {
  const ScratchFolder folder;
  const std::string rows = std::string("gpu,group,op,dtype,m,n,k,ms\n") + "h100-sxm,products," + kProduct +
                           ",0.0001\nh100-sxm,products," + kProduct + ",1000\n";
  const StudySection section = alone(folder.write("kernels.csv", rows)).section(published());
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
  CHECK_THROWS_WITH_AS(
      alone(folder.write("kernels.csv", "gpu,group,op,dtype,m,n,k,ms\nh100-sxm,x,gemm,bf16,0,1,1,2\n")),
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
                              "h100-sxm,add 16384 8192,within,0.26592,0.438336,1474.55,1398.2\n"),
                 named())
          .section(published());
  REQUIRE(section.lines.size() == 4);  // copies within the GPU are left out
  CHECK(section.lines[1].label == "h100-sxm: to_host, copies");
  CHECK(*section.lines[1].figure.simulated < 40.0);  // the link's rate would be 87 % off
  CHECK(section.lines[3].label == "h100-sxm: from_host, copies");
  CHECK(*section.lines[3].figure.simulated < 3.0);
}

// As measured: an addition shares HBM with the blocks, and blocks that stay in the L2 cost it nothing.
TEST_CASE("an addition loses to blocks that copy what they take from HBM, and nothing to those that do not") {
  const ScratchFolder folder;
  const StudySection section = scored(BesideBlocksPart(
      folder.write("beside.csv",
                   "gpu,kernel,way,blocks,alone_ms,together_ms,rate_alone_gb_s,rate_together_gb_s\n"
                   "h100-sxm,add 16384 8192,copy,48,0.262784,0.40467,1112,495\n"
                   "h100-sxm,add 16384 8192,read_l2,48,0.262,0.2638,5582,1970\n"),
      named()));
  REQUIRE(section.lines.size() == 3);  // by way and blocks, and the copies' by kernel; none is judged
  CHECK(section.lines[0].label == "h100-sxm: copy, 48 SMs");
  CHECK(*section.lines[0].figure.simulated < 12.0);
  CHECK(section.lines[1].label == "h100-sxm: copy, add 16384 8192");
  CHECK(section.lines[2].label == "h100-sxm: read_l2, 48 SMs");
  CHECK(*section.lines[2].figure.simulated < 2.0);
  CHECK(section.lines[0].beside[1].second > 1.4);  // slower here
}

TEST_CASE("kernels that fill the GPU gain nothing from a stream of their own") {
  const ScratchFolder folder;
  const StudySection section = scored(StreamsPart(
      folder.write("equal.csv",
                   "gpu,m,n,k,degree,each,serial_ms,at_once_ms\nh100-sxm,4096,4096,4096,2,3,1.1281,1.07446\n"),
      folder.write("mixed.csv",
                   "gpu,first,second,serial_ms,at_once_ms\n"
                   "h100-sxm,gemm 8192 8192 8192 x 1,add 16384 8192 x 4,2.45834,2.40781\n"),
      named()));
  REQUIRE(section.lines.size() == 2);
  CHECK(section.lines[0].label == "h100-sxm: equal products from 34 GFLOP");
  CHECK(section.lines[1].label == "h100-sxm: unlike kernels in pairs");
  for (const StudyLine& line : section.lines)
    CHECK(*line.figure.simulated < 5.0);
}

TEST_CASE("a cell that names no kernel, or does not say how often, is refused with its place") {
  const ScratchFolder folder;
  const std::filesystem::path none = folder.write("equal.csv", "gpu,m,n,k,degree,each,serial_ms,at_once_ms\n");
  for (const char* cell : {"sort 5 x 4", "add 16384 8192", "add 16384 8192 x 0", "add 16384 8192 x 4x"}) {
    CAPTURE(cell);
    const auto mixed =
        folder.write("mixed.csv", std::string("gpu,first,second,serial_ms,at_once_ms\nh100-sxm,") + cell +
                                      ",gemm 8 8 8 x 1,1,1\n");
    CHECK_THROWS_WITH_AS(StreamsPart(none, mixed, named()), doctest::Contains("mixed.csv:2"), ConfigError);
  }
}

TEST_CASE("products of experts are scored as batches of equal products") {
  const ScratchFolder folder;
  const StudySection section = GroupedPart(folder.write("grouped.csv",
                                                        "gpu,experts,n,k,mean_rows,alpha,how,ms\n"
                                                        "h100-sxm,8,14336,4096,1024,,grouped,1.26377\n"
                                                        "h100-sxm,8,14336,4096,1024,0.5,grouped,1.36492\n"))
                                   .section(published());
  REQUIRE(section.lines.size() == 2);
  CHECK(section.lines[0].label == "h100-sxm: grouped, equal rows, 1024 rows each");
  CHECK(*section.lines[0].figure.simulated < 8.0);
  CHECK(section.lines[1].label == "h100-sxm: grouped, rows by Dirichlet 0.5, 1024 rows each");
  CHECK(section.lines[1].beside.front().second < section.lines[0].beside.front().second);
}

}}  // namespace c3
