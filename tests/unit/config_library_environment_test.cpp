/// Environment variables of NCCL and RCCL as keys of an experiment.

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "configs/jobs/experiment_reader.hpp"
#include "configs/presets/library_environment.hpp"
#include "tests/unit/config_files.hpp"

namespace c3::config_library_environment_test { namespace {

using Texts = std::vector<std::string>;

constexpr const char* kJob =
    "schema = 1\nsystem = \"h100-sxm-8\"\n[[stream]]\nname = \"a\"\nrun = [{ all_reduce = \"16 MiB\" }]\n"
    "[strategy.alone]\n";

/// The job above with \p lines before its streams, and \p sets.
ExperimentFile job_with(const ScratchFolder& folder, const std::string& lines, const Texts& sets = {}) {
  return ExperimentFile::load(folder.write("e.toml", kJob + lines), sets);
}

CollectiveLibrarySpec library_with(const std::string& lines, const Texts& sets = {}) {
  const ScratchFolder folder;
  return job_with(folder, lines, sets).make(std::nullopt).cluster.library;
}

std::string refusal(const std::string& lines, const Texts& sets = {}) {
  const ScratchFolder folder;
  return error_of([&] { job_with(folder, lines, sets); });
}

TEST_CASE("variables are read as the keys that they stand for") {
  const CollectiveLibrarySpec library = library_with(
      "[library.env]\nNCCL_ALGO = \"^NVLSTree,NVLS\"\nNCCL_PROTO = \"Simple\"\nNCCL_MIN_CTAS = "
      "32\nNCCL_MAX_CTAS = \"40\"\n"
      "NCCL_BUFFSIZE = 8388608\nNCCL_NTHREADS = 256\nNCCL_COLLNET_ENABLE = 0\nNCCL_DEBUG = \"INFO\"\n");
  CHECK(library ==
        library_with(
            "[library]\nalgorithms = \"^nvls_tree,nvls\"\nprotocols = \"simple\"\nmin_channels = 32\n"
            "max_channels = 40\nchunk_size = \"1 MiB\"\nring_chunk = \"4 MiB\"\npair_buffer = \"8 MiB\"\n"
            "threads = 256\nll.threads = 256\ncollnet = false\n"));
  CHECK(library.channel_limits == ChannelLimits{32, 40});
  CHECK_FALSE(library.permits.algorithms.allow(CollectiveKind::all_reduce, "nvls"));
  CHECK(library.permits.nvls);
}

TEST_CASE("a variable at its usual value changes nothing, and --set reaches variables") {
  CHECK(library_with("[library.env]\nNCCL_NVLS_ENABLE = 2\nNCCL_COLLNET_ENABLE = 1\n") == library_with(""));
  CHECK_FALSE(library_with("", {"library.env.NCCL_NVLS_ENABLE=0"}).permits.nvls);
}

TEST_CASE("transports within a node and between nodes are variables, too") {
  const auto node_with = [](const std::string& variables) {
    const ScratchFolder folder;
    const std::string job = std::string(kJob).replace(std::string(kJob).find("h100-sxm-8"), 10, "rtx-6000d-8");
    return ExperimentFile::load(folder.write("e.toml", job + "[library.env]\n" + variables))
        .make(std::nullopt)
        .cluster;
  };
  CHECK(node_with("NCCL_P2P_LEVEL = \"PHB\"\n").node.host.p2p == P2pReach::host);
  CHECK(node_with("NCCL_P2P_LEVEL = \"NVL\"\n").node.host.p2p == P2pReach::wires);
  CHECK(node_with("NCCL_P2P_DISABLE = 1\n").node.host.p2p == P2pReach::none);
  CHECK(node_with("NCCL_P2P_DISABLE = 0\n").node.host.p2p == P2pReach::direct);
  CHECK_FALSE(node_with("NCCL_SHM_DISABLE = 1\n").node.host.shm);
  CHECK(node_with("NCCL_IB_QPS_PER_CONNECTION = 4\n").library.qps == 4);
  CHECK(library_with("[library.env]\nNCCL_NCHANNELS_PER_NET_PEER = 8\n").net_peer_channels == 8);
  CHECK_FALSE(library_with("[library.env]\nNCCL_PXN_DISABLE = 1\n").pxn);
  CHECK(library_with("[library.env]\nNCCL_P2P_LEVEL = \"NVL\"\n") ==
        library_with(""));  // peers by NVLink anyway
  CHECK(refusal("[library.env]\nNCCL_P2P_LEVEL = \"PHX\"\n") ==
        Part{"library.env.NCCL_P2P_LEVEL: must be one of LOC, NVL, PIX, PXB, PHB, SYS, not 'PHX'"});
}

TEST_CASE("what cannot be is refused at the variable") {
  CHECK(refusal("[library.env]\nNCCL_ALG = \"Ring\"\n") ==
        Part{"e.toml:8:1: library.env.NCCL_ALG: unknown variable of NCCL or RCCL 'NCCL_ALG'; did you mean "
             "'NCCL_ALGO'?"});
  CHECK(refusal("[library.env]\nNCCL_ALGO = \"Rink\"\n") ==
        Part{"e.toml:8:13: library.algorithms: unknown algorithm 'Rink'; did you mean 'ring'?"});
  CHECK(refusal("[library.env]\nNCCL_MIN_CTAS = \"many\"\n") == Part{"must be a whole number, not 'many'"});
  CHECK(refusal("[library.env]\nNCCL_MIN_CTAS = 0\n") == Part{"e.toml:8:17: library.min_channels: "});
  CHECK(refusal("[library.env]\nNCCL_ALGO = true\n") == Part{"must be a text or a whole number"});
  CHECK(refusal("[library]\nenv = 3\n") == Part{"library.env: must be a table of variables"});
}

TEST_CASE("what is given twice is refused, by a key or by another variable") {
  CHECK(refusal("[library]\nmax_channels = 8\n[library.env]\nNCCL_MAX_CTAS = 8\n") ==
        Part{"e.toml:10:17: library.env.NCCL_MAX_CTAS: sets library.max_channels, which "});
  CHECK(refusal("[library.env]\nNCCL_MAX_CTAS = 8\nNCCL_MAX_NCHANNELS = 8\n") ==
        Part{"library.env.NCCL_MAX_NCHANNELS: sets library.max_channels, which "});
}

TEST_CASE("a note names every variable that has no key, and why") {
  const ScratchFolder folder;
  CHECK(job_with(folder, "[library.env]\nNCCL_DEBUG = \"INFO\"\nNCCL_ALGO = \"Ring\"\n").notes() ==
        Texts{"NCCL_DEBUG changes nothing here: it is for diagnosis"});
}

TEST_CASE("every key that a variable sets is one of the configuration") {
  for (const LibraryVariable& variable : library_variables()) {
    CAPTURE(std::string(variable.name));
    if (std::holds_alternative<HasNoKey>(variable.effect)) continue;
    if (std::holds_alternative<SetsName>(variable.effect))
      continue;  // each value above, on a node with sockets
    const bool takes_text = std::holds_alternative<SetsText>(variable.effect);
    const std::string value =
        !takes_text ? "32" : (variable.name == "NCCL_ALGO" ? "\"Ring,NVLS\"" : "\"Simple\"");
    CHECK(refusal("[library.env]\n" + std::string(variable.name) + " = " + value + "\n") == "no error");
  }
}

}}  // namespace c3::config_library_environment_test
