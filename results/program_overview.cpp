#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/json.hpp"
#include "results/program_file.hpp"
#include "results/schema.hpp"
#include "workloads/traces/replay/replay_model.hpp"

namespace c3 { inline namespace results {
namespace {

struct ClassTotal {
  std::size_t count = 0;
  Picoseconds time;
};

/// Totals of a rank's work, indexed by WorkClass.
std::array<ClassTotal, kWorkClassNames.size()> totals_of(const RecordedRank& rank) {
  std::array<ClassTotal, kWorkClassNames.size()> totals;
  for (const RecordedWork& work : rank.work) {
    ClassTotal& total = totals[static_cast<std::size_t>(work.work_class)];
    ++total.count;
    total.time += work.duration;
  }
  return totals;
}

/// Work of which it is not known what it computes or moves, by reason, the longest first.
std::vector<std::pair<std::string, ClassTotal>> without_operator(const RecordedRun& run) {
  std::map<std::string, ClassTotal> totals;
  for (const RecordedRank& rank : run.ranks) {
    for (const RecordedWork& work : rank.work) {
      const RecordedOperator* recorded = work.op == kNoIndex ? nullptr : &run.operators[work.op];
      if (recorded != nullptr && recorded->op) continue;
      if (work.collective != kNoIndex && specified_call(run, run.collectives[work.collective])) continue;
      ClassTotal& total =
          totals[recorded == nullptr ? "the file was written without operators" : run.text(recorded->note)];
      ++total.count;
      total.time += work.duration;
    }
  }
  std::vector<std::pair<std::string, ClassTotal>> sorted(totals.begin(), totals.end());
  std::ranges::stable_sort(sorted, std::ranges::greater{}, [](const auto& entry) { return entry.second.time; });
  return sorted;
}

}  // namespace

std::string program_text(const std::filesystem::path& path, const RecordedRun& run) {
  std::string text = fmt::format("{}: a recorded run ({})\n", path.string(), kProgramFileSchema);
  text += fmt::format(
      "GPU {}; {} of {} ranks; streams {}; {} collective{}{}\n", run.gpu.empty() ? "unknown" : run.gpu,
      run.ranks.size(), std::max<std::size_t>(run.ranks.size(), static_cast<std::size_t>(run.world_size)),
      fmt::join(run.streams, ", "), run.collectives.size(), run.collectives.size() == 1 ? "" : "s",
      run.is_of_one_rank() ? ", recorded by this rank alone" : " of several ranks");
  for (const RecordedRank& rank : run.ranks) {
    text += fmt::format(
        "rank {}: {} kernels and copies, {} edges between streams, {} threads, {} steps in {:.3f} ms\n",
        rank.number, rank.work.size(), rank.edges.size(), rank.threads.size(), rank.steps.size(),
        rank.length().milliseconds());
    const auto totals = totals_of(rank);
    for (std::size_t i = 0; i < totals.size(); ++i) {
      if (totals[i].count > 0)
        text += fmt::format("  {:<12} {:>7} {:>12.3f} ms\n", kWorkClassNames[i], totals[i].count,
                            totals[i].time.milliseconds());
    }
  }
  const auto unknown = without_operator(run);
  if (!unknown.empty()) text += "work of which it is not known what it computes or moves, of all ranks\n";
  for (const auto& [reason, total] : unknown)
    text += fmt::format("  {:>7} {:>12.3f} ms  {}\n", total.count, total.time.milliseconds(), reason);
  return text;
}

std::string program_json(const std::filesystem::path& path, const RecordedRun& run) {
  Json json = Json::object();
  json["schema_version"] = kJsonSchemaVersion;
  json["file"] = path.string();
  json["file_schema"] = kProgramFileSchema;
  json["gpu"] = run.gpu;
  json["world_size"] = run.world_size;
  json["streams"] = Json::array();
  for (const std::string& stream : run.streams)
    json["streams"].push_back(stream);
  json["collectives"] = static_cast<std::int64_t>(run.collectives.size());
  json["without_operator"] = Json::array();
  for (const auto& [reason, total] : without_operator(run))
    json["without_operator"].push_back({{"reason", reason},
                                        {"count", static_cast<std::int64_t>(total.count)},
                                        {"time_us", total.time.microseconds()}});
  json["ranks"] = Json::array();
  for (const RecordedRank& rank : run.ranks) {
    Json rank_json = Json::object();
    rank_json["rank"] = rank.number;
    rank_json["work"] = static_cast<std::int64_t>(rank.work.size());
    rank_json["edges"] = static_cast<std::int64_t>(rank.edges.size());
    rank_json["threads"] = static_cast<std::int64_t>(rank.threads.size());
    rank_json["steps"] = static_cast<std::int64_t>(rank.steps.size());
    rank_json["length_us"] = rank.length().microseconds();
    Json classes = Json::object();
    const auto totals = totals_of(rank);
    for (std::size_t i = 0; i < totals.size(); ++i) {
      Json one = Json::object();
      one["count"] = static_cast<std::int64_t>(totals[i].count);
      one["time_us"] = totals[i].time.microseconds();
      if (totals[i].count > 0) classes[std::string(kWorkClassNames[i])] = one;
    }
    rank_json["classes"] = classes;
    json["ranks"].push_back(rank_json);
  }
  return json.dump(2) + "\n";
}

}}  // namespace c3::results
