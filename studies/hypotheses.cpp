#include "studies/hypotheses.hpp"

#include <optional>

#include "configs/jobs/experiment_reader.hpp"

namespace c3 { inline namespace studies {

const std::vector<Hypothesis>& hypotheses() {
  static const std::vector<Hypothesis> kHypotheses = [] {
    std::vector<Hypothesis> list = {{"queue", "second queue", {"gpu.strict_rotation=true"}},
                                    {"state", "GEMM after other work", {"gpu.product_after_others=1.1"}},
                                    {"releases", "releases", {"gpu.release_rewrites=1.0"}},
                                    {"spread", "unlike GPUs", {"gpu.speed_spread=0.015"}}};
    Hypothesis all{"all", "all", {}};
    for (const Hypothesis& each : list)
      all.sets.insert(all.sets.end(), each.sets.begin(), each.sets.end());
    list.push_back(all);
    return list;
  }();
  return kHypotheses;
}

Experiment under(const Hypothesis& hypothesis, const std::filesystem::path& file) {
  return ExperimentFile::load(file, hypothesis.sets).make(std::nullopt);
}

}}  // namespace c3::studies
