/// Variables of NCCL and RCCL out of logs and files, in the keys of c3sim.

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "configs/jobs/experiment_reader.hpp"
#include "importers/logs/library_variables.hpp"
#include "tests/support/mutated_text.hpp"
#include "tests/unit/config_files.hpp"

namespace c3::logs_library_variables_test {
namespace {

FileReading reading(const std::string& text) {
  return read_library_environment({.name = "nccl.conf", .text = text});
}

std::string refusal(const std::string& text) {
  return error_of([&] { reading(text); });
}

std::string why(const std::vector<IgnoredKey>& ignored, const std::string& from) {
  const auto found = std::ranges::find(ignored, from, &IgnoredKey::from);
  return found == ignored.end() ? "is not ignored" : found->why;
}

const std::string kFile =
    "# NCCL of the cluster\n"
    "\n"
    "NCCL_ALGO=Ring,Tree\n"
    "export NCCL_MIN_CTAS=16   # as measured\n"
    "declare -x NCCL_BUFFSIZE=\"8388608\";\n"
    "export NCCL_DEBUG=INFO\n"
    "NCCL_SOCKET_IFNAME=$IFACE\n"
    "NCCL_SOMETHING_NEW=1\n"
    "RCCL_MSCCL_ENABLE='0'\n"
    "NCCL_PROTO=\n"
    "CUDA_DEVICE_MAX_CONNECTIONS=1\n";

}  // namespace

TEST_CASE("every variable of a file is taken or ignored, and what is taken makes an experiment") {
  CHECK(is_library_environment(kFile));
  const FileReading read = reading(kFile);
  CHECK(read.file == "nccl.conf");
  REQUIRE(read.taken.size() == 3);
  CHECK(read.taken[0].from == "NCCL_ALGO");
  CHECK(read.taken[0].key == "library.env.NCCL_ALGO");
  CHECK(read.taken[0].value == "\"Ring,Tree\"");
  CHECK(read.taken[1].key == "library.env.NCCL_BUFFSIZE");
  CHECK(read.taken[1].value == "8388608");
  CHECK(read.taken[2].value == "16");
  REQUIRE(read.ignored.size() == 6);
  CHECK(why(read.ignored, "NCCL_DEBUG") == "it is for diagnosis");
  CHECK(why(read.ignored, "NCCL_SOMETHING_NEW") == "c3sim has no variable of this name");
  CHECK(why(read.ignored, "RCCL_MSCCL_ENABLE") == Part{"not modelled"});
  CHECK(why(read.ignored, "NCCL_PROTO") == "it is empty, as if it were not set");
  CHECK(why(read.ignored, "CUDA_DEVICE_MAX_CONNECTIONS") == "it is no variable of NCCL or RCCL");
  CHECK(why(read.ignored, "NCCL_SOCKET_IFNAME") == Part{"chooses devices"});

  std::string job =
      "schema = 1\nsystem = \"h100-sxm-8\"\n[[stream]]\nname = \"a\"\nrun = [{ all_reduce = \"16 MiB\" }]\n"
      "[strategy.alone]\n[library.env]\n";
  for (const TakenKey& taken : read.taken)
    job += taken.from + " = " + taken.value + "\n";
  const ScratchFolder folder;
  const auto library = ExperimentFile::load(folder.write("e.toml", job)).make(std::nullopt).cluster.library;
  CHECK(library.channel_limits.least == 16);
  CHECK_FALSE(library.permits.algorithms.allow(CollectiveKind::all_reduce, "nvls"));
}

TEST_CASE("of a variable that is set twice the last value counts") {
  const FileReading read = reading("NCCL_MIN_CTAS=8\nNCCL_MIN_CTAS=16\n");
  REQUIRE(read.taken.size() == 1);
  CHECK(read.taken[0].value == "16");
  CHECK(why(read.ignored, "NCCL_MIN_CTAS (line 1)") == "is set again on line 2");
}

TEST_CASE("all that is wrong with a file is said at once, with its lines") {
  const std::string said = refusal(
      "NCCL_MIN_CTAS=many\nNCCL_P2P_LEVEL=FAR\nNCCL_ALGO=\"Ring\nmodule load nccl\nNCCL_PROTO=$P\n"
      "NCCL_BUFFSIZE=1 2\n");
  CHECK(said == Part{"nccl.conf:1:1: library.env.NCCL_MIN_CTAS: must be a whole number, not 'many'"});
  CHECK(said == Part{"nccl.conf:2:1: library.env.NCCL_P2P_LEVEL: must be one of LOC, NVL"});
  CHECK(said == Part{"nccl.conf:3:1: NCCL_ALGO: '\"Ring' must be one word or one quotation"});
  CHECK(said == Part{"nccl.conf:4:1: line: must be NAME=value"});
  CHECK(said == Part{"nccl.conf:5:1: NCCL_PROTO: '$P' refers to another variable; write its value"});
  CHECK(said == Part{"nccl.conf:6:1: NCCL_BUFFSIZE: '1 2' must be one word"});
  CHECK(refusal("NCCL_MIN_CTAS=8\nNCCL_MIN_NCHANNELS=8\n") ==
        Part{"NCCL_MIN_NCHANNELS: sets library.min_channels, which nccl.conf:1:1 sets, too"});
}

TEST_CASE("a file of other lines is no environment") {
  CHECK_FALSE(is_library_environment("export NCCL_ALGO=Ring\ntorchrun train.py\n"));
  CHECK_FALSE(is_library_environment("PATH=/bin\n"));
  CHECK_FALSE(is_library_environment("NCCL_ALGO = Ring\n"));
  CHECK_FALSE(is_library_environment(""));
}

TEST_CASE("variables of a log that c3sim does not take are ignored with the reason") {
  const SortedVariables variables = sorted({{"NCCL_MIN_CTAS", {"16", 3}},
                                            {"NCCL_MIN_NCHANNELS", {"8", 4}},
                                            {"NCCL_IB_HCA", {"mlx5", 5}},
                                            {"NCCL_NVLS_ENABLE", {"maybe", 6}}},
                                           "job.log");
  REQUIRE(variables.used.size() == 1);
  CHECK(variables.used[0] == std::pair<std::string, std::string>("NCCL_MIN_CTAS", "16"));
  REQUIRE(variables.ignored.size() == 3);
  CHECK(why(variables.ignored, "NCCL_NVLS_ENABLE") ==
        Part{"job.log:6:1: library.env.NCCL_NVLS_ENABLE: must be a whole number, not 'maybe'"});
  CHECK(why(variables.ignored, "NCCL_MIN_NCHANNELS") == Part{"leave one of them out"});
}

TEST_CASE("whatever is wrong with an environment, it is read or refused") {
  std::mt19937 random(3);
  int read = 0;
  for (int turn = 0; turn < 2000; ++turn) {
    const std::string text = mutated(kFile, random);
    (void)is_library_environment(text);
    try {
      read += reading(text).taken.empty() ? 0 : 1;
    } catch (const ConfigError&) {
    }
  }
  CHECK(read > 200);
}

}  // namespace c3::logs_library_variables_test
