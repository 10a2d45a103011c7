#include "base/percent.hpp"
#include "studies/study_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "configs/presets/preset_store.hpp"
#include "studies/tune/searches.hpp"
#include "studies/tune/space.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr std::string_view kName = "tune";

/// Files of the study, each a space.
constexpr auto kSpaces = std::to_array<std::string_view>(
    {"dense_8b_h100", "sharding_8b_a100", "dense_70b_h100", "dense_70b_mi300x", "priorities_mi300x",
     "channels_h100", "experts_qwen_b200", "experts_mixtral_h100", "machines_8b", "fabrics_70b_h100",
     "schedules_h100", "context_8b_h100"});

struct SearchedSpace {
  const MeasuredSpace* space;
  SearchOutcome found, exact;

  /// Share of \p seconds in what simulating everything takes, in percent.
  double share(double seconds) const { return kPercent * seconds / space->exhaustive_seconds(); }
  bool holds() const { return found.stated && found.regret <= *found.stated + 1e-9; }
};

StudyLine line_of(const SearchedSpace& search, const SearchOutcome& outcome, const std::string& id,
                  const PublishedFigures& published) {
  const MeasuredSpace& space = *search.space;
  StudyLine line{.figure = {.reference = published.find(fmt::format("{}.{}", id, space.name())),
                            .simulated = kPercent * outcome.regret},
                 .label = space.name(),
                 .rows = space.candidates().size()};
  line.beside = {{"fit [candidates]", static_cast<double>(space.admitted().size())},
                 {"simulated [candidates]", static_cast<double>(outcome.simulated.size())},
                 {"CPU [%]", search.share(outcome.seconds)}};
  if (outcome.stated) line.beside.emplace_back("stated [%]", kPercent * *outcome.stated);
  if (outcome.worst) line.beside.emplace_back("worst case [%]", kPercent * *outcome.worst);
  return line;
}

StudySection section_of(const std::vector<SearchedSpace>& spaces, bool exact,
                        const PublishedFigures& published) {
  StudySection section{
      .heading = exact ? "Exact search: cost of the answer over the least of all"
                       : "Default search: cost of the answer over the least of all",
      .lines = {},
      .notes =
          {"rows: candidates. CPU: of the search, over that of simulating all that fit. stated: the regret "
           "that the search says."},
      .value = "regret",
      .decimals = 2};
  for (const SearchedSpace& search : spaces)
    section.lines.push_back(
        line_of(search, exact ? search.exact : search.found, exact ? "exact" : "regret", published));
  return section;
}

/// What the search is held to.
StudySection verdicts(const std::vector<SearchedSpace>& spaces, const PublishedFigures& published) {
  StudySection section{.heading = "Over all spaces", .lines = {}, .notes = {}, .decimals = 2};
  const auto add = [&](const char* id, std::string label, double value) {
    section.lines.push_back({.figure = {.reference = published.find(id), .simulated = value},
                             .label = std::move(label),
                             .rows = spaces.size()});
  };
  const auto worst = [&](auto value) {
    double most = 0.0;
    for (const SearchedSpace& search : spaces)
      most = std::max(most, value(search));
    return most;
  };
  double searched = 0.0, all = 0.0, exactly = 0.0, held = 0.0;
  for (const SearchedSpace& search : spaces) {
    searched += search.found.seconds;
    exactly += search.exact.seconds;
    all += search.space->exhaustive_seconds();
    held += search.holds() ? 1.0 : 0.0;
  }
  add("regret.worst", "worst regret of the default search",
      kPercent * worst([](auto& search) { return search.found.regret; }));
  add("exact.worst", "worst regret of the exact search",
      kPercent * worst([](auto& search) { return search.exact.regret; }));
  add("cpu.worst", "CPU time of the default search, worst space",
      worst([](auto& search) { return search.share(search.found.seconds); }));
  add("cpu.all", "CPU time of the default search, all spaces", kPercent * searched / all);
  add("cpu.exact", "CPU time of the exact search, all spaces", kPercent * exactly / all);
  add("stated.holds", "spaces in which the stated regret holds",
      kPercent * held / static_cast<double>(spaces.size()));
  return section;
}

/// One row a candidate that was simulated.
std::string rows_csv(const std::vector<SearchedSpace>& spaces) {
  std::string csv =
      "space,candidate,bound,estimate,cost,reading_s,looking_s,simulating_s,asked,asked_exactly,position\n";
  const auto turn = [](const SearchOutcome& outcome, std::size_t candidate) {
    const auto found = std::ranges::find(outcome.simulated, candidate);
    return found == outcome.simulated.end() ? std::string()
                                            : std::to_string(1 + (found - outcome.simulated.begin()));
  };
  for (const SearchedSpace& search : spaces) {
    for (const std::size_t i : search.space->admitted()) {
      const MeasuredCandidate& candidate = search.space->candidates()[i];
      if (!candidate.time) continue;
      csv += fmt::format("{},{},{:.6g},{:.6g},{:.6g},{:.4f},{:.4f},{:.4f},{},{},{}\n", search.space->name(), i,
                         search.space->cost(i, candidate.facts.bound),
                         search.space->cost(i, candidate.facts.estimate),
                         search.space->cost(i, {.time = *candidate.time}), candidate.reading, candidate.looking,
                         candidate.simulating, turn(search.found, i), turn(search.exact, i),
                         fmt::join(search.space->positions()[i], " "));
    }
  }
  return csv;
}

}  // namespace

StudyOutcome reproduce_tune(const StudyInput& input, const PublishedFigures& published,
                            const StudyProgress& progress) {
  const PresetSnapshot presets;  // the same for all candidates
  std::vector<MeasuredSpace> spaces;
  for (const std::string_view name : kSpaces)
    spaces.emplace_back(study_file(kName, fmt::format("{}.toml", name)));
  SimulationJobs jobs;
  for (MeasuredSpace& space : spaces)
    space.plan(jobs);
  run_simulations(jobs, progress, input.processes);
  std::vector<SearchedSpace> searched;
  for (const MeasuredSpace& space : spaces)
    searched.push_back({.space = &space, .found = search(space, false), .exact = search(space, true)});
  StudyOutcome outcome{.report = {section_of(searched, false, published), section_of(searched, true, published),
                                  verdicts(searched, published)}};
  if (input.wants_rows) outcome.rows_csv = rows_csv(searched);
  return outcome;
}

}}  // namespace c3::studies
