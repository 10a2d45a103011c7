#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "gpu/kernels/describe.hpp"
#include "studies/checked_row.hpp"
#include "studies/convolutions/parts.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr std::int64_t kLargest = std::int64_t{1} << 20U;
constexpr std::array<std::int64_t, 5> kBatches = {32, 64, 128, 256, 512};
constexpr double kMilliseconds = 1e3;

/// The convolution of \p db that \p shape is, whatever solver either names; nullptr: not measured.
const FoundConvolution* find(const FindDb& db, const ConvolutionShape& shape) {
  const auto found = std::ranges::find(db.convolutions, shape, &FoundConvolution::shape);
  return found == db.convolutions.end() ? nullptr : &*found;
}

struct Sum {
  double here = 0.0;
  double measured = 0.0;
  double here_of_measured = 0.0;
  std::int64_t layers = 0;
  std::int64_t measured_layers = 0;
};

Sum sum_over(const std::vector<NetworkLayer>& layers, const std::string& network, ConvolutionShape setting,
             const MeasuredGpu& gpu) {
  Sum sum;
  for (const NetworkLayer& layer : layers) {
    if (layer.network != network) continue;
    ConvolutionShape shape = layer.shape;
    shape.batch = setting.batch;
    shape.dtype = setting.dtype;
    shape.pass = setting.pass;
    const auto count = static_cast<double>(layer.count);
    const double time = count * kMilliseconds * time_of(shape, gpu.gpu).time.value;
    sum.here += time;
    sum.layers += layer.count;
    if (const FoundConvolution* found = find(gpu.db, shape)) {
      sum.measured += count * kMilliseconds * found->best.value;
      sum.here_of_measured += time;
      sum.measured_layers += layer.count;
    }
  }
  return sum;
}

StudyLine line_of(const Sum& sum, const PublishedFigures& published, const std::string& id, std::string label) {
  StudyLine line{.figure = {.reference = published.find("networks." + id),
                            .kind = FigureKind::fitted,
                            .simulated = sum.here},
                 .label = std::move(label),
                 .rows = static_cast<std::size_t>(sum.measured_layers)};
  line.beside = {{"layers", static_cast<double>(sum.layers)}};
  if (sum.measured_layers == 0) return line;
  line.beside.emplace_back("measured of some [ms]", sum.measured);
  line.beside.emplace_back("these here [ms]", sum.here_of_measured);
  return line;
}

}  // namespace

std::vector<NetworkLayer> read_networks(const std::filesystem::path& file) {
  const HeadedTable table(file);
  std::vector<NetworkLayer> layers;
  for (const HeadedTable::Row& table_row : table.rows()) {
    const CheckedRow row(table, table_row, "of a network's layer");
    const auto whole = [&](std::string_view column) { return row.whole(column, kLargest); };
    const auto count = [&](std::string_view column) { return row.cell(column) == "0" ? 0 : whole(column); };
    layers.push_back({.network = row.text("network"),
                      .count = whole("layers"),
                      .shape = {.channels = whole("channels"),
                                .filters = whole("filters"),
                                .image = {whole("height"), whole("width")},
                                .filter = {whole("filter_h"), whole("filter_w")},
                                .pad = {count("pad_h"), count("pad_w")},
                                .stride = {whole("stride_h"), whole("stride_h")}}});
  }
  return layers;
}

StudySection networks(const MeasuredGpu& gpu, const std::vector<NetworkLayer>& layers,
                      const PublishedFigures& published) {
  StudySection section{.heading = fmt::format("{}: all convolutions of a network, forward, ms", gpu.name),
                       .lines = {},
                       .notes = {"Times of kernels; rows: layers that the find-db has at this batch and type."},
                       .value = "here",
                       .decimals = 2};
  std::vector<std::string> names;
  for (const NetworkLayer& layer : layers)
    if (std::ranges::find(names, layer.network) == names.end()) names.push_back(layer.network);
  for (const DType type : {DType::fp16, DType::fp32}) {
    for (const std::string& name : names) {
      for (const std::int64_t batch : kBatches) {
        if (batch != kBatches[1] && (name != names.front() || type != DType::fp16)) continue;
        const ConvolutionShape setting{.batch = batch, .dtype = type};
        section.lines.push_back(line_of(sum_over(layers, name, setting, gpu), published,
                                        fmt::format("{}.{}.{}.{}", gpu.words, name, name_of(type), batch),
                                        fmt::format("{} {}, {} images", name, name_of(type), batch)));
      }
    }
  }
  return section;
}

}}  // namespace c3::studies
