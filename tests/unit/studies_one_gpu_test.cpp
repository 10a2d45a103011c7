// What rows of one GPU's study call, against what was measured.

#include <doctest/doctest.h>

#include <filesystem>
#include <map>
#include <string>

#include "studies/one_gpu/functions.hpp"
#include "tests/unit/config_files.hpp"

namespace c3::studies_one_gpu_test { namespace {

/// The numbers that \p function finds for a row of one GPU in bursts.
std::map<std::string, double> numbers_of(RowFunction& function, const std::string& header,
                                         const std::string& row) {
  const ScratchFolder folder;
  const HeadedTable table(folder.write("rows.csv", "gpu," + header + "\nh100-sxm," + row + "\n"));
  const Cells cells(table, table.rows().front());
  return function(RowArguments(cells, {"gpu.clock_state=burst"}))();
}

// An addition keeps HBM busy: reads of a copy wait there, its writes do not.
TEST_CASE("beside an addition a copy to the host is far below its rate, one from there is not") {
  const double out = numbers_of(host_copies_row, "kernel,way", "add 16384 8192,to_host").at("rate_gb_s");
  CHECK(out < 1.4 * 29.45);  // the link's rate would be 87 % off
  CHECK(out > 0.6 * 29.45);
  const double in = numbers_of(host_copies_row, "kernel,way", "add 16384 8192,from_host").at("rate_gb_s");
  CHECK(in > 0.97 * 54.93);
  CHECK(in < 1.03 * 54.93);
}

// Measured: an addition shares HBM with the blocks, and blocks that stay in the L2 cost it nothing.
TEST_CASE("an addition loses to blocks that copy what they take from HBM, and nothing to those that do not") {
  const auto slower = [](const char* row) {
    return numbers_of(blocks_beside_row, "kernel,way,blocks,rate_alone_gb_s", row).at("slower");
  };
  CHECK(slower("add 16384 8192,copy,48,1112") > 1.4);
  CHECK(slower("add 16384 8192,read_l2,48,5582") < 1.02);
}

TEST_CASE("kernels that fill the GPU gain nothing from a stream of their own") {
  CHECK(numbers_of(kernels_at_once_row, "m,n,k,degree,each", "4096,4096,4096,2,3").at("gain") < 1.1);
  const auto pair =
      numbers_of(kernels_at_once_row, "first,second", "gemm 8192 8192 8192 x 1,add 16384 8192 x 4");
  CHECK(pair.at("gain") < 1.07);
  CHECK(pair.at("gain") > 0.97);
}

TEST_CASE("a cell that names no kernel, no way or does not say how often is refused with its place") {
  for (const char* cell : {"sort 5 x 4", "add 16384 8192", "add 16384 8192 x 0", "add 16384 8192 x 4x"}) {
    CAPTURE(cell);
    CHECK_THROWS_WITH_AS(numbers_of(kernels_at_once_row, "first,second", std::string(cell) + ",gemm 8 8 8 x 1"),
                         doctest::Contains("rows.csv:2"), ConfigError);
  }
  CHECK_THROWS_WITH_AS(numbers_of(host_copies_row, "kernel,way", "add 16384 8192,within"),
                       doctest::Contains("way: must be to_host"), ConfigError);
  CHECK_THROWS_WITH_AS(
      numbers_of(blocks_beside_row, "kernel,way,blocks,rate_alone_gb_s", "add 16384 8192,copies,48,1112"),
      doctest::Contains("unknown way 'copies'; known: copy, copy_cached"), ConfigError);
}

}}  // namespace c3::studies_one_gpu_test
