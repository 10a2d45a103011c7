#include "studies/collectives/dma_variants.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "collectives/measure.hpp"
#include "configs/jobs/experiment_reader.hpp"
#include "configs/toml/quantity_text.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr std::string_view kSystem = "mi300x-8";
constexpr std::string_view kPrelaunched = "_prelaunch";
constexpr std::string_view kLimit = "limit";
constexpr Bytes kLarge = 1.0_GiB;  // time is bytes over bandwidth there, to 1 %

/// From these rows parameters of the preset were set: dma_broadcast_bandwidth and dma_next_copy.
constexpr std::array<std::string_view, 3> kFitted = {"dma.all_gather.1GiB.bcst", "dma.all_gather.limit.bcst",
                                                     "dma.all_to_all.1KiB.b2b_prelaunch"};

std::vector<std::string_view> words_of(std::string_view id) {
  std::vector<std::string_view> words;
  while (true) {
    const std::size_t dot = id.find('.');
    words.push_back(id.substr(0, dot));
    if (dot == std::string_view::npos) return words;
    id.remove_prefix(dot + 1);
  }
}

template <class Values>
auto value_of(std::string_view name, const Values& values) {
  const auto found = std::ranges::find(values, name, [](auto value) { return name_of(value); });
  if (found == values.end()) throw std::logic_error(fmt::format("dma variants: nothing is called '{}'", name));
  return *found;
}

DmaOptions options_of(std::string_view variant) {
  DmaOptions options{.host = DmaHost::node};
  options.prelaunch = variant.ends_with(kPrelaunched);
  if (options.prelaunch) variant.remove_suffix(kPrelaunched.size());
  options.variant = value_of(variant, kDmaVariants);
  return options;
}

std::string label_of(const PublishedFigure& figure) {
  const std::vector<std::string_view> words = words_of(figure.id);
  return fmt::format("{} {} {}", words[1], words[2], words[3]);
}

}  // namespace

DmaVariants::DmaVariants(PublishedFigures published) : cluster_(load_cluster(std::string(kSystem), {})) {
  for (const PublishedFigure& row : published.rows())
    add(row);
}

void DmaVariants::add(const PublishedFigure& of) {
  const std::vector<std::string_view> words = words_of(of.id);
  if (words.size() != 4 || words.front() != "dma") return;
  const auto kind = value_of(words[1], kCollectiveKinds);
  const Bytes bytes =
      words[2] == kLimit ? kLarge : Bytes{parse_quantity(std::string(words[2]), Dimension::bytes)};
  Run run{kind, bytes, options_of(words[3])};
  const std::size_t position = position_of(run);
  run.dma.variant = DmaVariant::pcpy;
  run.dma.prelaunch = false;
  cells_.push_back({of, position, position_of(run)});
}

std::size_t DmaVariants::position_of(const Run& run) {
  const auto found = std::ranges::find(runs_, run);
  if (found != runs_.end()) return static_cast<std::size_t>(found - runs_.begin());
  runs_.push_back(run);
  return runs_.size() - 1;
}

Seconds DmaVariants::run(std::size_t index) const {
  const Run& run = runs_[index];
  const MeasuredMethod how{.backend = Backend::dma, .dma = run.dma, .gap = Seconds{}};
  return measure_collective(cluster_, {run.kind, run.bytes}, how).time;
}

StudySection DmaVariants::section() const {
  StudySection section{.heading = "copy engines: speed-up over a copy for each peer", .lines = {}, .notes = {}};
  for (const Cell& cell : cells_) {
    const bool is_fitted = std::ranges::find(kFitted, cell.of.id) != kFitted.end();
    StudyLine line{.figure = {.of = cell.of, .kind = is_fitted ? FigureKind::fitted : FigureKind::predicted},
                   .label = label_of(cell.of),
                   .rows = 1};
    line.figure.simulated = runs_[cell.baseline].time / runs_[cell.run].time;
    section.lines.push_back(std::move(line));
  }
  return section;
}

StudySection dma_variants(const StudyProgress& progress) {
  DmaVariants variants{PublishedFigures(study_file("collectives", "dma_latte.csv"))};
  for (std::size_t i = 0; i < variants.runs(); ++i) {
    variants.take(i, variants.run(i));
    progress(i + 1, variants.runs());
  }
  return variants.section();
}

}}  // namespace c3::studies
