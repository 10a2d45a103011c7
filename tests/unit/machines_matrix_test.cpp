// What nvidia-smi topo -m and rocm-smi --showtopo print, as nodes.

#include <doctest/doctest.h>

#include <algorithm>

#include "importers/machines/nvidia_matrix.hpp"
#include "importers/machines/rocm_matrices.hpp"
#include "interconnect/wiring.hpp"
#include "tests/support/read_machines.hpp"

namespace c3::machines_matrix_test {

using namespace test;

namespace {

/// Two cards below one switch with a NIC, two at a switch each with another switch above, one processor apart.
constexpr const char* kCards =
    "GPU 0: NVIDIA L40S (UUID: GPU-1)\n"
    "GPU 1: NVIDIA L40S (UUID: GPU-2)\n"
    "\n"
    "\t\x1b[4mGPU0\tGPU1\tGPU2\tGPU3\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\x1b[0m\n"
    "GPU0\t X \tPIX\tSYS\tSYS\tPIX\t0-31\t0\tN/A\n"
    "GPU1\tPIX\t X \tSYS\tSYS\tPIX\t0-31\t0\tN/A\n"
    "GPU2\tSYS\tSYS\t X \tPXB\tSYS\t32-63\t1\tN/A\n"
    "GPU3\tSYS\tSYS\tPXB\t X \tSYS\t32-63\t1\tN/A\n"
    "NIC0\tPIX\tPIX\tSYS\tSYS\t X \t\t\t\n"
    "\n"
    "Legend:\n"
    "\n"
    "  X    = Self\n"
    "\n"
    "NIC Legend:\n"
    "\n"
    "  NIC0: mlx5_0\n";

/// A matrix of \p gpus that all have NV\p links to each other.
std::string all_linked(int gpus, int links) {
  std::string text = "\t";
  for (int gpu = 0; gpu < gpus; ++gpu)
    text += "GPU" + std::to_string(gpu) + "\t";
  text += "CPU Affinity\n";
  for (int row = 0; row < gpus; ++row) {
    text += "GPU" + std::to_string(row) + "\t";
    for (int column = 0; column < gpus; ++column)
      text += row == column ? " X \t" : "NV" + std::to_string(links) + "\t";
    text += "0-55\n";
  }
  return text;
}

FileReading read_nvidia(const std::string& text) { return read_nvidia_matrix({"topo.txt", text}); }
std::string nvidia_refusal(const std::string& text) {
  return error_of([&] { read_nvidia(text); });
}

std::string with(std::string text, const std::string& part, const std::string& instead) {
  const std::size_t at = text.find(part);
  REQUIRE(at != std::string::npos);
  return text.replace(at, part.size(), instead);
}

ClusterSpec cluster_of(const FileReading& reading, int nodes = 1) {
  const ReadPresets presets(reading);
  return ReadPresets::cluster(reading, nodes);
}

bool assumes(const FileReading& reading, const std::string& part) {
  return std::ranges::any_of(reading.assumed,
                             [&](const AssumedKey& key) { return key.why.find(part) != std::string::npos; });
}

/// One matrix of rocm-smi: \p cells by rows.
std::string matrix(const std::string& title, const std::vector<std::vector<std::string>>& cells) {
  std::string text = "=============== " + title + " ===============\n      ";
  for (std::size_t gpu = 0; gpu < cells.size(); ++gpu)
    text += " GPU" + std::to_string(gpu);
  text += "\n";
  for (std::size_t gpu = 0; gpu < cells.size(); ++gpu) {
    text += "GPU" + std::to_string(gpu);
    for (const std::string& cell : cells[gpu])
      text += "   " + cell;
    text += "\n";
  }
  return text + "\n";
}

/// All three matrices of two pairs, each joined by xGMI, on two processors.
std::string two_pairs(const std::string& names = "GPU[0]\t\t: Card Model: \t\t0x738c\n") {
  return matrix("Weight between two GPUs", {{"0", "15", "72", "72"},
                                            {"15", "0", "72", "72"},
                                            {"72", "72", "0", "15"},
                                            {"72", "72", "15", "0"}}) +
         matrix("Hops between two GPUs",
                {{"0", "1", "3", "3"}, {"1", "0", "3", "3"}, {"3", "3", "0", "1"}, {"3", "3", "1", "0"}}) +
         matrix("Link Type between two GPUs", {{"0", "XGMI", "PCIE", "PCIE"},
                                               {"XGMI", "0", "PCIE", "PCIE"},
                                               {"PCIE", "PCIE", "0", "XGMI"},
                                               {"PCIE", "PCIE", "XGMI", "0"}}) +
         "======================================= Numa Nodes =======================================\n"
         "GPU[0]\t\t: (Topology) Numa Node: 0\nGPU[1]\t\t: (Topology) Numa Node: 0\n"
         "GPU[2]\t\t: (Topology) Numa Node: 1\nGPU[3]\t\t: (Topology) Numa Node: 1\n" +
         names + "================================== End of ROCm SMI Log ====\n";
}

std::string mesh(std::size_t gpus, const std::string& names = "") {
  std::vector<std::vector<std::string>> cells(gpus, std::vector<std::string>(gpus, "XGMI"));
  for (std::size_t gpu = 0; gpu < gpus; ++gpu)
    cells[gpu][gpu] = "0";
  return matrix("Link Type between two GPUs", cells) + names;
}

FileReading read_rocm(const std::string& text) { return read_rocm_matrices({"topo.txt", text}); }
std::string rocm_refusal(const std::string& text) {
  return error_of([&] { read_rocm(text); });
}

}  // namespace

TEST_CASE("each tool's matrices are known by their own words") {
  CHECK(is_nvidia_matrix(kCards));
  CHECK(is_nvidia_matrix(all_linked(2, 4)));
  CHECK_FALSE(is_nvidia_matrix(two_pairs()));
  CHECK_FALSE(is_nvidia_matrix(""));
  CHECK_FALSE(is_nvidia_matrix("GPU0"));
  CHECK(is_rocm_matrices(two_pairs()));
  CHECK_FALSE(is_rocm_matrices(kCards));
}

TEST_CASE("nvidia-smi: PIX is one switch, PXB several, SYS another processor") {
  const FileReading reading = read_nvidia(kCards);
  CHECK(reading.assumed.size() == 1);  // the fabric
  const NodeSpec node = cluster_of(reading).node;
  CHECK(node.topology == NodeTopology::wired);
  CHECK(node.hubs == std::vector<std::string>{"sw0", "sw1", "cpu0", "cpu1"});
  REQUIRE(node.wires.size() == 7);
  CHECK(vertex_name(node, node.wires[0].b) == "sw0");
  CHECK(vertex_name(node, node.wires[2].b) == "sw1");
  CHECK(node.nic_at == std::vector<int>{4});
  CHECK(node.host.sockets == std::vector<int>{6, 7});
  FileReading facts;
  CHECK(read_nvidia_machine({"topo.txt", kCards}, facts).nics.front().name == "mlx5_0");
}

TEST_CASE("nvidia-smi: as many links to each GPU as one has lead to a switch; fewer are a mesh") {
  using namespace literals;
  const FileReading eight = read_nvidia("GPU 0: NVIDIA H200 (UUID: GPU-1)\n" + all_linked(8, 18));
  CHECK(eight.assumed.empty());
  CHECK(cluster_of(eight).node.topology == NodeTopology::switched);
  CHECK(cluster_of(eight).node.link.raw == 450.0_GBps);
  CHECK(cluster_of(eight).gpu.name == "h200-sxm");
  const FileReading two = read_nvidia("GPU 0: NVIDIA H200 (UUID: GPU-1)\n" + all_linked(2, 18));
  CHECK(cluster_of(two).node.topology == NodeTopology::switched);
  const FileReading four = read_nvidia("GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-1)\n" + all_linked(4, 6));
  CHECK(cluster_of(four).node.topology == NodeTopology::full_mesh);
  CHECK(cluster_of(four).node.link.raw == 150.0_GBps);
  const FileReading bridge = read_nvidia("GPU 0: NVIDIA A100 80GB PCIe (UUID: GPU-1)\n" + all_linked(2, 12));
  const NodeSpec cards = cluster_of(bridge).node;
  REQUIRE(cards.wires.size() == 1);
  CHECK(cards.wires[0].count == 12);
  CHECK(link_of(cards, cards.wires[0]).raw == 25.0_GBps);
}

TEST_CASE("nvidia-smi: GPUs without a name are guessed by their links, which is said, or asked for") {
  const FileReading reading = read_nvidia(all_linked(8, 18));
  CHECK(assumes(reading, "H200, H20 and B200 have as many"));
  CHECK(cluster_of(reading).gpu.name == "h100-sxm");
  CHECK(nvidia_refusal(all_linked(3, 2)) ==
        "topo.txt:1:1: gpu: the matrix does not name the GPUs; put what nvidia-smi -L prints above it");
}

TEST_CASE("nvidia-smi: what is wrong with a matrix is said where it is") {
  CHECK(nvidia_refusal(with(kCards, "PXB", "PXC")) ==
        "topo.txt:7:18: GPU2 to GPU3: 'PXC' is not one of NV1 to NV64 (of GPUs), PIX, PXB, PHB, NODE, SYS");
  CHECK(nvidia_refusal(with(kCards, "NIC0\tPIX", "NIC0\tPHB")) ==
        "topo.txt:9:6: NIC0 to GPU0: is not what the other direction has");
  CHECK(nvidia_refusal(with(kCards, "GPU1\tPIX\t X ", "GPU1\tPIX\tPIX")) ==
        "topo.txt:6:10: GPU1 to GPU1: must be X, for it is the same device");
  CHECK(nvidia_refusal(with(kCards, "GPU1\tGPU2\tGPU3", "GPU1\tGPU3\tGPU2")) ==
        Part{"GPU3: comes out of order: GPU2 is next"});
  CHECK(nvidia_refusal(with(kCards, "GPU2\tGPU3\tNIC0", "GPU2\tGPU3\tGPU3")) ==
        Part{"GPU3: is a column already"});
  CHECK(nvidia_refusal(std::string(kCards).substr(0, std::string(kCards).find("GPU3\tSYS"))) ==
        Part{"GPU3: has a column and no row"});
  CHECK(nvidia_refusal(with(kCards, "GPU3\tSYS\tSYS\tPXB\t X \tSYS\t32-63\t1\tN/A", "GPU3\tSYS\tSYS")) ==
        Part{"GPU3: has 2 values, and there are 5 columns"});
  CHECK(nvidia_refusal(with(kCards, "GPU 1: NVIDIA L40S", "GPU 1: NVIDIA L4")) ==
        Part{"topo.txt:2:8: GPU: is another one than the first"});
}

TEST_CASE("rocm-smi: pairs with xGMI are joined by it, the others over PCIe of their processors") {
  using namespace literals;
  const FileReading reading = read_rocm(two_pairs());
  const NodeSpec node = cluster_of(reading).node;
  CHECK(cluster_of(reading).gpu.name == "mi100");
  CHECK(node.hubs == std::vector<std::string>{"cpu0", "cpu1"});
  REQUIRE(node.wires.size() == 7);
  CHECK(node.wires[0] == Wire{.a = 0, .b = 1});
  CHECK(node.wires[1] == Wire{.a = 2, .b = 3});
  CHECK(node.link.raw == 46.0_GBps);
  CHECK(link_of(node, node.wires[2]).raw == 31.5_GBps);
}

TEST_CASE("rocm-smi: xGMI of more than the least weight goes over another GPU and is no link of their own") {
  const std::string text =
      matrix("Weight between two GPUs", {{"0", "15", "30"}, {"15", "0", "15"}, {"30", "15", "0"}}) +
      matrix("Hops between two GPUs", {{"0", "1", "1"}, {"1", "0", "1"}, {"1", "1", "0"}}) +
      mesh(3, "GPU[0] : Card Model: 0x738c\n");
  FileReading reading;
  const Machine machine = read_rocm_machine({"topo.txt", text}, reading);
  REQUIRE(machine.links.size() == 2);
  CHECK(machine.links[0].b == 1);
  CHECK(machine.links[1].a == 1);
}

TEST_CASE("rocm-smi: eight that all have links are a mesh; MI250X has the links of its shipped node") {
  const FileReading eight = read_rocm(mesh(8));
  CHECK(assumes(eight, "MI325X, MI350X and MI355X are joined like that, too"));
  CHECK(cluster_of(eight).node.topology == NodeTopology::full_mesh);
  CHECK(cluster_of(eight).gpu.name == "mi300x");
  const FileReading named = read_rocm(mesh(8, "GPU[0] : Card Series: AMD Instinct MI325X\n"));
  CHECK(named.assumed.empty());
  CHECK(cluster_of(named).gpu.name == "mi325x");
  const std::string older =
      "GPU[0] : Card series: Arcturus GL-XL [AMD Instinct MI100]\nGPU[0] : Card model: 0x0c34\n";
  CHECK(cluster_of(read_rocm(mesh(4, older))).gpu.name == "mi100");
  CHECK(cluster_of(read_rocm(mesh(4, "GPU[0] : Card series: 0x738c\nGPU[0] : Card model: 0xc34\n"))).gpu.name ==
        "mi100");
  CHECK(assumes(read_rocm(mesh(8, "GPU[0] : Device ID: 0x740c\n")), "MI250X is taken"));
  const FileReading dies = read_rocm(mesh(8, "GPU[0] : Card Model: 0x7408\n"));
  CHECK(assumes(dies, "they are those of mi250x-4"));
  CHECK(cluster_of(dies).node.wires.size() == 12);
}

TEST_CASE("rocm-smi: what is wrong with matrices is said where it is") {
  CHECK(rocm_refusal(two_pairs("")) ==
        "topo.txt:1:1: gpu: the file does not name the GPUs; rocm-smi --showtopo --showproductname does");
  CHECK(rocm_refusal(with(two_pairs(), "XGMI", "XGMY")) ==
        "topo.txt:17:12: GPU0 to GPU1: 'XGMY' is not XGMI or PCIE, or 0 for a GPU with itself");
  CHECK(rocm_refusal(with(two_pairs(), "15", "16")) ==
        Part{"GPU1 to GPU0: is not what the other direction has"});
  CHECK(rocm_refusal(with(two_pairs(), "72", "x")) == Part{"GPU0 to GPU2: 'x' is not a whole number"});
  CHECK(rocm_refusal(with(two_pairs(), "GPU1   15", "GPU2   15")) ==
        Part{"row: 'GPU2' is not the row of GPU1"});
  CHECK(rocm_refusal(with(two_pairs(), " GPU1 GPU2", " GPU2 GPU1")) == Part{"column: must be GPU1"});
  CHECK(rocm_refusal(with(two_pairs(), "GPU0   0   15   72   72", "GPU0   0   15")) ==
        Part{"GPU0: has 2 values, and there are 4 columns"});
  CHECK(rocm_refusal(two_pairs().substr(0, two_pairs().find("GPU3   PCIE"))) ==
        Part{"Link Type between two GPUs: has 3 rows, and there are 4 GPUs"});
  CHECK(rocm_refusal(two_pairs() + two_pairs()) == Part{"section: comes a second time"});
  CHECK(rocm_refusal(mesh(2) + "GPU[x] : Card Model: 0x738c\n") ==
        Part{"GPU: must read GPU[0], GPU[1] and so on"});
}

TEST_CASE("no mutation of a matrix crashes, hangs or throws anything but a ConfigError") {
  check_mutations(kCards, [](const ForeignFile& file) { read_nvidia_matrix(file); });
  check_mutations(two_pairs(), [](const ForeignFile& file) { read_rocm_matrices(file); });
}

}  // namespace c3::machines_matrix_test
