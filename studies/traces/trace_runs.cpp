#include "studies/traces/trace_runs.hpp"

#include <algorithm>
#include <span>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "files/unpacked_file.hpp"
#include "workloads/traces/execution/execution_reader.hpp"
#include "workloads/traces/execution/rank_match.hpp"
#include "workloads/traces/kineto_reader.hpp"
#include "workloads/traces/make_report.hpp"
#include "workloads/traces/order_ranks.hpp"
#include "workloads/traces/trace_format.hpp"

namespace c3 { inline namespace studies {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEnding = ".json.gz";

std::vector<fs::path> packed_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    if (entry->path().filename().string().ends_with(kEnding)) files.push_back(entry->path());
  }
  std::ranges::sort(files);
  return files;
}

std::string stem(const fs::path& file) {
  const std::string name = file.filename().string();
  return name.substr(0, name.size() - kEnding.size());
}

/// As the ranks; none where one lacks its execution trace.
void order_executions(TraceRun& run) {
  std::vector<ExecutionTrace> ordered;
  for (const Rank& rank : run.ranks) {
    const auto its = std::ranges::find_if(
        run.executions, [&](const ExecutionTrace& execution) { return rank_of(execution) == rank.number(); });
    if (its != run.executions.end()) ordered.push_back(std::move(*its));
  }
  run.executions = ordered.size() == run.ranks.size() ? std::move(ordered) : std::vector<ExecutionTrace>();
}

/// Nothing for files that are of another format. \throws TraceError for a damaged one
std::unique_ptr<TraceRun> read_run(const std::string& name, const std::vector<fs::path>& files) {
  auto run = std::make_unique<TraceRun>(TraceRun{.name = name, .ranks = {}, .executions = {}, .report = {}});
  for (const fs::path& path : files) {
    UnpackedFile file(path);
    PeekedSource source([&file](std::span<char> part) { return file.read(part); });
    const TraceFormat format = format_of(path.string(), source);
    if (format == TraceFormat::execution)
      run->executions.push_back(
          read_execution_trace(path.string(), [&source](std::span<char> part) { return source.read(part); }));
    if (format != TraceFormat::kineto) continue;
    run->ranks.emplace_back(
        read_kineto(path.string(), [&source](std::span<char> part) { return source.read(part); }));
  }
  const auto is_idle = [](const Rank& rank) { return rank.trace.activities.empty(); };
  if (std::ranges::all_of(run->ranks, is_idle)) return nullptr;
  order_ranks(run->ranks, /*allow_missing=*/true);
  run->report = make_report(run->ranks);
  order_executions(*run);
  return run;
}

}  // namespace

TraceRuns::TraceRuns(fs::path traces) : traces_(std::move(traces)) {
  constexpr std::string_view kMegatron = "megatron_tp8_a100";
  if (std::vector<fs::path> ranks = packed_files(traces_ / kMegatron); !ranks.empty())
    slots_.push_back({std::string(kMegatron), std::move(ranks), nullptr});
  for (const std::string_view folder : {"hta", "pytorch_et", "tracelens"}) {
    for (const fs::path& file : packed_files(traces_ / folder))
      slots_.push_back({stem(file), {file}, nullptr});
  }
}

void TraceRuns::plan(Jobs& jobs) {
  for (Slot& slot : slots_)
    jobs.emplace_back([&slot] { slot.run = read_run(slot.name, slot.files); });
}

const TraceRun* TraceRuns::find(std::string_view name) const {
  const auto slot = std::ranges::find(slots_, name, &Slot::name);
  return slot == slots_.end() ? nullptr : slot->run.get();
}

std::vector<const TraceRun*> TraceRuns::all() const {
  std::vector<const TraceRun*> runs;
  for (const Slot& slot : slots_) {
    if (slot.run != nullptr) runs.push_back(slot.run.get());
  }
  return runs;
}

std::vector<std::string> TraceRuns::missing(const std::vector<std::string_view>& names) const {
  std::vector<std::string> lines;
  for (const std::string_view name : names) {
    if (find(name) == nullptr)
      lines.push_back(
          fmt::format("{}: the trace '{}' is not there; its figures are left out", traces_.string(), name));
  }
  return lines;
}

}}  // namespace c3::studies
