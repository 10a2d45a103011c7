#include "studies/tune/searches.hpp"

#include "workloads/tune/candidate_search.hpp"

namespace c3 { inline namespace studies {
namespace {

SearchedCandidates searched(const MeasuredSpace& space, const std::vector<std::size_t>& admitted) {
  SearchedCandidates all;
  for (const std::size_t i : admitted) {
    all.bounds.push_back(space.cost(i, space.candidates()[i].facts.bound));
    all.estimates.push_back(space.cost(i, space.candidates()[i].facts.estimate));
    all.positions.push_back(space.positions()[i]);
  }
  return all;
}

}  // namespace

SearchOutcome search(const MeasuredSpace& space, bool exact) {
  const std::vector<std::size_t> admitted = space.admitted();
  CandidateSearch search(searched(space, admitted), exact ? SearchLimits{} : limits_of(space.goal()));
  SearchOutcome outcome;
  while (const auto asked = search.ask()) {
    const std::size_t i = admitted[*asked];
    const std::optional<Seconds> time = space.candidates()[i].time;
    search.tell(*asked, time ? std::optional(space.cost(i, {.time = *time})) : std::nullopt);
    outcome.simulated.push_back(i);
  }
  outcome.regret = *search.cost(search.best().value()) / space.least_cost() - 1.0;
  outcome.stated = search.likely_regret();
  outcome.worst = search.worst_regret();
  outcome.seconds = space.search_seconds(outcome.simulated);
  return outcome;
}

}}  // namespace c3::studies
