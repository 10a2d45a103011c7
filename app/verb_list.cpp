/// c3sim list: the presets and experiments that there are, with their key figures.

#include <CLI/CLI.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/exit_code.hpp"
#include "app/verb.hpp"
#include "configs/experiment_reader.hpp"
#include "configs/preset_store.hpp"

namespace c3 {
namespace {

using Json = nlohmann::ordered_json;

/// One entry of a list: keys carry their unit, as in hbm_size_bytes.
using Row = Json;

Row gpu_row(const std::string& name) {
  const GpuSpec gpu = load_gpu(name);
  Row row = {{"name", gpu.name},
             {"cus", gpu.compute.cus()},
             {"hbm_gb", gpu.hbm.size.value / 1e9},
             {"hbm_peak_gbps", gpu.hbm.peak.value / 1e9},
             {"dma_engines", gpu.dma.engines}};
  for (const MatrixRate& rate : gpu.compute.matrix) {
    row[fmt::format("{}_sustained_tflops", name_of(rate.dtype))] = rate.sustained.value / 1e12;
  }
  return row;
}

Row system_row(const std::string& name) {
  const ClusterSpec cluster = load_cluster(name);
  return {{"name", cluster.name},
          {"gpus", cluster.node.gpus},
          {"gpu", cluster.gpu.name},
          {"library", cluster.library.name},
          {"link_raw_gbps", cluster.node.link.raw.value / 1e9},
          {"link_both_ways_gbps", cluster.node.link.both_ways.value / 1e9}};
}

Row library_row(const std::string& name) {
  const CollectiveLibrarySpec library = load_library(name);
  return {{"name", library.name},
          {"channels", library.channels},
          {"channel_rate_gbps", library.channel_rate.value / 1e9},
          {"link_payload_gbps", library.link_payload.value / 1e9},
          {"base_latency_us", library.base_latency.value * 1e6}};
}

Row model_row(const std::string& name) {
  const ModelDimensions model = load_model(name);
  return {{"name", model.name},   {"hidden", model.hidden},     {"ffn", model.ffn},
          {"heads", model.heads}, {"kv_heads", model.kv_heads}, {"layers", model.layers}};
}

Row experiment_row(const std::filesystem::path& file) {
  const Experiment experiment = ExperimentFile::load(file).make(std::nullopt);
  return {{"name", experiment.name},
          {"system", experiment.cluster.name},
          {"streams", experiment.streams.size()},
          {"strategies", experiment.strategies.size()},
          {"file", file.string()}};
}

template <class Names, class MakeRow>
std::vector<Row> rows_of(const Names& names, MakeRow make_row) {
  std::vector<Row> rows;
  std::ranges::transform(names, std::back_inserter(rows), make_row);
  return rows;
}

/// What can be listed, by the word of the command line.
const std::map<std::string, std::function<std::vector<Row>()>>& lists() {
  static const std::map<std::string, std::function<std::vector<Row>()>> kLists = {
      {"gpus", [] { return rows_of(preset_names(PresetKind::gpu), gpu_row); }},
      {"systems", [] { return rows_of(preset_names(PresetKind::node), system_row); }},
      {"libraries", [] { return rows_of(preset_names(PresetKind::library), library_row); }},
      {"models", [] { return rows_of(preset_names(PresetKind::model), model_row); }},
      {"experiments", [] { return rows_of(experiment_files(), experiment_row); }},
  };
  return kLists;
}

std::string cell_text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) return fmt::format("{:g}", value.get<double>());
  return value.dump();
}

/// Text columns to the left, numbers to the right. Rows may lack columns that others have.
void print_table(const std::vector<Row>& rows) {
  std::vector<std::string> columns;
  for (const Row& row : rows) {
    for (const auto& item : row.items()) {
      if (std::ranges::find(columns, item.key()) == columns.end()) columns.push_back(item.key());
    }
  }
  std::vector<std::string> lines(rows.size() + 1);
  for (const std::string& column : columns) {
    std::vector<std::string> cells = {column};
    for (const Row& row : rows)
      cells.push_back(row.contains(column) ? cell_text(row[column]) : "-");
    const auto longest = std::ranges::max_element(cells, {}, &std::string::size);
    const bool is_text = rows.front().contains(column) && rows.front()[column].is_string();
    for (std::size_t i = 0; i < lines.size(); ++i) {
      lines[i] += is_text ? fmt::format("{:<{}}  ", cells[i], longest->size())
                          : fmt::format("{:>{}}  ", cells[i], longest->size());
    }
  }
  for (std::string& line : lines) {
    line.erase(line.find_last_not_of(' ') + 1);
    fmt::print("{}\n", line);
  }
}

struct Options {
  std::string what;
  bool json = false;
};

int list(const Options& options) {
  const std::vector<Row> rows = lists().at(options.what)();
  if (options.json) {
    fmt::print("{}\n", Json{{"schema_version", 1}, {options.what, rows}}.dump(2));
  } else if (!rows.empty()) {
    print_table(rows);
  }
  return kExitOk;
}

}  // namespace

void add_list_verb(CLI::App& app, VerbAction& action) {
  const auto options = std::make_shared<Options>();
  std::vector<std::string> names;
  for (const auto& [name, make] : lists())
    names.push_back(name);

  CLI::App& verb =
      *app.add_subcommand("list", "List the presets and experiments that a configuration can name");
  verb.add_option("WHAT", options->what, "What to list")->required()->check(CLI::IsMember(names));
  verb.add_flag("--json", options->json, "Print JSON instead of a table");
  verb.footer(
      "Examples:\n"
      "  c3sim list systems\n"
      "  c3sim list gpus --json");
  verb.callback([&action, options] { action = [options] { return list(*options); }; });
}

}  // namespace c3
