#include "studies/study_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <memory>

#include "files/io_error.hpp"
#include "studies/collectives/collectives_part.hpp"
#include "studies/collectives/experts_part.hpp"
#include "studies/collectives/links_part.hpp"
#include "studies/collectives/systems_map.hpp"

namespace c3 { inline namespace studies {
namespace {

namespace fs = std::filesystem;

/// \p data, or the folder `collectives` in it.
fs::path folder_of_tables(const fs::path& data) {
  const fs::path inner = data / "collectives";
  if (fs::is_directory(inner)) return inner;
  if (fs::is_directory(data)) return data;
  throw IoError(data.string(), "reproduce collectives",
                "the folder of measured tables is not there; name it with --data or C3SIM_DATA");
}

/// Tables of \p folder that no row of \p map names.
std::vector<std::string> unmapped(const fs::path& folder, const SystemsMap& map) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (entry.is_regular_file() && std::ranges::find(map.files, name) == map.files.end()) names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace

StudyOutcome reproduce_collectives(const StudyInput& input, const PublishedFigures& gated,
                                   const StudyProgress& progress) {
  // Gates were set for the tables of the study's own map.
  const PublishedFigures published = input.systems.empty() ? gated : gated.without_gates();
  const fs::path folder = folder_of_tables(input.data);
  const fs::path map_file = input.systems.empty() ? study_file("collectives", "systems.csv") : input.systems;
  SystemsMap map = read_systems_map(map_file);
  if (map.files.empty() && map.broken.empty())
    throw ConfigError({std::make_shared<const std::string>(map_file.string()), 1, 1}, "file",
                      "the map names no table");
  StudyOutcome outcome;
  outcome.broken = std::move(map.broken);
  CollectivesPart collectives;
  LinksPart links;
  ExpertsPart experts;
  for (const MapEntry& entry : map.entries) {
    try {
      const fs::path file = folder / entry.file;
      if (!fs::is_regular_file(file))
        throw ConfigError(entry.at, "file", fmt::format("no file {} in {}", entry.file, folder.string()));
      const HeadedTable table(file);
      if (is_link_matrix(table))
        links.add(table, entry);
      else if (is_expert_table(table))
        experts.add(table, entry);
      else
        collectives.add(table, entry);
    } catch (const ConfigError& error) {
      outcome.broken.emplace_back(error.what());
    }
  }
  SimulationJobs jobs;
  collectives.plan(jobs);
  links.plan(jobs);
  experts.plan(jobs);
  run_simulations(jobs, progress);
  outcome.rows_csv = collectives.rows_as_csv();
  for (StudyReport part :
       {collectives.sections(published), links.sections(published), experts.sections(published)})
    std::ranges::move(part, std::back_inserter(outcome.report));
  for (std::vector<std::string> part : {collectives.broken(), links.broken(), experts.broken()})
    std::ranges::move(part, std::back_inserter(outcome.broken));
  // A preset that cannot be read would be named for every table of it.
  std::vector<std::string> once;
  for (std::string& message : outcome.broken) {
    if (std::ranges::find(once, message) == once.end()) once.push_back(std::move(message));
  }
  outcome.broken = std::move(once);
  if (const auto names = unmapped(folder, map); !names.empty())
    outcome.notices.push_back(fmt::format("{}: files that no row of {} names: {}", folder.string(),
                                          map_file.string(), fmt::join(names, ", ")));
  return outcome;
}

}}  // namespace c3::studies
