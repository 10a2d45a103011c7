#include "studies/tune/searches.hpp"

#include "workloads/tune/bounded_search.hpp"

namespace c3::inline studies {

SearchOutcome search(const MeasuredSpace& space, bool exact) {
  const std::vector<std::size_t> admitted = space.admitted();
  std::vector<double> bounds;
  for (const std::size_t i : admitted)
    bounds.push_back(space.cost(i, space.candidates()[i].facts.bound));
  const auto budget = static_cast<std::size_t>(space.goal().whole_steps);
  BoundedSearch search(std::move(bounds), exact ? std::nullopt : std::optional(budget));
  SearchOutcome outcome;
  while (const auto asked = search.ask()) {
    const std::size_t i = admitted[*asked];
    const std::optional<Seconds> time = space.candidates()[i].time;
    search.tell(*asked, time ? std::optional(space.cost(i, *time)) : std::nullopt);
    outcome.simulated.push_back(i);
  }
  outcome.regret = *search.cost(search.best().value()) / space.least_cost() - 1.0;
  outcome.stated = search.regret();
  outcome.seconds = space.search_seconds(outcome.simulated);
  return outcome;
}

}  // namespace c3::studies
