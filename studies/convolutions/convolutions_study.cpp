#include "studies/study_table.hpp"

#include <algorithm>
#include <deque>
#include <iterator>
#include <utility>

#include "configs/presets/preset_store.hpp"
#include "studies/convolutions/cross_validation.hpp"
#include "studies/convolutions/parts.hpp"
#include "studies/jobs.hpp"

namespace c3 { inline namespace studies {
namespace {

MeasuredGpu measured(const StudyInput& input, const std::string& name, const std::string& preset) {
  const std::filesystem::path file = input.data / "kernels" / ("miopen_convolution_" + preset + ".csv");
  return {.name = name, .words = preset, .gpu = as_in_find_db(load_gpu(preset)), .db = read_find_db(file)};
}

}  // namespace

StudyOutcome reproduce_convolutions(const StudyInput& input, const PublishedFigures& published,
                                    const StudyProgress& progress) {
  const std::vector<MeasuredGpu> gpus = {measured(input, "MI100", "mi100"), measured(input, "MI210", "mi210")};
  const std::vector<NetworkLayer> layers = read_networks(study_file("convolutions", "networks.csv"));
  Jobs jobs;
  std::deque<CrossValidation> fits;
  for (const MeasuredGpu& gpu : gpus)
    fits.emplace_back(gpu).plan(jobs);
  run_jobs(jobs, progress);

  StudyOutcome outcome;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    std::ranges::move(compared(gpus[i], fits[i].times(), published, "fitted", FigureKind::fitted),
                      std::back_inserter(outcome.report));
    outcome.report.push_back(coefficients(gpus[i], fits[i].whole(), published));
    outcome.report.push_back(networks(gpus[i], layers, published));
    outcome.broken.insert(outcome.broken.end(), gpus[i].db.broken.begin(), gpus[i].db.broken.end());
  }
  return outcome;
}

}}  // namespace c3::studies
