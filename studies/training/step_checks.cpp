#include "studies/training/step_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include "configs/jobs/experiment_reader.hpp"
#include "studies/training/step_numbers.hpp"
#include "workloads/analysis/loss_split.hpp"
#include "workloads/analysis/steady_state.hpp"
#include "workloads/execute/partition.hpp"
#include "workloads/execute/run.hpp"
#include "workloads/models/transformer.hpp"
#include "workloads/training/training_step.hpp"

namespace c3 { inline namespace studies {
namespace {

Experiment load(std::string_view name, const std::vector<std::string>& sets) {
  return ExperimentFile::load(experiment_of_study("training", name), sets).make(std::nullopt);
}

constexpr std::array kEverything = {SharedResource::dispatch, SharedResource::cus, SharedResource::cache,
                                    SharedResource::hbm, SharedResource::links};

Isolation everything_private() {
  Isolation isolation;
  for (const SharedResource resource : kEverything)
    isolation = isolation.with(resource);
  return isolation;
}

}  // namespace

InterferencePart::InterferencePart()
    : experiment_(load("llama3_8b_fsdp8.toml", {R"(training.framework="pytorch-compiled")", "+model.layers=6",
                                                "measure.seeds=1", R"(+measure.estimate="none")"})) {}

void InterferencePart::plan(SimulationJobs& jobs) {
  const auto time = [this](Isolation isolation) {
    return run_step(experiment_, experiment_.strategies.front(), {.isolation = isolation}).time;
  };
  jobs.push_back(
      {[time] { return SimulatedTime{.time = time({}), .values = {time(everything_private()).value}}; },
       [this](const SimulatedTime& found) {
         shared_ = found.time.value();
         unshared_ = Seconds{found.values.at(0)};
       }});
  const auto split = [this, time] {
    const std::array<std::uint64_t, 1> seeds = {0};
    const LossBounds bounds{.together = time({}), .ideal = {}};
    const LossSplit loss = split_loss(experiment_, experiment_.strategies.front(), {}, seeds, bounds, [] {});
    return SimulatedTime{
        .values = {loss.dispatch.value, loss.cus.value, loss.cache.value, loss.hbm.value, loss.links.value}};
  };
  jobs.push_back({split, [this](const SimulatedTime& found) {
                    const std::vector<double>& v = found.values;
                    loss_ = {.dispatch = {v.at(0)},
                             .cus = {v.at(1)},
                             .cache = {v.at(2)},
                             .hbm = {v.at(3)},
                             .links = {v.at(4)},
                             .interaction = {}};
                  }});
}

StudySection InterferencePart::section(const PublishedFigures& published) const {
  const Seconds parts = loss_.dispatch + loss_.cus + loss_.cache + loss_.hbm + loss_.links;
  StudySection section{
      .heading = "Interference: 6 layers of the same step, with everything shared and with nothing",
      .lines = {},
      .notes = {}};
  const auto add = [&](const std::string& id, const std::string& label, double value) {
    StudyLine line{.figure = {.of = published.find(id)}, .label = label};
    line.figure.simulated = value;
    section.lines.push_back(std::move(line));
  };
  add("interference.shared", "step, everything shared", shared_ / 1.0_ms);
  add("interference.unshared", "step, nothing shared", unshared_ / 1.0_ms);
  add("interference.parts", "parts of the loss split together", parts / 1.0_ms);
  add("interference.dispatch", "of that, dispatch", loss_.dispatch / 1.0_ms);
  add("interference.cus", "CUs", loss_.cus / 1.0_ms);
  add("interference.cache", "caches", loss_.cache / 1.0_ms);
  add("interference.hbm", "HBM", loss_.hbm / 1.0_ms);
  add("interference.links", "links", loss_.links / 1.0_ms);
  add("interference.difference", "what sharing costs, less the parts", (shared_ - unshared_ - parts) / 1.0_ms);
  section.decimals = 3;
  return section;
}

GathersPart::GathersPart() : experiment_(load("fsdp_dma_mi300x.toml", {})) {
  for (const Strategy& strategy : experiment_.strategies)
    runs_.push_back({.strategy = strategy.name});
}

void GathersPart::plan(SimulationJobs& jobs) {
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    for (int seed = 0; seed < experiment_.measure.seeds; ++seed) {
      const auto run = [this, i, seed] {
        const Strategy& strategy = experiment_.strategies[i];
        const RunSetup setup{.cus = cu_choices(experiment_, strategy).front(),
                             .seed = static_cast<std::uint64_t>(seed)};
        return SimulatedTime{.time = run_step(experiment_, strategy, setup).time};
      };
      jobs.push_back(
          {run, [this, i](const SimulatedTime& found) { runs_[i].times.push_back(found.time.value()); }});
    }
  }
}

const GathersPart::Run& GathersPart::run_of(std::string_view strategy) const {
  const auto found = std::ranges::find(runs_, strategy, &Run::strategy);
  if (found == runs_.end())
    throw std::logic_error(fmt::format("the study of training needs a strategy '{}'", strategy));
  return *found;
}

StudySection GathersPart::section(const PublishedFigures& published) const {
  StudySection section{.heading = "FSDP on 8 MI300X: step with all-gathers by channels and by copy engines",
                       .lines = {},
                       .notes = {}};
  const Seconds serial = median_of(run_of("serial").times);
  for (const Run& run : runs_) {
    StudyLine line{.figure = {.of = published.find("gathers." + run.strategy)}, .label = run.strategy};
    line.figure.simulated = median_of(run.times) / 1.0_ms;
    line.beside = {{"speedup [x]", serial / median_of(run.times)}};
    section.lines.push_back(std::move(line));
  }
  const auto faster = [&](const std::string& id, const std::string& label, std::string_view slow,
                          std::string_view fast) {
    StudyLine line{.figure = {.of = published.find(id)}, .label = label};
    line.figure.simulated = (median_of(run_of(slow).times) - median_of(run_of(fast).times)) / 1.0_ms;
    section.lines.push_back(std::move(line));
  };
  faster("gathers.gain", "engines beside channels, as launched", "concurrent", "dma");
  faster("gathers.gain_prioritized", "engines beside channels, communication first", "prioritized",
         "dma_prioritized");
  section.notes = {
      "ConCCL's order (c3sim reproduce conccl): collectives on engines leave more to computation than channels "
      "do.",
      "No step of these GPUs was measured like this: measured steps of AMD GPUs are only those of LoRA (c3sim "
      "reproduce cluster)."};
  return section;
}

Bytes closed_form_memory(const TrainingSetup& setup, int ranks) {
  const ModelDimensions& model = setup.model;
  const auto count = [](std::int64_t numbers) { return static_cast<double>(numbers); };
  const Bytes narrow = element_size(setup.dtype);
  const Bytes wide = element_size(DType::fp32);
  const double root = count(2 * model.vocabulary * model.hidden + model.hidden);
  const double all = count(parameters(transformer(model)));
  const double layer = (all - root) / count(model.layers);
  const double stream = count(setup.tokens() * model.hidden);
  const double logits = count(setup.tokens() * model.vocabulary);
  const Bytes states = wide * (3.0 * all / ranks);
  const Bytes gathered = narrow * (2.0 * root + layer);  // the root's parameters and gradients, the last layer
  const Bytes final_norm = wide * stream + narrow * (2.0 * stream);
  const Bytes layers =
      narrow * (stream * count(model.layers + 1));  // inputs, and the gradient of the last output
  return states + gathered + layers + final_norm + wide * (3.0 * logits);
}

StudySection memory_section(const PublishedFigures& published) {
  const Experiment experiment =
      load("llama3_8b_fsdp8.toml", {R"(training.recompute="full")", "measure.seeds=1"});
  const Bytes closed = closed_form_memory(training_of(experiment), experiment.cluster.ranks());
  const MemoryPeak& peak = experiment.step->memory;
  StudySection section{.heading = "Memory of LLaMA 3 8B, FSDP over 8, full recomputation: tensors at the peak",
                       .lines = {},
                       .notes = {}};
  StudyLine line{.figure = {.of = published.find("memory.ratio")}, .label = "over a count of tensors"};
  line.figure.simulated = peak.bytes / closed;
  line.beside = {{"here [GiB]", peak.bytes.value / kGiB}, {"counted [GiB]", closed.value / kGiB}};
  section.lines.push_back(std::move(line));
  section.notes = {"The peak is at: " + peak.moment + "."};
  section.decimals = 3;
  return section;
}

}}  // namespace c3::studies
