#include "app/import/import_retiming.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "base/csv_line.hpp"
#include "base/nearest_name.hpp"
#include "configs/presets/gpu_match.hpp"
#include "configs/presets/preset_store.hpp"
#include "configs/toml/config_error.hpp"
#include "results/text_table.hpp"
#include "workloads/traces/rank_summary.hpp"

namespace c3 { inline namespace app {
namespace {

using Row = std::vector<std::string>;

constexpr std::array<std::string_view, 3> kTableNames{"kernels", "retimed", "fallbacks"};
constexpr std::size_t kMostFallBacks = 10;  // on a terminal
constexpr std::size_t kLongestName = 60;    // characters of a kernel's name on a terminal

double in_us(Seconds time) { return time.value * 1e6; }
std::string ms(Seconds time) { return fmt::format("{:.3f}", time.value * 1e3); }

std::string ratio_text(Seconds part, Seconds whole) {
  return whole.value > 0.0 ? fmt::format("{:.2f}", part / whole) : "-";
}

std::string share_text(Seconds part, Seconds whole) {
  return whole.value > 0.0 ? fmt::format("{:.1f}", 100.0 * (part / whole)) : "-";
}

Row class_row(const RetimedClass& retimed_class, std::string_view name, bool is_there) {
  return {
      std::string(name),
      fmt::format("{}", retimed_class.count),
      fmt::format("{}", retimed_class.covered),
      share_text(retimed_class.recorded_covered, retimed_class.recorded),
      ms(retimed_class.recorded),
      ms(retimed_class.modelled()),
      ratio_text(retimed_class.modelled(), retimed_class.recorded),
      is_there ? ms(retimed_class.scaled) : "-",
      is_there ? ratio_text(retimed_class.predicted_there, retimed_class.recorded_covered) : "-",
      is_there && retimed_class.covered > 0 ? fmt::format("{:.0f}", 100.0 * retimed_class.median_error) : "-"};
}

Row class_columns(const Retiming& retiming) {
  return {"class",
          "count",
          "modelled",
          "of time [%]",
          "recorded [ms]",
          fmt::format("on {} [ms]", retiming.gpu),
          "ratio",
          "scaled [ms]",
          "there / recorded",
          "median error there [%]"};
}

std::vector<Row> class_rows(const Retiming& retiming) {
  const bool is_there = !retiming.recorded_gpu.empty();
  std::vector<Row> rows;
  for (const RetimedClass& retimed_class : retiming.classes)
    rows.push_back(class_row(retimed_class, name_of(retimed_class.work), is_there));
  rows.push_back(class_row(retiming.all, "all but collectives", is_there));
  return rows;
}

Row fall_back_row(const FallBack& fall_back) {
  return {fall_back.kernel, fall_back.reason, fmt::format("{}", fall_back.count), ms(fall_back.recorded)};
}

std::string optional_us(const std::optional<Seconds>& time) {
  return time ? fmt::format("{:.3f}", in_us(*time)) : "-";
}

Row kernel_row(const RetimedKernel& kernel, const Rank& rank) {
  const TraceEvent& event = rank.trace.activities[kernel.activity];
  return {fmt::format("{}", rank.number()),
          fmt::format("{}", event.position),
          rank.trace.name_of(event),
          std::string(name_of(kernel.work)),
          kernel.operator_text.empty() ? "-" : kernel.operator_text,
          kernel.note,
          fmt::format("{:.3f}", in_us(kernel.recorded)),
          optional_us(kernel.predicted),
          optional_us(kernel.predicted_there),
          fmt::format("{:.3f}", in_us(kernel.scaled()))};
}

std::string csv_of(const Row& columns, const std::vector<Row>& rows) {
  std::string csv = csv_line(columns);
  for (const Row& row : rows)
    csv += csv_line(row);
  return csv;
}

std::string cut(const std::string& name) {
  return name.size() <= kLongestName ? name : name.substr(0, kLongestName - 2) + "..";
}

Json class_json(const RetimedClass& retimed_class) {
  return {{"count", retimed_class.count},
          {"modelled_count", retimed_class.covered},
          {"recorded_us", in_us(retimed_class.recorded)},
          {"recorded_of_modelled_us", in_us(retimed_class.recorded_covered)},
          {"predicted_us", in_us(retimed_class.predicted)},
          {"modelled_us", in_us(retimed_class.modelled())},
          {"scaled_us", in_us(retimed_class.scaled)},
          {"predicted_with_empty_caches_us", in_us(retimed_class.predicted_cold)},
          {"predicted_on_recorded_gpu_us", in_us(retimed_class.predicted_there)},
          {"median_error_on_recorded_gpu", retimed_class.median_error}};
}

}  // namespace

GpuSpec retiming_gpu(const std::string& gpu) {
  const std::optional<std::string> preset = gpu_preset_of(gpu);
  if (!preset) {
    throw ConfigError({std::make_shared<const std::string>("--gpu"), 1, 1}, "gpu",
                      unknown_name("GPU preset", gpu, preset_names(PresetKind::gpu)));
  }
  return load_gpu(*preset);
}

Retiming retimed_on(const GpuSpec& gpu, const std::vector<Rank>& ranks) {
  const RankSummary first = summary_of(ranks.front());
  const std::optional<std::string> there = gpu_preset_like(first.gpu, first.units, first.memory_bytes);
  const std::optional<GpuSpec> recorded_on = there ? std::optional(load_gpu(*there)) : std::nullopt;
  return retime(ranks, gpu, recorded_on ? &*recorded_on : nullptr);
}

void add_times_with_empty_caches(Retiming& retiming, const GpuSpec& gpu, const std::vector<Rank>& ranks) {
  const Retiming cold = retime(ranks, gpu, nullptr, FoundInCaches::nothing);
  retiming.all.predicted_cold = cold.all.predicted;
  for (RetimedClass& retimed_class : retiming.classes)
    retimed_class.predicted_cold =
        std::ranges::find(cold.classes, retimed_class.work, &RetimedClass::work)->predicted;
}

std::vector<std::string> retiming_table_names() { return {kTableNames.begin(), kTableNames.end()}; }

std::string retiming_text(const Retiming& retiming) {
  std::string text = fmt::format("\nkernels on {}\n", retiming.gpu);
  TextTable classes(class_columns(retiming));
  for (const Row& row : class_rows(retiming))
    classes.add(row);
  text += classes.text();
  text += fmt::format(
      "on {}: by the kernel model, each kernel alone; what is not modelled keeps its recorded time\n",
      retiming.gpu);
  text += retiming.recorded_gpu.empty()
              ? "no preset fits the recorded GPU, so that nothing can be scaled by it\n"
              : fmt::format(
                    "scaled: recorded x (model on {} / model on {}); there: the model on {} beside the "
                    "recording\n",
                    retiming.gpu, retiming.recorded_gpu, retiming.recorded_gpu);
  if (retiming.fall_backs.empty()) return text;
  text += "\nGPU work that keeps its recorded time\n";
  TextTable table({"kernel", "reason", "count", "time [ms]"});
  const std::size_t shown = std::min(kMostFallBacks, retiming.fall_backs.size());
  for (const FallBack& fall_back : std::span(retiming.fall_backs).first(shown)) {
    Row row = fall_back_row(fall_back);
    row.front() = cut(row.front());
    table.add(row);
  }
  text += table.text();
  if (shown < retiming.fall_backs.size())
    text += fmt::format("and {} more; --csv fallbacks prints all\n", retiming.fall_backs.size() - shown);
  return text;
}

std::string retiming_csv(const Retiming& retiming, const std::vector<Rank>& ranks, const std::string& table) {
  if (table == "retimed") return csv_of(class_columns(retiming), class_rows(retiming));
  std::vector<Row> rows;
  if (table == "fallbacks") {
    for (const FallBack& fall_back : retiming.fall_backs)
      rows.push_back(fall_back_row(fall_back));
    return csv_of({"kernel", "reason", "count", "time [ms]"}, rows);
  }
  for (const RetimedKernel& kernel : retiming.kernels)
    rows.push_back(kernel_row(kernel, ranks[kernel.rank]));
  return csv_of({"rank", "event", "kernel", "class", "operator", "rule or reason", "recorded [us]",
                 fmt::format("on {} [us]", retiming.gpu), "on the recorded GPU [us]", "scaled [us]"},
                rows);
}

Json retiming_json(const Retiming& retiming) {
  Json classes = Json::object();
  for (const RetimedClass& retimed_class : retiming.classes)
    classes[std::string(name_of(retimed_class.work))] = class_json(retimed_class);
  Json fall_backs = Json::array();
  for (const FallBack& fall_back : retiming.fall_backs)
    fall_backs.push_back({{"kernel", fall_back.kernel},
                          {"reason", fall_back.reason},
                          {"count", fall_back.count},
                          {"recorded_us", in_us(fall_back.recorded)}});
  return {{"gpu", retiming.gpu},
          {"recorded_gpu", retiming.recorded_gpu.empty() ? Json(nullptr) : Json(retiming.recorded_gpu)},
          {"classes", classes},
          {"all_but_collectives", class_json(retiming.all)},
          {"fall_backs", fall_backs}};
}

}}  // namespace c3::app
