// Reading fabrics, and systems of several nodes: what fits together and what is refused.

#include <doctest/doctest.h>

#include <fstream>
#include <string>
#include <vector>

#include "configs/jobs/experiment_reader.hpp"
#include "configs/presets/preset_store.hpp"
#include "configs/presets/spec_readers.hpp"
#include "configs/toml/section.hpp"
#include "configs/toml/toml_text.hpp"
#include "tests/support/near.hpp"
#include "tests/support/print_units.hpp"
#include "tests/unit/config_files.hpp"

namespace c3::config_fabric_test {
namespace {

const std::string kBase = R"(name = "f"
topology = "single_switch"
nic_raw = "50 GB/s"
nic_one_way = "48 GB/s"
nic_both_ways = "47 GB/s"
nic_latency = "1 us"
switch_latency = "200 ns"
message_latency = "1 us"
message_cost = "3 ns"
message_size = "512 KiB"
)";

std::string with(std::string part, const std::string& instead, std::string text = kBase) {
  const std::size_t at = text.find(part);
  REQUIRE(at != std::string::npos);
  return text.replace(at, part.size(), instead);
}

std::string tree() {
  return with("single_switch", "fat_tree") + "leaf_nics = 16\nspines = 4\nleaf_oversubscription = 2.0\n";
}

FabricSpec read(const std::string& text) {
  const Node node = parse_toml(text, "f.toml");
  Section section(node, "fabric");
  return read_fabric(section);
}

std::string error_with(const std::string& text) {
  return error_of([&] { read(text); });
}

/// A system of several nodes as an experiment writes it.
ClusterSpec load(const std::string& head) {
  const ScratchFolder folder;
  const std::string file = folder.write("e.toml", "schema = 1\n" + head +
                                                      "[[stream]]\nname = \"s\"\nrun = [{ all_to_all = \"1 "
                                                      "MiB\" }]\n[strategy.alone]\n");
  return ExperimentFile::load(file).make(std::nullopt).cluster;
}

std::string refusal(const std::string& head) {
  const std::string error = error_of([&] { load(head); });
  return error.substr(error.find("e.toml:") == std::string::npos ? 0 : error.find("e.toml:") + 7);
}

}  // namespace

TEST_CASE("a fabric of one switch needs its NICs and its messages") {
  using namespace literals;
  const FabricSpec fabric = read(kBase + "switch_reduces = true\nnics = 4\n");
  CHECK(fabric.topology == FabricTopology::single_switch);
  CHECK(fabric.nics_per_node == 4);
  CHECK(fabric.nic.one_way == 48.0_GBps);
  CHECK(fabric.message_cost.value == near(3e-9));
  CHECK(fabric.message_size == 512.0_KiB);
  CHECK(fabric.switch_reduces);
}

TEST_CASE("keys of a topology are read for it and refused for others") {
  const FabricSpec ecmp = read(tree() + "routing = \"ecmp\"\nflows = 4\npath_seed = 7\n");
  CHECK(ecmp.tree == TreeSpec{.levels = 2, .leaf_nics = 16, .spines = 4, .leaf_oversubscription = 2.0});
  CHECK(ecmp.routing == FabricRouting::ecmp);
  CHECK(ecmp.flows == 4);
  CHECK(ecmp.seed == 7);
  const FabricSpec pods = read(tree() + "pod_leaves = 8\nspine_cores = 2\npod_oversubscription = 3.0\n");
  CHECK(pods.tree.levels == 3);
  CHECK(pods.tree.pod_leaves == 8);
  const std::string link =
      "link_raw = \"25 GB/s\"\nlink_one_way = \"24 GB/s\"\nlink_both_ways = \"24 GB/s\"\nlink_latency = \"0 "
      "us\"\n";
  CHECK(read(with("single_switch", "torus") + "torus_x = 4\ntorus_y = 2\n" + link).torus ==
        std::vector<int>{4, 2});
  CHECK(read(with("single_switch", "dragonfly") +
             "switch_nics = 16\ngroup_switches = 8\nlocal_links = 1\nglobal_links = 2\n" + link)
            .dragonfly == DragonflySpec{16, 8, 1, 2});
  CHECK(error_with(with("fat_tree", "single_switch", tree())) ==
        "f.toml:11:13: fabric.leaf_nics: requires topology 'leaf_spine' or 'fat_tree'");
  CHECK(error_with(tree() + "torus_x = 4\n") == "f.toml:14:11: fabric.torus_x: requires topology 'torus'");
  CHECK(error_with(with("single_switch", "leaf_spine")) == "f.toml:1:1: fabric.leaf_nics: is missing");
}

TEST_CASE("a fabric without bandwidth, without uplinks or wider than raw is refused") {
  CHECK(error_with(with("48 GB/s", "0 GB/s")).starts_with("f.toml:4:15: fabric.nic_one_way: must be above 0"));
  CHECK(error_with(with("48 GB/s", "51 GB/s")) ==
        "f.toml:4:15: fabric.nic_one_way: must not be above nic_raw, which is 50 GB/s");
  CHECK(error_with(with("2.0", "0.0", tree())) ==
        "f.toml:13:25: fabric.leaf_oversubscription: must be above 0.0");
  CHECK(error_with(kBase + "nics = 0\n") == "f.toml:11:8: fabric.nics: must be between 1 and 256, not 0");
}

TEST_CASE("an experiment takes the fabric of its node, one that it names, or one with keys of its own") {
  using namespace literals;
  CHECK_FALSE(load("system = \"h100-sxm-8\"\n").fabric.has_value());
  const ClusterSpec own = load("system = \"h100-sxm-8\"\nnodes = 4\n");
  CHECK(own.ranks() == 32);
  CHECK(own.fabric->name == "ib-ndr");
  CHECK(own.fabric->nics_per_node == 8);  // one for each GPU, though 32 would fit
  CHECK(load("system = \"h100-sxm-8\"\nnodes = 4\nfabric = \"efa-p5\"\n").fabric->nics_per_node == 32);
  const ClusterSpec changed = load(
      "system = \"h100-sxm-8\"\nnodes = 2\n[fabric]\nuse = \"roce-400g\"\nnics = 4\nswitch_latency = \"9 "
      "us\"\n");
  CHECK(changed.fabric->name == "roce-400g");
  CHECK(changed.fabric->nics_per_node == 4);
  CHECK(changed.fabric->switch_latency == 9.0_us);
  CHECK(load("system = \"h100-sxm-8\"\nnodes = 2\n[fabric]\nnics = 2\n").fabric->name == "ib-ndr");
  CHECK(load("system = \"mi250x-4\"\nnodes = 2\n").fabric->nics_per_node == 4);
  CHECK(load("system = \"gh200-1\"\nnodes = 2\n").ranks() == 2);
}

TEST_CASE("nodes that nothing joins, or without room for the NICs, are refused") {
  CHECK(refusal("system = \"h100-sxm-8\"\nnodes = 0\n") == "3:9: nodes: must be between 1 and 131072, not 0");
  CHECK(refusal("system = \"h100-pcie-2\"\nnodes = 2\n") ==
        "3:9: nodes: 2 nodes 'h100-pcie-2' need a fabric that joins them, as in fabric = \"ib-ndr\"");
  CHECK(refusal("system = \"h100-pcie-2\"\nnodes = 2\nfabric = \"ib-hdr\"\n") ==
        "4:10: fabric: node 'h100-pcie-2' has no place for NICs: nic_slots, or nic_at of a wired one");
  CHECK(refusal("system = \"mi300x-8\"\nnodes = 2\n[fabric]\nnics = 9\n") ==
        "5:8: fabric.nics: 9 NICs do not fit the 8 slots of node 'mi300x-8'");
  CHECK(refusal("system = \"mi300x-8\"\nnodes = 2\nfabric = \"ib-ndx\"\n")
            .starts_with("4:10: fabric.use: unknown fabric preset 'ib-ndx'"));
}

TEST_CASE("what was resolved reads the same again") {
  const ScratchFolder folder;
  const std::string text =
      "schema = 1\nsystem = \"mi250x-4\"\nnodes = 4\nfabric = \"slingshot-11\"\n[[stream]]\nname = \"s\"\nrun "
      "= [{ "
      "all_to_all = \"1 MiB\" }]\n[strategy.alone]\n";
  const ExperimentFile file = ExperimentFile::load(folder.write("e.toml", text));
  const ExperimentFile again = ExperimentFile::load(folder.write("r.toml", file.resolved_toml()));
  CHECK(again.make(std::nullopt).cluster == file.make(std::nullopt).cluster);
  CHECK(again.make(std::nullopt).cluster.nodes == 4);
}

TEST_CASE("a system of the command line takes nodes, fabric and overrides of it") {
  const std::vector<std::string> sets = {"fabric.nics=4"};
  const ClusterSpec cluster = load_cluster({"h100-sxm-8", 2, "roce-400g"}, sets);
  CHECK(cluster.fabric->name == "roce-400g");
  CHECK(cluster.fabric->nics_per_node == 4);
  CHECK(cluster.network().ranks() == 16);
  CHECK(error_of([] {
          load_cluster({"h100-sxm-8", 2, "nothing"});
        }).starts_with("--fabric:1:1: fabric.use: unknown fabric preset 'nothing'"));
}

TEST_CASE("every node preset with room for NICs joins the fabric that it names") {
  int joined = 0;
  for (const std::string& name : preset_names(PresetKind::node)) {
    CAPTURE(name);
    if (load_cluster(name).node.nic_slots == 0) continue;
    const ClusterSpec cluster = load_cluster({name, 2, ""});
    CHECK(cluster.fabric->nics_per_node >= 1);
    CHECK(cluster.fabric->nics_per_node <= cluster.node.nic_slots);
    ++joined;
  }
  CHECK(joined >= 10);
}

TEST_CASE("no draw of a fabric preset's ranges contradicts itself") {
  for (const std::string& name : preset_names(PresetKind::fabric)) {
    CAPTURE(name);
    const Node preset = load_preset(PresetKind::fabric, name, {}, "test");
    for (std::uint64_t draw = 0; draw < 200; ++draw) {
      Section section(preset, "fabric", Sampling(draw, 1));
      CHECK_NOTHROW(read_fabric(section));
    }
  }
}

}  // namespace c3::config_fabric_test
