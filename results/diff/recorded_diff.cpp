#include "results/diff/recorded_diff.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "files/io_error.hpp"
#include "results/recorded_tables.hpp"

namespace c3 { inline namespace results {
namespace {

/// Simulated work of a stream of a GPU.
struct Simulated {
  std::int64_t id = 0, start = 0, end = 0;
  std::string name;
  std::int64_t waiting = 0;  ///< a collective's wait, until its first part ran
};

using StreamKey = std::pair<std::int64_t, std::int64_t>;  ///< GPU and stream

using SimulatedStreams = std::map<StreamKey, std::vector<Simulated>>;

/// Collects kernels and collectives by stream, and when the first part of each began.
class SimulatedWork {
 public:
  void add(const ResultTable& block) {
    const auto& kind = block.values<std::string>("kind");
    const auto& stream = block.values<std::int64_t>("stream");
    const auto& start = block.values<std::int64_t>("start");
    for (std::size_t row = 0; row < block.rows(); ++row) {
      if (kind[row] == "channel" || kind[row] == "transfer") {
        const auto first =
            first_parts_.try_emplace(block.values<std::int64_t>("parent")[row], start[row]).first;
        first->second = std::min(first->second, start[row]);
      } else if (stream[row] >= 0 && (kind[row] == "kernel" || kind[row] == "collective")) {
        streams_[{block.values<std::int64_t>("gpu")[row], stream[row]}].push_back(
            {.id = block.values<std::int64_t>("id")[row],
             .start = start[row],
             .end = block.values<std::int64_t>("end")[row],
             .name = block.values<std::string>("name")[row]});
      }
    }
  }

  /// Returns the operations of each stream in order.
  SimulatedStreams finish() && {
    for (auto& [_, work] : streams_) {
      std::ranges::sort(work, {},
                        [](const Simulated& operation) { return std::pair(operation.start, operation.id); });
      for (Simulated& operation : work) {
        const auto first = first_parts_.find(operation.id);
        if (first != first_parts_.end()) operation.waiting = first->second - operation.start;
      }
    }
    return std::move(streams_);
  }

 private:
  SimulatedStreams streams_;
  /// Start of the first part of each collective, keyed by id.
  std::unordered_map<std::int64_t, std::int64_t> first_parts_;
};

SimulatedStreams simulated_streams(const StrategyIn& strategy) {
  SimulatedWork work;
  const TablePart part{.columns = {"id", "name", "kind", "gpu", "stream", "parent", "start", "end"}};
  TableBlocks blocks(strategy.file, strategy.name, "activities", part);
  while (const auto block = blocks.next())
    work.add(*block);
  return std::move(work).finish();
}

class Comparison {
 public:
  Comparison(std::string strategy, double tolerance) : tolerance_(tolerance) {
    diff_.strategy = std::move(strategy);
  }

  void add(const StreamKey& key, const std::vector<Simulated>& simulated,
           const std::vector<RecordedActivity>& recorded) {
    std::map<std::string, std::vector<const RecordedActivity*>> by_name;
    for (const RecordedActivity& activity : recorded) {
      by_name[activity.name].push_back(&activity);
      diff_.recorded_end = std::max(diff_.recorded_end, activity.end);
    }
    std::map<std::string, std::size_t> taken;
    std::size_t matched = 0;
    for (const Simulated& operation : simulated) {
      diff_.simulated_end = std::max(diff_.simulated_end, operation.end);
      const std::size_t number = taken[operation.name]++;
      const auto found = by_name.find(operation.name);
      if (found == by_name.end() || number >= found->second.size()) {
        ++diff_.only_simulated;
        continue;
      }
      ++matched;
      add_match(key, operation, *found->second[number], static_cast<std::int64_t>(number) + 1);
    }
    diff_.only_recorded += recorded.size() - matched;
  }

  RecordedDiff finish() && {
    for (auto& [key, total] : totals_)
      diff_.totals.push_back(std::move(total));
    std::ranges::stable_sort(diff_.totals, std::ranges::greater{},
                             [](const RecordedTotal& total) { return std::abs(total.change()); });
    std::ranges::stable_sort(diff_.matches, std::ranges::greater{},
                             [](const RecordedMatch& match) { return std::abs(match.start_shift()); });
    return std::move(diff_);
  }

 private:
  void add_match(const StreamKey& key, const Simulated& operation, const RecordedActivity& recorded,
                 std::int64_t number) {
    const RecordedMatch match{.name = operation.name,
                              .kind = recorded.kind,
                              .gpu = static_cast<int>(key.first),
                              .stream = static_cast<int>(key.second),
                              .number = number,
                              .recorded_start = recorded.start,
                              .recorded_duration = recorded.end - recorded.start,
                              .start = operation.start,
                              .duration = operation.end - operation.start,
                              .recorded_waiting = recorded.last_start - recorded.start,
                              .waiting = operation.waiting};
    RecordedTotal& total = totals_[{match.kind, match.name}];
    total.name = match.name;
    total.kind = match.kind;
    ++total.count;
    total.recorded += match.recorded_duration;
    total.simulated += match.duration;
    total.start_shift += match.start_shift();
    total.recorded_waiting += match.recorded_waiting;
    total.waiting += match.waiting;
    if (is_equal(match.recorded_start, match.start) && is_equal(match.recorded_duration, match.duration))
      ++diff_.equal;
    diff_.matches.push_back(match);
  }

  bool is_equal(std::int64_t a, std::int64_t b) const {
    return a == b || within(tolerance_, static_cast<double>(a), static_cast<double>(b));
  }

  double tolerance_;
  RecordedDiff diff_;
  std::map<std::pair<std::string, std::string>, RecordedTotal> totals_;  ///< keyed by kind and name
};

}  // namespace

std::int64_t RecordedDiff::shift_at(double share) const {
  if (matches.empty()) return 0;
  const auto most = static_cast<double>(matches.size() - 1);
  return std::abs(matches[static_cast<std::size_t>(std::floor((1.0 - share) * most))].start_shift());
}

RecordedDiff diff_recorded(const StrategyIn& strategy, double tolerance) {
  const auto recorded = read_recorded(strategy.file, strategy.name);
  if (!recorded)
    throw IoError(
        strategy.file.path(), "compare",
        "strategy '" + strategy.name +
            "' repeats no trace, or was written before 1.7.0: only experiments with [trace] have recorded "
            "times");
  SimulatedStreams simulated = simulated_streams(strategy);
  std::set<std::int64_t> gpus;
  for (const auto& [key, _] : simulated)
    gpus.insert(key.first);
  const auto streams = static_cast<int>(strategy.file.streams().size());
  Comparison comparison(strategy.name, tolerance);
  for (const std::int64_t gpu : gpus) {
    for (int stream = 0; stream < streams; ++stream)
      comparison.add({gpu, stream}, simulated[{gpu, stream}], recorded->of(static_cast<int>(gpu), stream));
  }
  return std::move(comparison).finish();
}

}}  // namespace c3::results
