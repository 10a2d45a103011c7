// Steps on one GPU, by batch.

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "configs/experiment_reader.hpp"
#include "studies/dlrm/parts.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr double kPercent = 100.0;
constexpr std::array<std::int64_t, 4> kBatches = {512, 1024, 2048, 4096};

/// Times [ms] read off a chart, to 0.3 ms, and active shares. Source: arXiv 2201.07821; they are compared with,
/// and never an input.
struct Published {
  std::string_view id, label, file, gpu;
  std::array<double, 4> milliseconds, active;
};
constexpr std::array<Published, 4> kPublished = {{
    {"default.v100",
     "default, V100",
     "default_v100.toml",
     "v100-sxm2-16gb",
     {4.7, 5.6, 8.6, 13.8},
     {.538, .703, .823, .911}},
    {"mlperf.v100",
     "MLPerf, V100",
     "mlperf_v100.toml",
     "v100-sxm2-16gb",
     {4.6, 5.0, 6.6, 10.5},
     {.539, .658, .800, .907}},
    {"ddp.v100",
     "DDP, V100",
     "ddp_v100.toml",
     "v100-sxm2-16gb",
     {4.9, 5.2, 5.2, 6.4},
     {.333, .427, .606, .746}},
    {"default.p100", "default, P100", "default_v100.toml", "p100-pcie-16gb", {4.7, 7.6, 12.5, 21.0}, {}},
}};

}  // namespace

DlrmStepsPart::DlrmStepsPart() {
  for (const Published& each : kPublished) {
    Model& model =
        models_.emplace_back(Model{.id = std::string(each.id), .label = std::string(each.label), .points = {}});
    for (std::size_t i = 0; i < kBatches.size(); ++i) {
      const std::vector<std::string> sets = {fmt::format("node.gpu=\"{}\"", each.gpu),
                                             fmt::format("recommendation.batch={}", kBatches.at(i))};
      const auto frame = experiment_of_study(dlrm_name(), each.file);
      model.points.push_back({.batch = kBatches.at(i),
                              .published_ms = each.milliseconds.at(i),
                              .published_active = each.active.at(i),
                              .step = ExperimentFile::load(frame, sets).make(std::nullopt),
                              .times = {}});
    }
  }
}

void DlrmStepsPart::plan(SimulationJobs& jobs) {
  for (Model& model : models_) {
    for (Point& point : model.points)
      jobs.push_back(whole_step(point.step, point.times));
  }
}

std::vector<StudySection> DlrmStepsPart::sections(const PublishedFigures& published) const {
  StudySection times{.heading = "One GPU, end to end: mean error over four batches",
                     .lines = {},
                     .notes = {"Published times are read off a chart, to 0.3 ms."}};
  StudySection active{
      .heading = "Share of the time in which the GPU is active: mean difference over four batches",
      .lines = {},
      .notes = {},
      .decimals = 3};
  for (const Model& model : models_) {
    double error = 0.0, difference = 0.0;
    std::vector<StudyLine> time_lines, active_lines;
    for (const Point& point : model.points) {
      const double off = point.milliseconds() / point.published_ms - 1.0;
      error += std::abs(off) / kBatches.size();
      difference += std::abs(point.active() - point.published_active) / kBatches.size();
      const std::string label = fmt::format("  batch {}", point.batch);
      StudyLine time{.figure = {.of = published.find(fmt::format("step.{}.{}", model.id, point.batch)),
                                .simulated = kPercent * off},
                     .label = label,
                     .rows = 1};
      time.beside = {{"here [ms]", point.milliseconds()}, {"published [ms]", point.published_ms}};
      time_lines.push_back(std::move(time));
      if (point.published_active <= 0.0) continue;
      StudyLine share{.figure = {.of = published.find(fmt::format("active.{}.{}", model.id, point.batch)),
                                 .simulated = point.active()},
                      .label = label,
                      .rows = 1};
      share.beside = {{"published", point.published_active}};
      active_lines.push_back(std::move(share));
    }
    times.lines.push_back({.figure = {.of = published.find("step." + model.id), .simulated = kPercent * error},
                           .label = model.label,
                           .rows = kBatches.size()});
    times.lines.insert(times.lines.end(), time_lines.begin(), time_lines.end());
    if (active_lines.empty()) continue;
    active.lines.push_back({.figure = {.of = published.find("active." + model.id), .simulated = difference},
                            .label = model.label,
                            .rows = kBatches.size()});
    active.lines.insert(active.lines.end(), active_lines.begin(), active_lines.end());
  }
  return {std::move(times), std::move(active)};
}

}}  // namespace c3::studies
