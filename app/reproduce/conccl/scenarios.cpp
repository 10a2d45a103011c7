#include "app/reproduce/conccl/scenarios.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/reproduce/collectives/headed_table.hpp"
#include "collectives/transfer_graph.hpp"
#include "configs/nearest_name.hpp"
#include "configs/preset_store.hpp"

namespace c3 {
namespace {

constexpr std::array kDTypesOfGemms = {DType::bf16, DType::fp16, DType::fp8, DType::fp32};
constexpr std::array kCollectives = {CollectiveKind::all_gather, CollectiveKind::all_to_all};
constexpr std::array<std::string_view, 13> kColumns = {
    "id", "bound", "class",   "model",      "projection", "m",       "n",
    "k",  "dtype", "traffic", "collective", "algorithm",  "size_mib"};
constexpr std::array kTraffics = {GemmTraffic::tiled, GemmTraffic::streamed};
constexpr double kMicro = 1e6;  // in a second

/// One line of the file.
class ScenarioReader {
 public:
  ScenarioReader(const HeadedTable& table, const HeadedTable::Row& row) : table_(table), row_(row) {}

  Scenario read() const {
    Scenario scenario;
    scenario.id = text("id");
    scenario.bound = one_of("bound", kBounds);
    scenario.length = one_of("class", kLengthClasses);
    scenario.model = text("model");
    const std::vector<std::string> models = preset_names(PresetKind::model);
    if (std::ranges::find(models, scenario.model) == models.end())
      fail("model", unknown_name("model", scenario.model, models));
    scenario.projection = text("projection");
    scenario.gemm = {
        .m = extent("m"), .n = extent("n"), .k = extent("k"), .dtype = one_of("dtype", kDTypesOfGemms)};
    scenario.gemm.traffic = one_of("traffic", kTraffics);
    scenario.collective = {.kind = one_of("collective", kCollectives),
                           .bytes = 1.0_MiB * number("size_mib"),
                           .dtype = scenario.gemm.dtype};
    scenario.algorithm = one_of("algorithm", kAlgorithms);
    if (!supports(scenario.algorithm, scenario.collective.kind))
      fail("algorithm",
           fmt::format("there is no {} {}", name_of(scenario.algorithm), name_of(scenario.collective.kind)));
    scenario.gemm_alone = microseconds("gemm_alone_us");
    scenario.collective_alone = microseconds("collective_alone_us");
    return scenario;
  }

  [[noreturn]] void fail(std::string_view column, const std::string& reason) const {
    throw table_.error(row_, cell(column), column, reason);
  }

 private:
  std::string_view cell(std::string_view column) const {
    return row_.cells[table_.need({column}, "of every scenario")];
  }

  std::string text(std::string_view column) const {
    if (cell(column).empty()) fail(column, "is missing");
    return std::string(cell(column));
  }

  template <class Value, std::size_t N>
  Value one_of(std::string_view column, const std::array<Value, N>& values) const {
    const auto found = std::ranges::find(values, cell(column), [](Value value) { return name_of(value); });
    if (found != values.end()) return *found;
    std::vector<std::string> names;
    for (const Value value : values)
      names.emplace_back(name_of(value));
    fail(column, unknown_name(column, cell(column), names));
  }

  double number(std::string_view column) const {
    const std::optional<double> value = number_in(cell(column));
    if (!value || *value <= 0.0) fail(column, fmt::format("must be a number above 0, not '{}'", cell(column)));
    return *value;
  }

  std::int64_t extent(std::string_view column) const {
    constexpr double kLargest = 16'777'216;
    const std::optional<double> value = number_in(cell(column));
    if (!value || *value < 1 || *value > kLargest || *value != std::floor(*value))
      fail(column, fmt::format("must be a whole number from 1 to {:.0f}, not '{}'", kLargest, cell(column)));
    return static_cast<std::int64_t>(*value);
  }

  std::optional<Seconds> microseconds(std::string_view column) const {
    if (!table_.find({column}) || cell(column).empty()) return std::nullopt;
    return Seconds{number(column) / kMicro};
  }

  const HeadedTable& table_;
  const HeadedTable::Row& row_;
};

bool is_collective(const Operation& operation) {
  return std::holds_alternative<CollectiveCall>(operation.work);
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
      const ScenarioReader reader(table, row);
      Scenario scenario = reader.read();
      if (std::ranges::find(list.scenarios, scenario.id, &Scenario::id) != list.scenarios.end())
        reader.fail("id", fmt::format("'{}' is there twice", scenario.id));
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
  for (StreamSpec& stream : base.streams) {
    if (is_collective(stream.operations.front())) {
      stream.operations = {
          {.name = std::string(name_of(scenario.collective.kind)), .work = scenario.collective}};
      collective_stream = stream.name;
    } else {
      stream.operations = {{.name = scenario.projection, .work = scenario.gemm}};
    }
  }
  for (Strategy& strategy : base.strategies) {
    StreamPolicy& policy = strategy.streams[collective_stream];
    if (policy.backend == Backend::cu) policy.algorithm = scenario.algorithm;
  }
  base.name = scenario.id;
  return base;
}

}  // namespace c3
