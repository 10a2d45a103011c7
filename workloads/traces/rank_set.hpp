#pragma once
/// The ranks of one run, from the files that a user names.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "workloads/traces/rank_record.hpp"

namespace c3 { inline namespace traces {

struct RankFile {
  std::string file;
  std::optional<int> rank;
  std::optional<int> world_size;
};

/// \param files those of one run; one file may be any rank, or not say which
/// \param allow_missing accept some but not all ranks of the job
/// \throws TraceSetError for a rank that is there twice, several files of which one does not say its rank, and
/// missing ranks
void check_ranks(std::span<const RankFile> files, bool allow_missing);

/// Numbers of the job's ranks that are not there. Empty if the files do not say how many there are.
std::vector<int> missing_ranks(std::span<const RankFile> files);

/// The same of ranks that were read.
void check_ranks(const std::vector<Rank>& ranks, bool allow_missing);
std::vector<int> missing_ranks(const std::vector<Rank>& ranks);

}}  // namespace c3::traces
