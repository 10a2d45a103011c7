/// Tables of keys: whole, explained, and what a measured rate keeps of the peak that it was measured against.

#include "configs/fields/field.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "configs/fields/library_fields.hpp"
#include "configs/jobs/experiment_reader.hpp"
#include "configs/presets/preset_store.hpp"
#include "tests/support/near.hpp"
#include "tests/unit/config_files.hpp"

namespace c3::config_fields_test { namespace {

struct Sample {
  int count = 0;
  Bytes size;
  std::optional<Seconds> latency;
  std::vector<Hertz> clocks = {};
};

TEST_CASE("members of an aggregate are counted, whatever their types") {
  CHECK(member_count<Sample>() == 4);
  struct None {};
  CHECK(member_count<None>() == 0);
}

TEST_CASE("numbers with a unit are visited under their keys, absent ones are not") {
  constexpr auto kFields = std::to_array<Field<Sample>>(
      {number<&Sample::count>("count", {0, 9}, "how many"), quantity<&Sample::size>("size", "of all"),
       quantity<&Sample::latency>("latency", "of one").optional()});
  const auto keys_of = [&](Sample sample) {
    std::vector<std::string> keys;
    each_quantity(sample, kFields, "link_", [&](const std::string& key, QuantityOf found) {
      keys.push_back(key);
      CHECK(*found.value == 3.0);
    });
    return keys;
  };
  CHECK(keys_of({1, Bytes{3.0}, std::nullopt}) == std::vector<std::string>{"link_size"});
  CHECK(keys_of({1, Bytes{3.0}, Seconds{3.0}}) == std::vector<std::string>{"link_size", "link_latency"});
}

/// Keys of \p rule, and of tables below it, without a meaning.
void find_unexplained(const Rule& rule, const std::string& path, std::vector<std::string>& found, int& keys) {
  if (const auto* list = std::get_if<ListRule>(&rule.form)) find_unexplained(*list->element, path, found, keys);
  if (const auto* any = std::get_if<AnyOfRule>(&rule.form)) {
    for (const Rule& alternative : any->alternatives)
      find_unexplained(alternative, path, found, keys);
  }
  const auto* table = std::get_if<TableRule>(&rule.form);
  if (table == nullptr) return;
  for (const KeyRule& key : table->keys) {
    const std::string name = path + "." + key.key;
    ++keys;
    if (key.meaning.empty()) found.push_back(name);
    REQUIRE(key.rule.has_value());
    find_unexplained(*key.rule, name, found, keys);
  }
}

TEST_CASE("every key of presets and experiments has a meaning, whichever table or alternative it is in") {
  std::vector<std::string> unexplained;
  int keys = 0;
  for (const PresetKind kind : kPresetKinds)
    find_unexplained({preset_rule(kind)}, std::string(noun_of(kind)), unexplained, keys);
  find_unexplained({experiment_rule()}, "experiment", unexplained, keys);
  CHECK(fmt::format("{}", fmt::join(unexplained, ", ")) == "");
  CHECK(keys > 700);  // 7 tables of presets, most of them once more in an experiment
}

TEST_CASE("a default is what the spec has without the key, unless the key could not say it") {
  struct Spec {
    int count = 0;
    int parts = 4;
    bool folds = true;
  };
  constexpr auto kCount = number<&Spec::count>("count", {1, 9}, "");
  CHECK(default_of(kCount) == PlainValue{});
  CHECK(default_of(kCount.optional()) == PlainValue{});  // 0 is out of range: no count is given
  CHECK(default_of(number<&Spec::parts>("parts", {1, 9}, "").optional()) == PlainValue{std::int64_t{4}});
  CHECK(default_of(plain_flag<&Spec::folds>("folds", "").optional()) == PlainValue{true});
  CHECK(default_of(plain_flag<&Spec::folds>("folds", "").by_others()) == PlainValue{});
}

TEST_CASE("an overridden peak takes the rates measured against it along, and those beside it stay as written") {
  const GpuSpec before = load_gpu("mi300x");
  const std::vector<std::string> peak = {"gpu.hbm_peak=10.6 TB/s"};
  const GpuSpec after = load_gpu("mi300x", peak);
  const double factor = 10.6e12 / before.hbm.peak.value;
  CHECK(after.hbm.read.value == near(before.hbm.read.value * factor));
  CHECK(after.hbm.write.value == near(before.hbm.write.value * factor));
  CHECK(after.hbm.copy.value == near(before.hbm.copy.value * factor));
  const std::vector<std::string> both = {"gpu.hbm_peak=10.6 TB/s", "gpu.hbm_read=9 TB/s"};
  CHECK(load_gpu("mi300x", both).hbm.read == 9.0_TBps);
  CHECK(load_gpu("mi300x", both).hbm.write.value == near(before.hbm.write.value * factor));
}

TEST_CASE("an overridden link takes its payload and its library's rates along") {
  const ClusterSpec before = load_cluster("h100-sxm-8");
  const std::vector<std::string> sets = {"node.link_raw=900 GB/s"};
  const ClusterSpec after = load_cluster("h100-sxm-8", sets);
  const double factor = 900e9 / before.node.link.raw.value;
  CHECK(after.node.link.both_ways.value == near(before.node.link.both_ways.value * factor));
  CHECK(after.library.link_payload.value == near(before.library.link_payload.value * factor));
  CHECK(after.library.nvls_payload.value == near(before.library.nvls_payload.value * factor));
  CHECK(after.library.cu_rate == before.library.cu_rate);
  CHECK(after.node.pcie == before.node.pcie);
}

TEST_CASE("an overridden NIC, and a kind of link in a wired node, take their payloads along") {
  const ClusterSpec before = load_cluster({"h100-sxm-8", 2, "ib-ndr"});
  const std::vector<std::string> nic = {"fabric.nic_raw=100 GB/s"};
  const ClusterSpec after = load_cluster({"h100-sxm-8", 2, "ib-ndr"}, nic);
  CHECK(after.fabric->nic.one_way.value ==
        near(before.fabric->nic.one_way.value * 100e9 / before.fabric->nic.raw.value));

  const ClusterSpec wired = load_cluster("rtx-6000d-8");
  const std::vector<std::string> socket = {"node.links.socket.raw=1 TB/s"};
  const ClusterSpec faster = load_cluster("rtx-6000d-8", socket);
  REQUIRE(wired.node.other_links.size() == 1);
  CHECK(faster.node.other_links[0].both_ways.value ==
        near(wired.node.other_links[0].both_ways.value * 1e12 / wired.node.other_links[0].raw.value));
}

}}  // namespace c3::config_fields_test
