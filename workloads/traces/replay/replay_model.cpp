#include "workloads/traces/replay/replay_model.hpp"

#include <algorithm>
#include <map>
#include <ranges>
#include <string_view>
#include <tuple>
#include <utility>

#include "engine/errors.hpp"
#include "gpu/kernels/describe.hpp"
#include "workloads/traces/retiming/derivation.hpp"

namespace c3 { inline namespace traces {
namespace {

/// c10d writes "Float" where operators have "float".
std::optional<DType> dtype_of_collective(std::string_view dtype) {
  return dtype == "Float" ? DType::fp32 : dtype_of(dtype);
}

/// Divides all \p ranks into groups of \p size neighbours.
std::optional<CollectiveCall> in_groups(CollectiveCall call, std::int64_t size, int ranks) {
  if (size < 2) return std::nullopt;
  if (ranks == 0 || size == ranks) return call;
  if (size > ranks || ranks % size != 0 || is_rooted(call.kind)) return std::nullopt;
  call.groups = RankGroups{.size = static_cast<int>(size)};
  return call;
}

bool can_run(const Operator& op, const GpuSpec* gpu) {
  if (gpu == nullptr) return true;
  try {
    describe("", op, *gpu);
    return true;
  } catch (const InfeasibleError&) {
    return false;
  }
}

}  // namespace

ReplayChoice::ReplayChoice(const RecordedRun& run, const ReplayModel& model) : run_(run), model_(model) {
  runs_.reserve(run.operators.size());
  for (const RecordedOperator& recorded : run.operators)
    runs_.push_back(!model.classes.empty() && recorded.op && can_run(*recorded.op, model.gpu));
}

bool ReplayChoice::has_class(WorkClass work) const {
  return std::ranges::find(model_.classes, work) != model_.classes.end();
}

bool ReplayChoice::is_modelled(const RecordedCollective& collective) const {
  return has_class(WorkClass::collective) && specified_call(run_, collective, model_.ranks).has_value();
}

TimedBy ReplayChoice::of(const RecordedWork& work) const {
  const bool is_collective = work.collective != kNoIndex;
  if (!has_class(is_collective ? WorkClass::collective : work.work_class)) return TimedBy::choice;
  if (is_collective)
    return is_modelled(run_.collectives[work.collective]) ? TimedBy::model : TimedBy::recording;
  if (work.op == kNoIndex) return TimedBy::recording;
  if (!runs_[work.op]) return TimedBy::recording;
  return run_.operators[work.op].in_another ? TimedBy::another : TimedBy::model;
}

std::optional<CollectiveCall> specified_call(const RecordedRun& run, const RecordedCollective& collective,
                                             int ranks) {
  const auto kind = value_named<CollectiveKind>(run.text(collective.kind));
  const bool is_uneven = kind == CollectiveKind::all_to_all_v;
  if (!kind || *kind == CollectiveKind::send_receive || (is_uneven && collective.sends.empty()))
    return std::nullopt;
  if (collective.bytes == 0 && *kind != CollectiveKind::barrier) return std::nullopt;
  CollectiveCall call{.kind = *kind};
  call.bytes = Bytes{static_cast<double>(collective.bytes)};
  call.dtype = dtype_of_collective(run.text(collective.dtype));
  if (run.is_of_one_rank()) return in_groups(std::move(call), collective.group_size, ranks);
  // Nobody knows when a rank comes that was not recorded; fewer ranks would move fewer bytes.
  if (collective.group_size > 0 && collective.group_size != std::ssize(collective.members)) return std::nullopt;
  call.ranks.assign(collective.members.begin(), collective.members.end());
  if (is_rooted(call.kind)) call.root = call.ranks.front();
  for (const std::int64_t bytes : collective.sends)
    call.sends.push_back(Bytes{static_cast<double>(bytes)});
  return call;
}

AloneCollectives alone_collectives(const RecordedRun& run) {
  AloneCollectives sum;
  if (!run.is_of_one_rank()) return sum;
  using Likeness = std::tuple<TextRow, TextRow, std::int64_t, std::int64_t>;
  const auto likeness = [&](const RecordedWork& work) {
    const RecordedCollective& collective = run.collectives[work.collective];
    return Likeness{collective.kind, collective.dtype, collective.bytes, collective.group_size};
  };
  std::map<Likeness, Picoseconds> shortest;
  const auto is_one = [&run](const RecordedWork& work) {  // of unknown sizes, a longer one need not have waited
    return work.collective != kNoIndex && work.has_time && run.collectives[work.collective].bytes > 0;
  };
  for (const RecordedWork& work : run.ranks.front().work | std::views::filter(is_one)) {
    Picoseconds& least = shortest.try_emplace(likeness(work), work.duration).first->second;
    least = std::min(least, work.duration);
  }
  for (const RecordedWork& work : run.ranks.front().work | std::views::filter(is_one)) {
    ++sum.count;
    sum.time += work.duration;
    sum.waiting_at_least += work.duration - shortest.at(likeness(work));
  }
  return sum;
}

ReplayShare ReplayShares::all() const {
  ReplayShare sum;
  for (const ReplayShare* share : {&model, &another, &choice, &recording, &nothing}) {
    sum.count += share->count;
    sum.time += share->time;
  }
  return sum;
}

ReplayShares shares_of(const RecordedRun& run, const ReplayModel& model) {
  const ReplayChoice choice(run, model);
  ReplayShares shares;
  const auto share_of = [&shares](TimedBy by) -> ReplayShare& {
    switch (by) {
      case TimedBy::model:
        return shares.model;
      case TimedBy::another:
        return shares.another;
      case TimedBy::choice:
        return shares.choice;
      case TimedBy::recording:
        break;
    }
    return shares.recording;
  };
  for (const RecordedRank& rank : run.ranks) {
    for (const RecordedWork& work : rank.work) {
      const TimedBy by = choice.of(work);
      const bool keeps_its_time = by == TimedBy::choice || by == TimedBy::recording;
      ReplayShare& share = keeps_its_time && !work.has_time ? shares.nothing : share_of(by);
      ++share.count;
      share.time += work.duration;
    }
  }
  return shares;
}

std::vector<NotModelled> not_modelled(const RecordedRun& run, const ReplayModel& model) {
  const ReplayChoice choice(run, model);
  const auto reason_of = [&](const RecordedWork& work, TimedBy by) -> std::string {
    if (by == TimedBy::choice) return "its class is not modelled";
    if (work.op == kNoIndex) return "what it does is not known";
    const RecordedOperator& recorded = run.operators[work.op];
    if (recorded.op) return "the GPU cannot run it";
    return run.text(recorded.note);
  };
  std::map<std::tuple<std::string, std::string, bool>, NotModelled> alike;
  for (const RecordedRank& rank : run.ranks) {
    for (const RecordedWork& work : rank.work) {
      const TimedBy by = choice.of(work);
      if (by == TimedBy::model || by == TimedBy::another) continue;
      NotModelled& entry = alike[{run.text(work.name), reason_of(work, by), work.has_time}];
      ++entry.count;
      entry.time += work.duration;
    }
  }
  std::vector<NotModelled> sorted;
  for (auto& [key, entry] : alike) {
    std::tie(entry.name, entry.reason, entry.has_time) = key;
    sorted.push_back(std::move(entry));
  }
  std::ranges::stable_sort(sorted, std::ranges::greater{},
                           [](const NotModelled& entry) { return std::pair(entry.time, entry.count); });
  return sorted;
}

std::vector<WorkClass> all_work_classes() {
  std::vector<WorkClass> classes;
  for (std::size_t i = 0; i < kWorkClassNames.size(); ++i)
    classes.push_back(static_cast<WorkClass>(i));
  return classes;
}

}}  // namespace c3::traces
