#include "workloads/traces/replay/data_parallel.hpp"

#include <numeric>
#include <stdexcept>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "workloads/traces/replay/replay_model.hpp"

namespace c3 { inline namespace traces {
namespace {

[[noreturn]] void refuse(const RecordedRun& run, const RecordedCollective& collective, const std::string& why) {
  throw std::invalid_argument(fmt::format("the collective '{}' of rank{} {} {}", run.text(collective.name),
                                          collective.members.size() == 1 ? "" : "s",
                                          fmt::join(collective.members, ", "), why));
}

bool has_known_group(const RecordedRun& run, const RecordedWork& work) {
  if (work.collective == kNoIndex) return false;
  const RecordedCollective& collective = run.collectives[work.collective];
  return collective.group_size > 0 || collective.members.size() > 1;
}

/// Nobody knows with whom such work would wait among more ranks.
void refuse_unmatched(const RecordedRun& run) {
  for (const RecordedRank& rank : run.ranks) {
    for (const RecordedWork& work : rank.work) {
      if (work.work_class == WorkClass::collective && !has_known_group(run, work))
        throw std::invalid_argument(
            fmt::format("it is not known which ranks join the collective '{}' of rank {}, at {:.3f} ms",
                        run.text(work.name), rank.number, work.start.milliseconds()));
    }
  }
}

/// Number of ranks of the job, according to a rank that was recorded alone.
int ranks_of_job(const RecordedRun& run) {
  std::int64_t size = run.world_size;
  for (const RecordedCollective& collective : run.collectives) {
    if (size == 0) size = collective.group_size;
    if (collective.group_size != size)
      refuse(run, collective, fmt::format("has a group of {} ranks, the job {}", collective.group_size, size));
  }
  return static_cast<int>(size);
}

bool grows_with_ranks(CollectiveKind kind) {
  return kind == CollectiveKind::gather || kind == CollectiveKind::scatter;
}

}  // namespace

int data_parallel_ranks(const RecordedRun& run) {
  refuse_unmatched(run);
  if (run.ranks.size() == 1) return ranks_of_job(run);
  const auto recorded = static_cast<int>(run.ranks.size());
  for (int rank = 0; rank < recorded; ++rank) {
    if (run.ranks[static_cast<std::size_t>(rank)].number != rank)
      throw std::invalid_argument(fmt::format("rank {} was not recorded", rank));
  }
  if (run.world_size > recorded)
    throw std::invalid_argument(
        fmt::format("{} of the job's {} ranks were recorded", recorded, run.world_size));
  for (const RecordedCollective& collective : run.collectives) {
    if (std::ssize(collective.members) != recorded)
      refuse(run, collective, fmt::format("has not all of the {} recorded ranks", recorded));
    if (collective.group_size > recorded)
      refuse(
          run, collective,
          fmt::format("has a group of {} ranks, of which {} were recorded", collective.group_size, recorded));
  }
  return recorded;
}

RecordedRun with_data_parallel(RecordedRun run, int ranks) {
  const int recorded = data_parallel_ranks(run);
  if (ranks == recorded) return run;
  if (run.ranks.size() > 1 && ranks % recorded != 0)
    throw std::invalid_argument(
        fmt::format("{} is not a multiple of the {} recorded ranks, which are repeated", ranks, recorded));
  for (RecordedCollective& collective : run.collectives) {
    if (const auto kind = value_named<CollectiveKind>(run.text(collective.kind));
        kind && grows_with_ranks(*kind))
      collective.bytes = collective.bytes * ranks / recorded;
    RecordedCollective scaled = collective;
    scaled.sends.clear();  // of pairs that were not there
    scaled.group_size = ranks;
    scaled.members.resize(static_cast<std::size_t>(ranks));
    std::iota(scaled.members.begin(), scaled.members.end(), 0);
    if (!specified_call(run, scaled))
      refuse(
          run, collective,
          "cannot be modelled among more ranks, because its kind or its bytes, or those of each pair of ranks, "
          "are not known");
    collective = std::move(scaled);
  }
  run.world_size = ranks;
  return run;
}

}}  // namespace c3::traces
