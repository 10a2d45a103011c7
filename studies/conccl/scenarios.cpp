#include "studies/conccl/scenarios.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/nearest_name.hpp"
#include "collectives/algorithms/algorithm.hpp"
#include "configs/presets/preset_store.hpp"
#include "studies/checked_row.hpp"
#include "workloads/program/written_streams.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr std::array kDTypesOfGemms = {DType::bf16, DType::fp16, DType::fp8, DType::fp32};
constexpr std::array kCollectives = {CollectiveKind::all_gather, CollectiveKind::all_to_all};
constexpr std::array<std::string_view, 13> kColumns = {
    "id", "bound", "class",   "model",      "projection", "m",       "n",
    "k",  "dtype", "traffic", "collective", "algorithm",  "size_mib"};
constexpr std::array kTraffics = {GemmTraffic::tiled, GemmTraffic::streamed};

constexpr std::int64_t kLargestExtent = 16'777'216;

template <class Values>
auto one_of(const CheckedRow& row, std::string_view column, const Values& values) {
  std::vector<std::string_view> names;
  for (const auto& value : values)
    names.push_back(name_of(value));
  return values[row.one_of(column, names)];
}

Scenario read_scenario(const CheckedRow& row) {
  Scenario scenario;
  scenario.id = row.text("id");
  scenario.bound = one_of(row, "bound", kBounds);
  scenario.length = one_of(row, "class", kLengthClasses);
  scenario.model = row.text("model");
  const std::vector<std::string> models = preset_names(PresetKind::model);
  if (std::ranges::find(models, scenario.model) == models.end())
    row.fail("model", unknown_name("model", scenario.model, models));
  scenario.projection = row.text("projection");
  const auto extent = [&row](std::string_view column) { return row.whole(column, kLargestExtent); };
  scenario.gemm = {
      .m = extent("m"), .n = extent("n"), .k = extent("k"), .dtype = one_of(row, "dtype", kDTypesOfGemms)};
  scenario.gemm.traffic = one_of(row, "traffic", kTraffics);
  scenario.collective = {.kind = one_of(row, "collective", kCollectives),
                         .bytes = 1.0_MiB * row.above_0("size_mib"),
                         .dtype = scenario.gemm.dtype};
  scenario.algorithm = one_of(row, "algorithm", kAlgorithms);
  if (!supports(scenario.algorithm, scenario.collective.kind))
    row.fail("algorithm",
             fmt::format("there is no {} {}", name_of(scenario.algorithm), name_of(scenario.collective.kind)));
  return scenario;
}

}  // namespace

std::string_view name_of(Bound bound) { return bound == Bound::compute ? "cb" : "mb"; }

std::string_view name_of(LengthClass length) {
  static constexpr std::array<std::string_view, kLengthClasses.size()> kNames = {"G-long", "GC-equal",
                                                                                 "C-long"};
  return kNames.at(static_cast<std::size_t>(length));
}

ScenarioList read_scenarios(const std::filesystem::path& file) {
  const HeadedTable table(file);
  for (const std::string_view column : kColumns)
    table.need({column}, "of every scenario");
  ScenarioList list{.scenarios = {}, .broken = table.broken()};
  for (const HeadedTable::Row& row : table.rows()) {
    try {
      const CheckedRow checked(table, row, "of every scenario");
      Scenario scenario = read_scenario(checked);
      if (std::ranges::find(list.scenarios, scenario.id, &Scenario::id) != list.scenarios.end())
        checked.fail("id", fmt::format("'{}' is there twice", scenario.id));
      list.scenarios.push_back(std::move(scenario));
    } catch (const ConfigError& error) {
      list.broken.emplace_back(error.what());
    }
  }
  if (list.scenarios.empty() && list.broken.empty())
    throw table.header_error("id", "no scenario below the header");
  return list;
}

Experiment experiment_of(Experiment base, const Scenario& scenario) {
  std::string collective_stream;
  std::vector<WrittenStream> streams;
  for (std::size_t i = 0; i < base.program.streams.size(); ++i) {
    const std::string& name = base.program.streams[i];
    if (content_of(base.program, i).collectives) {
      streams.push_back({name, {{std::string(name_of(scenario.collective.kind)), scenario.collective}}});
      collective_stream = name;
    } else {
      streams.push_back({name, {{scenario.projection, scenario.gemm}}});
    }
  }
  base.program = program_of(streams, base.cluster.ranks());
  for (Strategy& strategy : base.strategies) {
    StreamPolicy& policy = strategy.streams[collective_stream];
    if (policy.backend == Backend::cu) policy.method.algorithm = scenario.algorithm;
  }
  base.name = scenario.id;
  return base;
}

}}  // namespace c3::studies
