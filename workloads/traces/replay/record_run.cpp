#include "workloads/traces/replay/record_run.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "engine/errors.hpp"
#include "workloads/traces/collective_splits.hpp"
#include "workloads/traces/replay/operator_words.hpp"
#include "workloads/traces/replayed_dates.hpp"
#include "workloads/traces/retiming/kernel_operators.hpp"

namespace c3 { inline namespace traces {
namespace {

constexpr const char* kBefore = "before the recording";

enum class Role : std::uint8_t { none, host, start, end };

/// What a point of the graph is.
struct Meaning {
  Role role = Role::none;
  std::uint32_t rank = 0;  ///< in the vector of ranks
  std::uint32_t row = 0;   ///< of its points or of its work
};

class Recorder {
 public:
  explicit Recorder(const std::vector<Rank>& ranks) : ranks_(ranks) {}

  RecordedRun record() {
    const std::vector<CollectiveInstance> instances = match_collectives(ranks_);
    const std::vector<Picoseconds> shifts = align_clocks(ranks_, instances).shifts;
    const RunGraph graph = run_graph(ranks_, instances, shifts);
    replayed_dates(ranks_, graph);  // refuses a ring, which the simulator could not name
    meanings_.resize(graph.graph.points());
    base_ = first_date(graph.graph);
    for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank)
      add_rank(rank, graph, shifts[rank]);
    for (const CollectiveInstance& instance : instances)
      add_collective(instance);
    if (run_.is_of_one_rank()) add_collectives_of(ranks_.front());
    for (const DependencyGraph::Edge& edge : graph.graph.edges())
      add_edge(edge);
    for (RecordedRank& rank : run_.ranks)
      launch_early_work(rank);
    return std::move(run_);
  }

 private:
  static Picoseconds first_date(const DependencyGraph& graph) {
    std::optional<Picoseconds> first;
    for (const DependencyGraph::Edge& edge : graph.edges()) {
      if (edge.from == DependencyGraph::kOrigin) first = std::min(first.value_or(edge.lag), edge.lag);
    }
    return first.value_or(Picoseconds{});
  }

  /// Queues in the order in which their hosts first launched work on them, which decides who goes first where
  /// two begin at once; at one date in the order of calls in the file. Those of earlier work come first.
  static std::vector<std::uint32_t> by_first_launch(const Rank& rank) {
    std::vector<std::pair<std::optional<Picoseconds>, std::uint64_t>> first;
    std::vector<std::uint32_t> queues;
    for (std::uint32_t queue = 0; queue < rank.trace.queues.size(); ++queue) {
      const std::vector<std::uint32_t>& work = rank.join.activities_of_queue[queue];
      const std::uint32_t call = work.empty() ? kNoIndex : rank.join.launch_of[work.front()];
      queues.push_back(queue);
      if (call == kNoIndex) {
        first.emplace_back(std::nullopt, queue);
      } else {
        first.emplace_back(rank.trace.calls[call].start, rank.trace.calls[call].position);
      }
    }
    std::ranges::stable_sort(queues, {}, [&](std::uint32_t queue) { return first[queue]; });
    return queues;
  }

  std::uint32_t stream(const Trace& trace, std::uint32_t queue) {
    const GpuQueue& gpu_queue = trace.queues[queue];
    const bool is_only = std::ranges::all_of(
        trace.queues, [&](const GpuQueue& other) { return other.device == gpu_queue.device; });
    const std::string number = gpu_queue.stream == kUnknown ? "" : fmt::format("{}", gpu_queue.stream);
    const std::string name =
        is_only ? "stream" + number : fmt::format("gpu{}-stream{}", gpu_queue.device, number);
    const auto found = std::ranges::find(run_.streams, name);
    if (found != run_.streams.end()) return static_cast<std::uint32_t>(found - run_.streams.begin());
    run_.streams.push_back(name);
    return static_cast<std::uint32_t>(run_.streams.size() - 1);
  }

  void add_operators(const KernelOperators& operators) {
    for (std::uint32_t i = 0; i < operators.distinct(); ++i) {
      const KernelOperator& derived = operators.at(i);
      RecordedOperator& kept = run_.operators.emplace_back();
      kept = {.op = derived.op, .in_another = derived.in_another, .note = texts_.of(derived.note)};
      if (!derived.op) continue;
      try {
        operator_of(words_of(*derived.op));
      } catch (const InfeasibleError& error) {  // of a size that no table of kernels has
        kept = {.note = texts_.of(error.what())};
      }
    }
  }

  void add_rank(std::uint32_t number, const RunGraph& graph, Picoseconds shift) {
    const Rank& rank = ranks_[number];
    const RankPoints& points = graph.ranks[number];
    RecordedRank& recorded = run_.ranks.emplace_back();
    recorded.number = rank.number();
    run_.world_size = std::max(run_.world_size, rank.trace.world_size.value_or(0));
    run_.starts_at_release = rank.trace.has_releases;
    if (run_.gpu.empty() && !rank.trace.gpus.empty()) run_.gpu = rank.trace.gpus.front().name;
    const KernelOperators operators(rank);
    const auto first_operator = static_cast<std::uint32_t>(run_.operators.size());
    add_operators(operators);
    std::vector<std::uint32_t> streams(rank.trace.queues.size());
    for (const std::uint32_t queue : by_first_launch(rank))
      streams[queue] = stream(rank.trace, queue);
    for (std::uint32_t i = 0; i < rank.trace.activities.size(); ++i) {
      const TraceEvent& activity = rank.trace.activities[i];
      RecordedWork work;
      work.name = texts_.of(rank.trace.name_of(activity));
      work.stream = streams[activity.track];
      work.work_class = operators.of(i).work;
      work.op = first_operator + operators.index_of(i);
      work.start = activity.start + shift - base_;
      work.duration = activity.duration;
      recorded.work.push_back(work);
      meanings_[points.starts[i]] = {Role::start, number, i};
      meanings_[points.ends[i]] = {Role::end, number, i};
    }
    for (std::size_t thread = 0; thread < points.threads.size(); ++thread) {
      if (points.threads[thread].empty()) continue;
      recorded.threads.push_back(texts_.of(rank.trace.threads[thread].thread));
      for (const PointId point : points.threads[thread]) {
        meanings_[point] = {Role::host, number, static_cast<std::uint32_t>(recorded.points.size())};
        recorded.points.push_back({.thread = static_cast<std::uint32_t>(recorded.threads.size() - 1),
                                   .date = graph.graph.recorded(point) - base_,
                                   .cost = {}});
      }
    }
    for (std::size_t i = 0; i < points.steps.size(); ++i)
      recorded.steps.push_back({.name = texts_.of(rank.steps[i].name),
                                .begin = meanings_[points.steps[i].begin].row,
                                .end = meanings_[points.steps[i].end].row});
  }

  void add_collective(const CollectiveInstance& instance) {
    RecordedCollective collective;
    for (const CollectiveMember& member : instance.members) {
      const Rank& rank = ranks_[member.rank];
      const CollectiveKernel& kernel = rank.collectives[member.collective];
      collective.kind = texts_.of(kernel.kind);
      collective.dtype = texts_.of(kernel.dtype);
      collective.bytes = kernel.bytes.value_or(0);
      collective.group_size = kernel.group_size.value_or(0);
      collective.members.push_back(rank.number());
      RecordedWork& work = run_.ranks[member.rank].work[kernel.activity];
      work.collective = static_cast<std::uint32_t>(run_.collectives.size());
      collective.name = work.name;
    }
    if (has_unequal_shares(instance, ranks_)) {
      collective.kind = texts_.of(std::string(name_of(CollectiveKind::all_to_all_v)));
      collective.sends = bytes_of_pairs(instance, ranks_);
    }
    run_.collectives.push_back(std::move(collective));
  }

  /// All of a rank that was recorded alone, each with what is known of it. Where a trace says no size of any
  /// group, as those before 2023, the group is the job.
  void add_collectives_of(const Rank& rank) {
    const bool has_sizes = std::ranges::any_of(
        rank.collectives, [](const CollectiveKernel& kernel) { return kernel.group_size.has_value(); });
    for (const CollectiveKernel& kernel : rank.collectives) {
      RecordedWork& work = run_.ranks.front().work[kernel.activity];
      work.collective = static_cast<std::uint32_t>(run_.collectives.size());
      run_.collectives.push_back({.name = work.name,
                                  .kind = texts_.of(kernel.kind),
                                  .dtype = texts_.of(kernel.dtype),
                                  .bytes = kernel.bytes.value_or(0),
                                  .group_size = kernel.group_size.value_or(has_sizes ? 0 : run_.world_size),
                                  .members = {rank.number()}});
    }
  }

  void add_edge(const DependencyGraph::Edge& edge) {
    const Meaning& to = meanings_[edge.to];
    if (to.role == Role::none) return;  // of the last member to arrive
    const Meaning& from = meanings_[edge.from];
    RecordedRank& rank = run_.ranks[to.rank];
    const bool from_origin = edge.from == DependencyGraph::kOrigin;
    if (to.role == Role::host) {
      HostPoint& point = rank.points[to.row];
      const bool follows =
          from.role == Role::host && from.row + 1 == to.row && rank.points[from.row].thread == point.thread;
      if (from_origin) {
        point.cost = edge.lag - base_;
      } else if (follows) {
        point.cost = edge.lag;
      } else {
        rank.waits.push_back({to.row, from.role == Role::end, from.row, edge.lag});
      }
    } else if (to.role == Role::end) {
      rank.work[to.row].duration = std::max(edge.lag, Picoseconds{});
    } else if (from.role == Role::host) {
      rank.work[to.row].launch = from.row;
      rank.work[to.row].after_launch = edge.lag;
    } else if (from.role == Role::end && rank.work[from.row].stream == rank.work[to.row].stream) {
      rank.work[to.row].after_stream = edge.lag;
    } else if (from.role == Role::end) {
      rank.edges.push_back({from.row, to.row, edge.lag});
    }
  }

  /// Adds the thread that launches what nothing else launches.
  void launch_early_work(RecordedRank& rank) {
    std::vector<std::uint32_t> early;
    for (std::uint32_t i = 0; i < rank.work.size(); ++i) {
      if (rank.work[i].launch == kNoIndex) early.push_back(i);
    }
    if (early.empty()) return;
    std::ranges::stable_sort(early, {}, [&](std::uint32_t i) { return rank.work[i].start; });
    rank.threads.push_back(texts_.of(kBefore));
    Picoseconds before;
    for (const std::uint32_t i : early) {
      RecordedWork& work = rank.work[i];
      work.launch = static_cast<std::uint32_t>(rank.points.size());
      rank.points.push_back({.thread = static_cast<std::uint32_t>(rank.threads.size() - 1),
                             .date = work.start,
                             .cost = work.start - before});
      before = work.start;
    }
  }

  const std::vector<Rank>& ranks_;
  RecordedRun run_;
  TextRows texts_{run_.names};
  std::vector<Meaning> meanings_;  ///< [points of the graph]
  Picoseconds base_;
};

}  // namespace

Picoseconds RecordedRank::length() const {
  return steps.empty() ? Picoseconds{} : points[steps.back().end].date - points[steps.front().begin].date;
}

std::size_t RecordedRun::events() const {
  std::size_t count = 0;
  for (const RecordedRank& rank : ranks)
    count += rank.work.size();
  return count;
}

RecordedRun record_run(const std::vector<Rank>& ranks) { return Recorder(ranks).record(); }

}}  // namespace c3::traces
