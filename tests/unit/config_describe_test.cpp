#include "configs/toml/describe.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string>
#include <vector>

#include "configs/jobs/experiment_reader.hpp"
#include "configs/presets/preset_store.hpp"
#include "configs/toml/section.hpp"
#include "tests/unit/config_files.hpp"

namespace c3::config_describe_test { namespace {

template <class Read>
TableRule described(Read read) {
  return describe("t", Provenance::optional, read);
}

TEST_CASE("a key asked for before it is read is optional, any other is required") {
  TableRule rule = described([](Section& section) {
    section.text("name");
    if (section.has("count")) section.integer("count", 1, 8);
    section.finish();
  });
  REQUIRE(rule.keys.size() == 2);
  CHECK(rule.find("name")->presence == Presence::required);
  CHECK(std::holds_alternative<TextRule>(rule.find("name")->rule->form));
  CHECK(rule.find("count")->presence == Presence::optional);
  CHECK(std::get<IntegerRule>(rule.find("count")->rule->form).high == 8);
}

TEST_CASE("keys that are read beside an optional one belong to it, and it may bring optional ones of its own") {
  TableRule rule = described([](Section& section) {
    if (!section.has("peak")) return;
    section.bandwidth("peak");
    section.bandwidth("sustained");
    if (section.has("clock")) section.frequency("clock");
  });
  REQUIRE(rule.keys.size() == 3);
  CHECK(rule.find("peak")->with == std::vector<std::string>{"sustained"});
  CHECK(rule.find("sustained")->presence == Presence::optional);
  CHECK(rule.find("clock")->presence == Presence::optional);
  CHECK(rule.find("clock")->rule.has_value());
  CHECK(rule.find("sustained")->with == std::vector<std::string>{"peak"});
  CHECK(rule.find("clock")->with == std::vector<std::string>{"peak"});
}

TEST_CASE("tables inside tables are described with what they require themselves") {
  TableRule rule = described([](Section& section) {
    if (!section.has("measure")) return;
    Section measure = section.table("measure");
    measure.flag("fold");
    if (measure.has("seed")) measure.integer("seed", 0, 9);
    measure.finish();
  });
  TableRule& measure = std::get<TableRule>(rule.find("measure")->rule->form);
  CHECK(rule.find("measure")->presence == Presence::optional);
  CHECK(measure.find("fold")->presence == Presence::required);
  CHECK(measure.find("seed")->presence == Presence::optional);
  CHECK(measure.find("seed")->rule.has_value());
}

TEST_CASE("names that the file chooses, lists of tables, and tables with one of several keys are described") {
  static constexpr std::array<std::string_view, 2> kWork = {"gemm", "wait"};
  TableRule rule = described([](Section& section) {
    for (Section& stream : section.tables("stream", 4))
      stream.only_key("work", kWork) == "gemm" ? stream.table("gemm").flag("fp8") : stream.flag("wait");
    Section strategies = section.table("strategy");
    for (const ChosenKey& key : strategies.chosen_keys())
      strategies.table(key.name).flag("serial");
  });
  TableRule& stream = std::get<TableRule>(std::get<ListRule>(rule.find("stream")->rule->form).element->form);
  CHECK(stream.has_one_key);
  CHECK(std::holds_alternative<FlagRule>(stream.find("wait")->rule->form));
  TableRule& gemm = std::get<TableRule>(stream.find("gemm")->rule->form);
  CHECK(gemm.find("fp8")->presence == Presence::required);
  TableRule& strategy = std::get<TableRule>(rule.find("strategy")->rule->form);
  REQUIRE(strategy.keys.size() == 1);
  CHECK(strategy.keys.front().presence == Presence::chosen);
  CHECK(std::get<TableRule>(strategy.keys.front().rule->form).find("serial") != nullptr);
}

TEST_CASE("a reader that cannot read its own examples fails loudly, and an example given for a key helps it") {
  const auto read = [](Section& section) {
    if (section.integer("even", 1, 7) % 2 != 0) section.fail("even", "must be even");
  };
  CHECK(error_of([&] { described(read); }) == "example:1:1: t.even: must be even");
  const TableRule rule = describe("t", Provenance::optional, read, {{"t.even", Node{std::int64_t{4}, {}}}});
  CHECK(std::get<IntegerRule>(rule.keys.front().rule->form).high == 7);
}

/// Every key below \p rule has been read in some rehearsal, so a schema can say what it allows.
void check_complete(const TableRule& rule, const std::string& path, int& keys) {
  for (const KeyRule& key : rule.keys) {
    const std::string name = path + "." + key.key;
    CAPTURE(name);
    REQUIRE(key.rule.has_value());
    ++keys;
    if (const auto* table = std::get_if<TableRule>(&key.rule->form)) check_complete(*table, name, keys);
    if (const auto* list = std::get_if<ListRule>(&key.rule->form)) {
      if (const auto* table = std::get_if<TableRule>(&list->element->form)) check_complete(*table, name, keys);
    }
  }
}

TEST_CASE("the readers of presets and experiments say of every key what it allows") {
  int keys = 0;
  for (const PresetKind kind : kPresetKinds)
    check_complete(preset_rule(kind), std::string(noun_of(kind)), keys);
  CHECK(keys > 60);
  check_complete(experiment_rule(), "", keys);
  CHECK(keys > 140);
}

TEST_CASE("bounds that follow from the GPU are as wide as for any GPU") {
  TableRule rule = experiment_rule();
  const auto table_of = [](TableRule& table, std::string_view key) -> TableRule& {
    return std::get<TableRule>(table.find(key)->rule->form);
  };
  TableRule& strategies = table_of(rule, "strategy");
  TableRule& strategy = table_of(strategies, strategies.keys.front().key);
  TableRule& policy = table_of(strategy, strategy.keys.back().key);
  const auto& cus = std::get<AnyOfRule>(policy.find("cus")->rule->form);
  CHECK(std::get<IntegerRule>(cus.alternatives.front().form).low == 1);
  CHECK(std::get<IntegerRule>(cus.alternatives.front().form).high > 1000);
}

}}  // namespace c3::config_describe_test
