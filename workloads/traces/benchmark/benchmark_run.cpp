#include "workloads/traces/benchmark/benchmark_run.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "engine/errors.hpp"
#include "workloads/traces/benchmark/listed_collectives.hpp"
#include "workloads/traces/benchmark/listed_kernels.hpp"
#include "workloads/traces/replay/operator_words.hpp"
#include "workloads/traces/start_lags.hpp"

namespace c3 { inline namespace traces {
namespace {

constexpr const char* kThread = "host";
constexpr const char* kCompute = "compute";
constexpr std::uint32_t kComputeStream = 0;

constexpr Picoseconds lag_of(StartCause cause) { return kUsualLags[static_cast<std::size_t>(cause)]; }

class RunMaker {
 public:
  explicit RunMaker(const OperatorList& list) : list_(list) {}

  RecordedRun make() {
    run_.world_size = static_cast<int>(list_.ranks.size());
    for (const RankOperators& rank : list_.ranks)
      groups_.push_back(group_numbers(rank));
    name_streams();
    for (std::uint32_t number = 0; number < list_.ranks.size(); ++number)
      add_rank(number);
    for (const std::vector<ListedMember>& members : matched_members(list_))
      add_collective(members);
    return std::move(run_);
  }

 private:
  void name_streams() {
    std::uint32_t most = 0;
    for (const std::vector<std::uint32_t>& numbers : groups_) {
      for (const std::uint32_t number : numbers)
        most = std::max(most, number == kNoIndex ? 0 : number + 1);
    }
    run_.streams = {kCompute};
    for (std::uint32_t i = 0; i < most; ++i)
      run_.streams.push_back(most == 1 ? "comm" : fmt::format("comm{}", i));
  }

  /// Rows of RecordedRun::operators of its kernels.
  const std::vector<std::uint32_t>& operators_of(const ListedOperator& listed) {
    const auto [known, is_new] =
        kernels_.try_emplace({listed.name, listed.dims, listed.types, listed.concrete, listed.with_host});
    if (!is_new) return known->second;
    for (const KernelOperator& kernel : kernels_of(listed)) {
      known->second.push_back(static_cast<std::uint32_t>(run_.operators.size()));
      RecordedOperator& kept = run_.operators.emplace_back();
      kept = {.op = kernel.op, .note = texts_.of(kernel.note)};
      if (!kernel.op) continue;
      try {
        operator_of(words_of(*kernel.op));
      } catch (const InfeasibleError& error) {  // of a size that no table of kernels has
        kept = {.note = texts_.of(error.what())};
      }
    }
    return known->second;
  }

  /// The one in whose time further kernels of an operator are.
  std::uint32_t within(std::uint32_t op) {
    const auto [known, is_new] = within_.try_emplace(op, static_cast<std::uint32_t>(run_.operators.size()));
    if (is_new) {
      RecordedOperator further = run_.operators[op];
      further.in_another = further.op.has_value();
      run_.operators.push_back(std::move(further));
    }
    return known->second;
  }

  void add_rank(std::uint32_t number) {
    const RankOperators& listed = list_.ranks[number];
    RecordedRank& rank = run_.ranks.emplace_back();
    rank.number = listed.rank;
    rank.threads = {texts_.of(kThread)};
    State state;
    std::vector<std::uint32_t>& places = work_of_place_.emplace_back(listed.operators.size(), kNoIndex);
    for (std::uint32_t place = 0; place < listed.operators.size(); ++place) {
      const ListedOperator& listed_operator = listed.operators[place];
      add_point(listed_operator, state, rank);
      if (listed_operator.collective && listed_operator.collective->is_wait) {
        const std::uint32_t awaited = issue_of(*listed_operator.collective, state);
        if (awaited != kNoIndex) await(awaited, rank.work[awaited].stream, state);
        continue;
      }
      if (!runs_on_gpu(listed_operator)) continue;
      places[place] = static_cast<std::uint32_t>(rank.work.size());
      if (listed_operator.collective) {
        add_issue(listed_operator, groups_[number][place], state, rank);
      } else {
        add_kernels(listed_operator, state, rank);
      }
    }
  }

  struct Issue {
    std::string group;
    std::uint32_t work = kNoIndex;
  };

  /// What adding the operators of one rank has reached.
  struct State {
    std::uint32_t last_kernel = kNoIndex;
    /// The latest collective that the next kernel follows, by stream.
    std::map<std::uint32_t, std::uint32_t> awaited;
    std::map<std::optional<std::int64_t>, std::vector<Issue>> issued;  ///< by sequence number
  };

  /// The latest of its number, and of its group if the wait names one.
  static std::uint32_t issue_of(const ListedCollective& wait, const State& state) {
    const auto known = state.issued.find(wait.sequence);
    if (known == state.issued.end()) return kNoIndex;
    const auto found = std::find_if(known->second.rbegin(), known->second.rend(), [&](const Issue& issue) {
      return !wait.has_group_name || issue.group == wait.group;
    });
    return found == known->second.rend() ? kNoIndex : found->work;
  }

  static void await(std::uint32_t work, std::uint32_t stream, State& state) {
    std::uint32_t& latest = state.awaited.try_emplace(stream, work).first->second;
    latest = std::max(latest, work);
  }

  static void add_point(const ListedOperator& listed, const State& state, RecordedRank& rank) {
    if (listed.after_wait && state.last_kernel != kNoIndex) {
      rank.waits.push_back({.point = static_cast<std::uint32_t>(rank.points.size()),
                            .for_work = true,
                            .source = state.last_kernel,
                            .lag = {}});
      rank.points.push_back({});
    }
    rank.points.push_back({.thread = 0, .date = {}, .cost = listed.host_time.value_or(Picoseconds{})});
  }

  static RecordedWork work_at(const RecordedRank& rank) {
    RecordedWork work;
    work.launch = static_cast<std::uint32_t>(rank.points.size() - 1);
    work.after_launch = lag_of(StartCause::launch);
    work.after_stream = lag_of(StartCause::stream);
    return work;
  }

  static void follow(std::uint32_t source, RecordedRank& rank) {
    rank.edges.push_back({.source = source,
                          .destination = static_cast<std::uint32_t>(rank.work.size()),
                          .lag = lag_of(StartCause::cross)});
  }

  static void follow_awaited(const State& state, RecordedRank& rank) {
    for (const auto& [stream, work] : state.awaited)
      follow(work, rank);
  }

  void add_kernels(const ListedOperator& listed, State& state, RecordedRank& rank) {
    follow_awaited(state, rank);
    state.awaited.clear();
    const std::vector<std::uint32_t> operators = operators_of(listed);
    const auto count =
        std::max<std::size_t>(operators.size(), static_cast<std::size_t>(listed.kernels.value_or(0)));
    const std::int64_t time = listed.gpu_time.value_or(Picoseconds{}).count;
    const auto parts = static_cast<std::int64_t>(count);
    for (std::size_t i = 0; i < count; ++i) {
      RecordedWork work = work_at(rank);
      work.name = texts_.of(listed.name);
      work.stream = kComputeStream;
      work.work_class = listed.work;
      work.op = i < operators.size() ? operators[i] : within(operators.back());
      work.has_time = listed.gpu_time.has_value();
      // The first of them has what is left over.
      work.duration = {time / parts + (i == 0 ? time % parts : 0)};
      state.last_kernel = static_cast<std::uint32_t>(rank.work.size());
      rank.work.push_back(work);
    }
  }

  void add_issue(const ListedOperator& listed, std::uint32_t group, State& state, RecordedRank& rank) {
    follow_awaited(state, rank);
    if (state.last_kernel != kNoIndex) follow(state.last_kernel, rank);
    RecordedWork work = work_at(rank);
    const ListedCollective& collective = *listed.collective;
    work.name = texts_.of(collective.kind.empty() ? listed.name : collective.kind);
    work.stream = kComputeStream + 1 + group;
    work.work_class = WorkClass::collective;
    work.op = operators_of(listed).front();
    work.has_time = listed.gpu_time.has_value();
    work.duration = listed.gpu_time.value_or(Picoseconds{});
    state.issued[collective.sequence].push_back(
        {collective.group, static_cast<std::uint32_t>(rank.work.size())});
    rank.work.push_back(work);
  }

  void add_collective(const std::vector<ListedMember>& members) {
    const ListedMember& first = members.front();
    const ListedCollective& listed = *list_.ranks[first.rank].operators[first.place].collective;
    const bool is_alone = run_.is_of_one_rank();
    if (is_alone && (listed.kind.empty() || !listed.bytes || !listed.group_size)) return;
    RecordedCollective collective{.name = work_of(first).name,
                                  .kind = texts_.of(listed.kind),
                                  .dtype = texts_.of(listed.dtype),
                                  .bytes = listed.bytes.value_or(0),
                                  .group_size = listed.group_size.value_or(0),
                                  .members = {}};
    std::optional<Picoseconds> shortest;
    for (const ListedMember& member : members) {
      const RecordedWork& work = work_of(member);
      if (work.has_time) shortest = std::min(shortest.value_or(work.duration), work.duration);
      collective.members.push_back(list_.ranks[member.rank].rank);
    }
    for (const ListedMember& member : members) {
      RecordedWork& work = work_of(member);
      work.collective = static_cast<std::uint32_t>(run_.collectives.size());
      work.duration = shortest.value_or(Picoseconds{});
      work.has_time = shortest.has_value();
    }
    run_.collectives.push_back(std::move(collective));
  }

  RecordedWork& work_of(const ListedMember& member) {
    return run_.ranks[member.rank].work[work_of_place_[member.rank][member.place]];
  }

  const OperatorList& list_;
  RecordedRun run_;
  TextRows texts_{run_.names};
  std::vector<std::vector<std::uint32_t>> groups_;         ///< [ranks][their operators]
  std::vector<std::vector<std::uint32_t>> work_of_place_;  ///< [ranks][their operators]
  std::map<std::tuple<std::string, std::string, std::string, std::string, bool>, std::vector<std::uint32_t>>
      kernels_;                                    ///< rows of operators
  std::map<std::uint32_t, std::uint32_t> within_;  ///< by row of an operator, that of further kernels
};

}  // namespace

RecordedRun benchmark_run(const OperatorList& list) { return RunMaker(list).make(); }

}}  // namespace c3::traces
