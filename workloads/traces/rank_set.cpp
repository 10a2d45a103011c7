#include "workloads/traces/rank_set.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace c3 { inline namespace traces {
namespace {

TracePlace place_of(const RankFile& file) {
  return {.file = file.file, .rank = file.rank, .event = std::nullopt};
}

std::vector<RankFile> files_of(const std::vector<Rank>& ranks) {
  std::vector<RankFile> files;
  for (const Rank& rank : ranks)
    files.push_back({.file = rank.trace.file, .rank = rank.trace.rank, .world_size = rank.trace.world_size});
  return files;
}

std::string listed(const std::vector<int>& numbers) {
  constexpr std::size_t kMost = 10;
  const std::size_t shown = std::min(numbers.size(), kMost);
  return fmt::format("{}{}", fmt::join(std::span(numbers).first(shown), ", "),
                     numbers.size() > shown ? ", .." : "");
}

}  // namespace

void check_ranks(std::span<const RankFile> files, bool allow_missing) {
  if (files.size() < 2) return;
  std::map<int, const RankFile*> present;
  for (const RankFile& file : files) {
    if (!file.rank)
      throw TraceSetError(place_of(file),
                          "neither its content nor its name says of which rank it is: only a "
                          "single file may lack that");
    const auto [place, is_new] = present.emplace(*file.rank, &file);
    if (!is_new)
      throw TraceSetError(place_of(file), fmt::format("{} is of this rank as well", place->second->file));
  }
  const std::vector<int> missing = missing_ranks(files);
  if (missing.empty() || allow_missing) return;
  throw TraceSetError(
      place_of(*present.begin()->second),
      fmt::format("{} of the job's ranks are missing: {}; name the files of all ranks or of one, or "
                  "give --allow-missing",
                  missing.size(), listed(missing)));
}

std::vector<int> missing_ranks(std::span<const RankFile> files) {
  int world = 0;
  std::set<int> present;
  for (const RankFile& file : files) {
    world = std::max(world, file.world_size.value_or(0));
    present.insert(file.rank.value_or(0));
  }
  std::vector<int> missing;
  for (int number = 0; number < world; ++number) {
    if (!present.contains(number)) missing.push_back(number);
  }
  return missing;
}

void check_ranks(const std::vector<Rank>& ranks, bool allow_missing) {
  check_ranks(files_of(ranks), allow_missing);
}

std::vector<int> missing_ranks(const std::vector<Rank>& ranks) { return missing_ranks(files_of(ranks)); }

}}  // namespace c3::traces
