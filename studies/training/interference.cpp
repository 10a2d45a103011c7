#include "studies/training/interference.hpp"

#include <array>
#include <numeric>

#include "configs/jobs/experiment_reader.hpp"
#include "workloads/analysis/loss_split.hpp"
#include "workloads/analysis/steady_state.hpp"

namespace c3 { inline namespace studies {
namespace {

struct Part {
  SharedResource resource;
  const char *id, *label;
  Seconds LossSplit::*loss;
};
constexpr std::array kParts = {
    Part{SharedResource::dispatch, "interference.dispatch", "of that, dispatch", &LossSplit::dispatch},
    Part{SharedResource::cus, "interference.cus", "CUs", &LossSplit::cus},
    Part{SharedResource::cache, "interference.cache", "caches", &LossSplit::cache},
    Part{SharedResource::hbm, "interference.hbm", "HBM", &LossSplit::hbm},
    Part{SharedResource::links, "interference.links", "links", &LossSplit::links}};

Isolation everything_private() {
  Isolation isolation;
  for (const Part& part : kParts)
    isolation = isolation.with(part.resource);
  return isolation;
}

}  // namespace

InterferencePart::InterferencePart()
    : experiment_(ExperimentFile::load(
                      experiment_of_study("training", "llama3_8b_fsdp8.toml"),
                      std::vector<std::string>{R"(training.framework="pytorch-compiled")", "+model.layers=6",
                                               "measure.seeds=1", R"(+measure.estimate="none")"})
                      .make(std::nullopt)) {}

void InterferencePart::plan(SimulationJobs& jobs) {
  const auto time = [this](Isolation isolation) {
    return run_step(experiment_, experiment_.strategies.front(), {.isolation = isolation}).time;
  };
  jobs.push_back({[time] {
                    return SimulatedTime{.values = {time({}) / 1.0_ms, time(everything_private()) / 1.0_ms}};
                  },
                  [this](const SimulatedTime& found) {
                    shared_ = found.values.at(0);
                    unshared_ = found.values.at(1);
                  }});
  jobs.push_back({[this, time] {
                    const std::array<std::uint64_t, 1> seeds = {0};
                    const LossBounds bounds{.together = time({}), .ideal = {}};
                    const LossSplit loss =
                        split_loss(experiment_, experiment_.strategies.front(), {}, seeds, bounds, [] {});
                    SimulatedTime found;
                    for (const Part& part : kParts)
                      found.values.push_back(loss.*part.loss / 1.0_ms);
                    return found;
                  },
                  [this](const SimulatedTime& found) { losses_ = found.values; }});
}

StudySection InterferencePart::section(const PublishedFigures& published) const {
  const double parts = std::accumulate(losses_.begin(), losses_.end(), 0.0);
  StudySection section{
      .heading = "Interference: 6 layers of the same step, with everything shared and with nothing",
      .lines = {},
      .notes = {},
      .decimals = 3};
  const auto add = [&](const char* id, const char* label, double value) {
    section.lines.push_back({.figure = {.reference = published.find(id), .simulated = value}, .label = label});
  };
  add("interference.shared", "step, everything shared", shared_);
  add("interference.unshared", "step, nothing shared", unshared_);
  add("interference.parts", "parts of the loss split together", parts);
  for (std::size_t i = 0; i < kParts.size(); ++i)
    add(kParts.at(i).id, kParts.at(i).label, losses_.at(i));
  add("interference.difference", "what sharing costs, less the parts", shared_ - unshared_ - parts);
  return section;
}

}}  // namespace c3::studies
