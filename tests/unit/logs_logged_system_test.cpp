/// The system that a log was made on, and the formats of logs by content.

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "base/usage_error.hpp"
#include "importers/logs/logged_system.hpp"
#include "importers/user_files/formats.hpp"
#include "tests/support/printed_tests.hpp"
#include "tests/unit/config_files.hpp"

namespace c3::logs_logged_system_test {
namespace {

LibraryLog log_of(const PrintedJob& job, const std::string& more = "") {
  return read_library_log(printed_head(job) + more);
}

std::string usage_error_of(const LibraryLog& log, std::optional<int> ranks) {
  try {
    (void)system_of(log, ranks);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

std::string why(const LoggedSystem& system, const std::string& key) {
  const auto found = std::ranges::find(system.assumed, key, &AssumedKey::key);
  return found == system.assumed.end() ? "is not assumed" : found->why;
}

std::string format_name(const std::string& text) {
  const FileFormat* format = format_of(text);
  return format == nullptr ? "none" : std::string(format->name);
}

const std::string kInfo = "node-0:4000:4100 [0] NCCL INFO ";

}  // namespace

TEST_CASE("GPUs and hosts name the system and its nodes") {
  const LoggedSystem one = system_of(log_of({}), 8);
  CHECK(one.system == "h100-sxm-8");
  CHECK(one.nodes == 1);
  CHECK(why(one, "system") == Part{"aws-p5-8"});
  CHECK(why(one, "fabric") == "is not assumed");

  const LoggedSystem two = system_of(log_of({.hosts = 2, .gpu = "AMD Instinct MI300X"}), 16);
  CHECK(two.system == "mi300x-8");
  CHECK(two.nodes == 2);
  CHECK(why(two, "fabric") == "the log does not say the rate of NICs");

  const LoggedSystem half = system_of(log_of({.gpus_of_host = 4}), 4);
  CHECK(half.system == "h100-sxm-4");
  const LoggedSystem six = system_of(log_of({.gpus_of_host = 6, .gpu = "NVIDIA H200"}), 6);
  CHECK(six.system == "h200-sxm-8");
}

TEST_CASE("the network's plug-in tells presets apart that have the same GPUs") {
  const auto with = [](const std::string& line) {
    return system_of(log_of({.hosts = 2}, kInfo + line + "\n"), 16);
  };
  CHECK(with("NET/Plugin: Loaded net plugin AWS Libfabric (v8)").system == "aws-p5-8");
  CHECK(with("NET/Plugin: Loaded net plugin FasTrak (v7)").system == "gcp-a3-mega-8");
  CHECK(with("Using network GPUDirectTCPX_v7").system == "gcp-a3-high-8");
  const LoggedSystem sockets = with("Using network Socket");
  CHECK(sockets.system == "h100-sxm-8");
  CHECK(sockets.fabric == "tcp-100g");
  CHECK(why(with("NET/IB : Using [0]mlx5_0:1/RoCE [RO]; OOB eth0"), "fabric") ==
        Part{"they are mlx5_0:1/RoCE"});
}

TEST_CASE("hosts that NVLink joins are one node") {
  const LoggedSystem rack = system_of(log_of({.hosts = 18, .gpus_of_host = 4, .gpu = "NVIDIA GB200"}), 72);
  CHECK(rack.system == "gb200-nvl72");
  CHECK(rack.nodes == 1);
  const LoggedSystem two = system_of(log_of({.hosts = 32, .gpus_of_host = 4, .gpu = "NVIDIA GB200"}), 128);
  CHECK(two.system == "gb200-nvl72");
  CHECK(two.nodes == 2);
  // The library says that NVLink joins none of these.
  const LoggedSystem trays =
      system_of(log_of({.hosts = 2, .gpus_of_host = 4, .gpu = "NVIDIA GB200"},
                       kInfo + "comm 0x1 rank 0 nRanks 8 nNodes 2 localRanks 4 localRank 0 MNNVL 0\n"),
                8);
  CHECK(trays.system == "gb200-nvl4");
  CHECK(trays.nodes == 2);
  CHECK(nodes_on("gb200-nvl72", LibraryLog(), 144, 36) == 2);
  CHECK(nodes_on("h100-sxm-8", LibraryLog(), 16, 2) == 2);
}

TEST_CASE("a log that does not name its system is refused with what to say") {
  CHECK(usage_error_of(LibraryLog(), 8) == Part{"does not name one kind of GPU"});
  CHECK(usage_error_of(log_of({.gpu = "NVIDIA GeForce RTX 4090"}), 8) ==
        Part{"no node preset has 'NVIDIA GeForce RTX 4090'; say --system"});
  CHECK(usage_error_of(log_of({}), std::nullopt) == Part{"how many GPUs took part"});
  CHECK(usage_error_of(log_of({.gpus_of_host = 16}), 16) ==
        Part{"no node preset has 16 of 'NVIDIA H100 80GB HBM3'"});
  std::string mixed = printed_head();
  mixed.replace(mixed.find("H100 80GB HBM3"), 4, "B200");
  CHECK(usage_error_of(read_library_log(mixed), 8) == Part{"does not name one kind of GPU"});
}

TEST_CASE("logs are known by their content, each as one format") {
  const std::string printed = printed_head() + printed_columns() + printed_row(8, 1, 2);
  CHECK(format_name(printed) == "nccl-tests");
  CHECK(format_name(marked(printed, "[1,0]<stdout>:")) == "nccl-tests");
  CHECK(format_name(kInfo + "Using network IB\n" + printed) == "nccl-tests");
  CHECK(format_name("{\"version\":1,\"nccl_version\":22703,\"config\":{},\"results\":[]}") == "nccl-tests");
  CHECK(format_name("numCycle,collective,gpus,size,type\n") == "nccl-tests");
  CHECK(format_name(kInfo + "Using network IB\n") == "nccl-log");
  CHECK(format_name("NCCL version 2.27.3+cuda12.8\n") == "nccl-log");
  CHECK(format_name("export NCCL_ALGO=Ring\n") == "nccl-environment");
  CHECK(format_name("see NCCL version 2\n") == "none");
  CHECK(format_name("") == "none");
  CHECK((format_of(printed)->read == nullptr));
  CHECK(format_of(printed)->role == FileRole::log);
  CHECK(format_of("NCCL_ALGO=Ring\n")->read({.name = "f", .text = "NCCL_ALGO=Ring\n"}).taken.size() == 1);
}

}  // namespace c3::logs_logged_system_test
