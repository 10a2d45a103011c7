/// c3sim list: presets, experiments, collectives, studies and environment variables, with their key figures or
/// with every number and its source.

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/command/exit_code.hpp"
#include "app/command/verb.hpp"
#include "app/list/number_list.hpp"
#include "base/json.hpp"
#include "base/nearest_name.hpp"
#include "base/options.hpp"
#include "base/usage_error.hpp"
#include "collectives/algorithms/algorithm.hpp"
#include "configs/jobs/experiment_reader.hpp"
#include "configs/presets/library_environment.hpp"
#include "configs/presets/preset_store.hpp"
#include "configs/presets/study_card.hpp"
#include "interconnect/spec.hpp"

namespace c3 { inline namespace app {
namespace {

std::string cell_text(const Json& value) {
  if (value.is_text()) return value.text();
  if (value.is_floating()) return fmt::format("{:g}", value.number());
  return value.dump();
}

/// One entry of a list: keys carry their unit, as in hbm_size_bytes.
using Row = Json;

Row gpu_row(const std::string& name) {
  const GpuSpec gpu = load_gpu(name);
  Row row = {{"name", gpu.name},
             {"cus", gpu.compute.cus()},
             {"hbm_GB", gpu.hbm.size.value / 1e9},
             {"hbm_peak_GB_s", gpu.hbm.peak.value / 1e9},
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
          {"raw_egress_GB_s", raw_egress(cluster.node).value / 1e9},
          {"link_raw_GB_s", cluster.node.link.raw.value / 1e9},
          {"link_both_ways_GB_s", cluster.node.link.both_ways.value / 1e9}};
}

Row library_row(const std::string& name) {
  const CollectiveLibrarySpec library = load_library(name);
  return {{"name", library.name},
          {"channels", library.channels},
          {"channel_rate_GB_s", library.simple.channel_rate.value / 1e9},
          {"link_payload_GB_s", library.link_payload.value / 1e9},
          {"base_latency_us", library.simple.base_latency.value * 1e6}};
}

Row fabric_row(const std::string& name) {
  const FabricSpec fabric = load_fabric(name);
  return {{"name", fabric.name},
          {"topology", name_of(fabric.topology)},
          {"nics_a_node", fabric.nics_per_node == 0 ? "as the node" : std::to_string(fabric.nics_per_node)},
          {"nic_raw_GB_s", fabric.nic.raw.value / 1e9},
          {"nic_one_way_GB_s", fabric.nic.one_way.value / 1e9},
          {"message_latency_us", fabric.message_latency.value * 1e6},
          {"switch_reduces", fabric.switch_reduces ? "yes" : "no"}};
}

Row model_row(const std::string& name) {
  const ModelDimensions model = load_model(name);
  return {{"name", model.name},   {"hidden", model.hidden},     {"ffn", model.ffn},
          {"heads", model.heads}, {"kv_heads", model.kv_heads}, {"layers", model.layers}};
}

Row framework_row(const std::string& name) {
  const Framework framework = load_framework(name);
  return {{"name", framework.name},
          {"kernels", name_of(framework.kernels)},
          {"parameters", name_of(framework.parameter_dtype)},
          {"gradients", name_of(framework.gradient_dtype)},
          {"bucket_mib", framework.bucket.value / (1 << 20)},
          {"prefetch", framework.prefetch},
          {"host", usual_host_of(name)},
          {"host_forward", framework.host_forward},
          {"host_backward", framework.host_backward},
          {"hardware_queues", framework.hardware_queues}};
}

Row host_row(const std::string& name) {
  const Host host = load_host(name);
  return {{"name", host.name},
          {"kernel_launch_us", host.kernel_launch.value * 1e6},
          {"collective_launch_us", host.collective_launch.value * 1e6},
          {"event_us", host.event.value * 1e6},
          {"layer_forward_us", host.layer_forward.value * 1e6},
          {"layer_backward_us", host.layer_backward.value * 1e6},
          {"optimizer_us", host.optimizer.value * 1e6},
          {"product_call_us", host.calls.product.value * 1e6},
          {"elementwise_call_us", host.calls.elementwise.value * 1e6},
          {"softmax_call_us", host.calls.softmax.value * 1e6},
          {"norm_call_us", host.calls.norm.value * 1e6}};
}

Row experiment_row(const std::filesystem::path& file) {
  const Experiment experiment = ExperimentFile::load(file).sketch();
  return {{"name", experiment.name},
          {"system", experiment.cluster.name},
          {"streams", experiment.program.streams.size()},
          {"strategies", experiment.strategies.size()},
          {"file", file.string()},
          {"purpose", purpose_of(file)}};
}

template <class Names, class MakeRow>
std::vector<Row> rows_of(const Names& names, MakeRow make_row) {
  std::vector<Row> rows;
  std::ranges::transform(names, std::back_inserter(rows), make_row);
  return rows;
}

/// Presets of one kind and what to print of one.
struct PresetList {
  PresetKind kind;
  Row (*figures)(const std::string& name);
};

/// The kinds of presets by the word of the command line.
const std::map<std::string, PresetList>& preset_lists() {
  static const std::map<std::string, PresetList> kLists = {
      {"gpus", {PresetKind::gpu, gpu_row}},
      {"systems", {PresetKind::node, system_row}},
      {"libraries", {PresetKind::library, library_row}},
      {"models", {PresetKind::model, model_row}},
      {"fabrics", {PresetKind::fabric, fabric_row}},
      {"frameworks", {PresetKind::framework, framework_row}},
      {"hosts", {PresetKind::host, host_row}},
  };
  return kLists;
}

/// What can be asked of a group of ranks, and who can do it how.
Row collective_row(CollectiveKind kind) {
  std::vector<std::string_view> algorithms;
  for (const Algorithm algorithm : kAlgorithms) {
    if (supports(algorithm, kind)) algorithms.push_back(name_of(algorithm));
  }
  return {{"name", name_of(kind)},
          {"backends", reduces(kind) ? "cu" : "cu, dma"},
          {"algorithms", fmt::format("{}", fmt::join(algorithms, ", "))},
          {"busbw_per_algbw_on_8_ranks", bus_factor(kind, 8)}};
}

/// What `c3sim reproduce` takes beside the study's name.
std::string options_of(const StudyCard& study) {
  std::vector<std::string_view> options;
  if (!study.measured.empty() || study.takes_systems) options.emplace_back("--data");
  if (study.takes_systems) options.emplace_back("--systems");
  if (study.has_rows) options.emplace_back("--rows");
  if (study.has_page) options.emplace_back("--page");
  if (study.has_weights) options.emplace_back("--weights");
  if (study.has_draws) options.insert(options.end(), {"--draws", "--jobs", "--calibrated", "--tornado"});
  return fmt::format("{}", fmt::join(options, " "));
}

/// "kernels (8 files)": folders below that of the measured tables.
std::string tables_of(const StudyCard& study) {
  if (study.takes_systems) return "those that its map names";
  std::map<std::string, int> files;
  for (const auto& [path, what] : study.measured) {
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    ++files[folder.empty() ? path : folder.string()];
  }
  std::vector<std::string> texts;
  for (const auto& [folder, count] : files)
    texts.push_back(fmt::format("{} ({} file{})", folder, count, count == 1 ? "" : "s"));
  return texts.empty() ? "none" : fmt::format("{}", fmt::join(texts, ", "));
}

Row study_row(const StudyCard& study) {
  return {{"name", study.name},
          {"options", options_of(study)},
          {"measured_tables", tables_of(study)},
          {"about", study.about}};
}

/// The keys that an environment variable sets; nothing where it has none.
std::string keys_of(const LibraryVariable& variable) {
  std::vector<std::string> keys;
  if (const auto* text = std::get_if<SetsText>(&variable.effect)) keys.emplace_back(text->key);
  if (const auto* number = std::get_if<SetsNumber>(&variable.effect))
    keys.assign(number->keys.begin(), number->keys.end());
  if (const auto* bytes = std::get_if<SetsBytes>(&variable.effect)) {
    for (const auto& [key, share] : bytes->shares)
      keys.push_back(share == 1.0 ? std::string(key) : fmt::format("{} (1/{:g})", key, 1.0 / share));
  }
  if (const auto* name = std::get_if<SetsName>(&variable.effect)) keys.emplace_back(name->key);
  if (const auto* flag = std::get_if<SwitchesOff>(&variable.effect))
    keys.push_back(fmt::format("{} = false", flag->key));
  return fmt::format("{}", fmt::join(keys, ", "));
}

Row variable_row(const LibraryVariable& variable) {
  const auto* none = std::get_if<HasNoKey>(&variable.effect);
  return {{"name", variable.name},
          {"keys", none != nullptr ? fmt::format("none: {}", none->why) : keys_of(variable)},
          {"meaning", variable.meaning}};
}

/// A list of which there is nothing but the whole.
struct WholeList {
  std::vector<Row> (*rows)();
  std::string_view refusal;  ///< why a name or --sources is refused
};

/// Lists that are shown whole, keyed by their word on the command line.
const std::map<std::string, WholeList>& whole_lists() {
  static const std::map<std::string, WholeList> kLists = {
      {"collectives",
       {[] { return rows_of(kCollectiveKinds, collective_row); },
        "collectives are listed whole; their numbers are a library's: 'c3sim list libraries --sources'"}},
      {"experiments",
       {[] { return rows_of(experiment_files(), experiment_row); },
        "experiments are listed whole; 'c3sim config show FILE --resolved' shows one with its sources"}},
      {"studies",
       {[] { return rows_of(study_cards(), study_row); },
        "studies are listed whole; 'c3sim reproduce NAME' runs one and cites its sources"}},
      {"variables",
       {[] { return rows_of(library_variables(), variable_row); },
        "variables are listed whole; 'c3sim list libraries --sources' has the numbers of their keys"}},
  };
  return kLists;
}

/// 2: bandwidths are called _GB_s, experiments have a purpose. 3: hosts have times, frameworks multiply them.
constexpr int kSchemaVersion = 3;
constexpr std::size_t kTextWidth = 120;

std::vector<std::string> list_words() {
  std::vector<std::string> words;
  for (const auto& [word, list] : whole_lists())
    words.push_back(word);
  for (const auto& [word, list] : preset_lists())
    words.push_back(word);
  return words;
}

/// Text columns to the left, numbers to the right. Rows may lack columns that others have.
void print_table(const std::vector<Row>& rows) {
  std::vector<std::string> columns;
  for (const Row& row : rows) {
    for (const Json::Member& member : row.members()) {
      if (std::ranges::find(columns, member.key) == columns.end()) columns.push_back(member.key);
    }
  }
  std::vector<std::string> lines(rows.size() + 1);
  for (const std::string& column : columns) {
    std::vector<std::string> cells = {column};
    for (const Row& row : rows)
      cells.push_back(row.contains(column) ? cell_text(row[column]) : "-");
    const auto longest = std::ranges::max_element(cells, {}, &std::string::size);
    const bool is_text = rows.front().contains(column) && rows.front()[column].is_text();
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
  std::string name;
  bool sources = false;
  bool json = false;
};

/// The presets that were asked for: one, or all of their kind.
std::vector<std::string> chosen_presets(const Options& options, PresetKind kind) {
  std::vector<std::string> known = preset_names(kind);
  if (options.name.empty()) return known;
  if (std::ranges::find(known, options.name) == known.end()) {
    throw UsageError(unknown_name(fmt::format("{} preset", noun_of(kind)), options.name, known));
  }
  return {options.name};
}

std::vector<Row> rows_of(const Options& options) {
  if (const auto whole = whole_lists().find(options.what); whole != whole_lists().end()) {
    if (!options.name.empty() || options.sources) throw UsageError(std::string(whole->second.refusal));
    return whole->second.rows();
  }
  const PresetList& list = preset_lists().at(options.what);
  const std::vector<std::string> names = chosen_presets(options, list.kind);
  if (!options.sources) return rows_of(names, list.figures);
  std::vector<Row> numbers;
  for (const std::string& name : names)
    std::ranges::move(numbers_of(list.kind, name), std::back_inserter(numbers));
  return numbers;
}

int list(const Options& options) {
  const std::vector<Row> rows = rows_of(options);
  if (options.json) {
    fmt::print("{}\n", Json{{"schema_version", kSchemaVersion}, {options.what, rows}}.dump(2));
  } else if (options.sources) {
    print_numbers(rows, kTextWidth);
  } else if (!rows.empty()) {
    print_table(rows);
  }
  return kExitOk;
}

}  // namespace

void add_list_verb(Command& app, VerbAction& action) {
  const auto options = std::make_shared<Options>();
  Command& verb = app.add_command("list", "List presets, experiments, collectives, studies and variables");
  verb.add_option("WHAT", options->what, "What to list").required().one_of(list_words());
  verb.add_option("NAME", options->name, "Only this preset (default: all)").type_name("PRESET");
  verb.add_flag("--sources", options->sources, "Every number with its meaning, kind and source");
  verb.add_flag("--json", options->json, "Print JSON instead of a table");
  verb.set_footer(
      "Examples:\n"
      "  c3sim list systems\n"
      "  c3sim list gpus mi300x --sources");
  verb.when_parsed([&action, options] { action = [options] { return list(*options); }; });
}

}}  // namespace c3::app
