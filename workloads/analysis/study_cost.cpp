#include "workloads/analysis/study_cost.hpp"

#include <algorithm>
#include <utility>

namespace c3 { inline namespace workloads {

void StudyCost::begin(Seconds bound) { bound_ = bound; }

void StudyCost::end(StudyPart part, Duration took) {
  Part& its = of(part);
  ++its.done;
  its.spent += took;
  bound_ = Seconds{};
}

std::size_t StudyCost::done() const {
  std::size_t done = 0;
  for (const Part& part : parts_)
    done += part.done;
  return done;
}

std::size_t StudyCost::planned() const {
  std::size_t planned = 0;
  for (const Part& part : parts_)
    planned += part.planned;
  return planned;
}

StudyCost::Duration StudyCost::spent() const {
  Duration spent{};
  for (const Part& part : parts_)
    spent += part.spent;
  return spent;
}

StudyCost::Duration StudyCost::left() const {
  Duration left{};
  for (const StudyPart part : {StudyPart::alone, StudyPart::together, StudyPart::split, StudyPart::recorded})
    left += total(part) - of(part).spent;
  return left;
}

StudyCost::Duration StudyCost::total(StudyPart part) const {
  const Part& its = of(part);
  return its.spent + mean(part) * static_cast<double>(its.planned - its.done);
}

StudyFactor StudyCost::largest_factor() const {
  const double all = total().count();
  const double split = total(StudyPart::split).count(), recorded = total(StudyPart::recorded).count();
  const double together = total(StudyPart::together).count();
  const double drawn = all - split - recorded;
  const auto saved = [](double part, double count) { return count > 1 ? part * (1 - 1 / count) : 0.0; };
  const auto strategies = static_cast<double>(shape_.strategies);
  using Saving = std::pair<StudyFactor, double>;
  const std::array<Saving, 5> savings{
      {{StudyFactor::seeds, saved(all - recorded, shape_.seeds)},
       {StudyFactor::draws, saved(drawn, shape_.draws)},
       {StudyFactor::strategies, saved(together + split + recorded, strategies)},
       {StudyFactor::partitions, saved(together, static_cast<double>(shape_.partitions) / strategies)},
       {StudyFactor::loss_split, split}}};
  const Saving& largest = *std::ranges::max_element(savings, {}, &Saving::second);
  return 2 * largest.second >= all ? largest.first : StudyFactor::simulation;
}

StudyCost::Duration StudyCost::mean(StudyPart part) const {
  const Part& its = of(part);
  if (its.done > 0) return its.spent / static_cast<double>(its.done);
  if (part == StudyPart::alone) return {};
  return part == StudyPart::together ? 2.0 * mean(StudyPart::alone) : mean(StudyPart::together);
}

}}  // namespace c3::workloads
