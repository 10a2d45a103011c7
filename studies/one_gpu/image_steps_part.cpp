// Training steps of networks of images on one GPU.

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "studies/checked_row.hpp"
#include "studies/one_gpu/parts.hpp"
#include "workloads/analysis/steady_state.hpp"
#include "workloads/training/image_step.hpp"

namespace c3 { inline namespace studies {
namespace {

using namespace literals;

constexpr std::string_view kImagesWhat = "of a measured training step of a network of images";
constexpr std::array<std::string_view, 2> kImageTypes = {"fp16", "fp32"};
constexpr std::int64_t kMostImages = 4096;
constexpr double kToPercent = 100.0;

std::vector<std::string> sets_of_images(const CheckedRow& row) {
  const auto text = [&](const char* key, const char* column) {
    return fmt::format(R"(image_network.{}="{}")", key, row.text(column));
  };
  return {fmt::format(R"(system="{}-8")", row.text("gpu")), text("use", "network"), text("dtype", "dtype"),
          text("layout", "layout"), fmt::format("image_network.batch={}", row.whole("batch", kMostImages))};
}

}  // namespace

ImageStepsPart::ImageStepsPart(const std::filesystem::path& file) {
  const std::filesystem::path frame = study_file("one_gpu", "image_step.toml");
  const HeadedTable table(file);
  for (const HeadedTable::Row& each : table.rows()) {
    const CheckedRow row(table, each, kImagesWhat);
    const std::string_view dtype = kImageTypes.at(row.one_of("dtype", kImageTypes));
    const ExperimentFile step = ExperimentFile::load(frame, sets_of_images(row));
    rows_.push_back({.gpu = row.text("gpu"),
                     .dtype = std::string(dtype),
                     .label = fmt::format("{}: {} {} x {}", row.text("gpu"), row.text("network"), dtype,
                                          row.whole("batch", kMostImages)),
                     .experiment = step.make(std::nullopt),
                     .measured = row.above_0("graph_ms") * 1.0_ms,
                     .allocated = Bytes{row.above_0("allocated_gb") * 1e9},
                     .here = {},
                     .held = memory_of(step.image_network().value(), 1).peak.held});
  }
}

void ImageStepsPart::plan(SimulationJobs& jobs) {
  for (Row& row : rows_) {
    jobs.push_back({.run =
                        [&row] {
                          return SimulatedTime{
                              .time = run_step(row.experiment, row.experiment.strategies.front(), {}).time};
                        },
                    .take = [&row](const SimulatedTime& found) { row.here = found.time.value(); }});
  }
}

StudySection ImageStepsPart::section(const PublishedFigures& published) const {
  struct Errors {
    double absolute = 0.0, all = 0.0, of_memory = 0.0;
    std::size_t rows = 0;
  };
  StudySection section{
      .heading = "Training steps of networks of images: error of the time",
      .lines = {},
      .notes = {"Replayed from graphs, so that no host is late. No number was set from a step; how "
                "batch norms overlap was changed with these in view."},
      .value = "error [%]"};
  std::map<std::pair<std::string, std::string>, Errors> groups;
  for (const Row& row : rows_) {
    const double error = kToPercent * (row.here / row.measured - 1.0);
    Errors& errors = groups[{row.gpu, row.dtype}];
    errors.absolute += std::abs(error);
    errors.all += error;
    errors.of_memory += std::abs(kToPercent * (row.held / row.allocated - 1.0));
    ++errors.rows;
    section.lines.push_back({.figure = {.of = published.find("images.step"), .simulated = error},
                             .label = row.label,
                             .rows = 1,
                             .beside = {{"here [ms]", row.here / 1.0_ms},
                                        {"measured [ms]", row.measured / 1.0_ms},
                                        {"here [GB]", row.held.value * 1e-9},
                                        {"measured [GB]", row.allocated.value * 1e-9}}});
  }
  for (const auto& [of, errors] : groups) {
    const auto rows = static_cast<double>(errors.rows);
    section.lines.push_back(
        {.figure = {.of = published.find("images.error." + of.second), .simulated = errors.absolute / rows},
         .label = fmt::format("{}: {}, mean error", of.first, of.second),
         .rows = errors.rows,
         .beside = {{"signed [%]", errors.all / rows}}});
    section.lines.push_back(
        {.figure = {.of = published.find("images.memory"), .simulated = errors.of_memory / rows},
         .label = fmt::format("{}: {}, mean error of memory", of.first, of.second),
         .rows = errors.rows});
  }
  return section;
}

}}  // namespace c3::studies
