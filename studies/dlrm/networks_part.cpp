// Convolutional networks on one GPU, beside Lin et al.'s: nothing of ours was set from them.

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "configs/experiment_reader.hpp"
#include "studies/dlrm/parts.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr double kToPercent = 100.0;
constexpr std::array<std::int64_t, 3> kImages = {16, 32, 64};

/// Times [ms] of a training step. Source: arXiv 2201.07821; they are compared with, and never an input.
struct MeasuredNetwork {
  std::string_view id, label, network, gpu;
  std::array<double, 3> milliseconds;
};
constexpr std::array<MeasuredNetwork, 3> kMeasured = {{
    {"resnet50.v100", "ResNet-50, V100", "resnet-50", "v100-sxm2-16gb", {66.55, 114.78, 214.53}},
    {"resnet50.p100", "ResNet-50, P100", "resnet-50", "p100-pcie-16gb", {122.75, 179.16, 333.54}},
    {"inception.v100", "Inception-V3, V100", "inception-v3", "v100-sxm2-16gb", {92.63, 158.75, 205.68}},
}};

}  // namespace

NetworksPart::NetworksPart() {
  for (const MeasuredNetwork& each : kMeasured) {
    Network& network = networks_.emplace_back(
        Network{.id = std::string(each.id), .label = std::string(each.label), .points = {}});
    for (std::size_t i = 0; i < kImages.size(); ++i) {
      const std::vector<std::string> sets = {
          fmt::format("node.gpu=\"{}\"", each.gpu), fmt::format("image_network.use=\"{}\"", each.network),
          fmt::format("image_network.batch={}", kImages.at(i)), "image_network.host=\"lin-2022\""};
      const auto file = experiment_of_study(dlrm_name(), "resnet50_v100.toml");
      network.points.push_back({.images = kImages.at(i),
                                .published_ms = each.milliseconds.at(i),
                                .step = ExperimentFile::load(file, sets).make(std::nullopt),
                                .times = {}});
    }
  }
}

void NetworksPart::plan(SimulationJobs& jobs) {
  for (Network& network : networks_) {
    for (Point& point : network.points)
      jobs.push_back(whole_step(point.step, point.times));
  }
}

StudySection NetworksPart::section(const PublishedFigures& published) const {
  StudySection section{.heading = "Convolutional networks on one GPU, fp32: mean error over three batches",
                       .lines = {},
                       .notes = {"Solvers' coefficients were fitted on MI100 and MI210; hosts are theirs "
                                 "(lin-2022), with one time for operators of images."}};
  for (const Network& network : networks_) {
    double error = 0.0;
    std::vector<StudyLine> lines;
    for (const Point& point : network.points) {
      const double milliseconds = point.times.time.value * 1e3;
      const double off = milliseconds / point.published_ms - 1.0;
      error += std::abs(off) / kImages.size();
      StudyLine line{.figure = {.of = published.find(fmt::format("network.{}.{}", network.id, point.images)),
                                .simulated = kToPercent * off},
                     .label = fmt::format("  batch {}", point.images),
                     .rows = 1};
      line.beside = {{"here [ms]", milliseconds}, {"published [ms]", point.published_ms}};
      lines.push_back(std::move(line));
    }
    section.lines.push_back(
        {.figure = {.of = published.find("network." + network.id), .simulated = kToPercent * error},
         .label = network.label,
         .rows = kImages.size()});
    section.lines.insert(section.lines.end(), lines.begin(), lines.end());
  }
  return section;
}

}}  // namespace c3::studies
