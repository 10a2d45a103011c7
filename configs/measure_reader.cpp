#include "configs/measure_reader.hpp"

#include <array>
#include <memory>
#include <stdexcept>
#include <utility>

namespace c3::inline configs {
namespace {

constexpr std::int64_t kMostRuns = 1000;
constexpr std::int64_t kLargestSeed = (std::int64_t{1} << 53) - 1;

/// A training step has hundreds of kernels without a matrix product for each that has one.
KernelGrain usual_vector_grain(Section& root, KernelGrain kernel_grain) {
  return root.has("training") ? KernelGrain::fluid : kernel_grain;
}

}  // namespace

WrittenMeasure read_measure(Section& root) {
  WrittenMeasure written;
  Measure& measure = written.measure;
  measure.vector_grain = usual_vector_grain(root, measure.kernel_grain);
  measure.loss_split = !root.has("training");
  if (!root.has("measure")) return written;
  Section section = root.table("measure");
  written.has_seeds = section.has("seeds");
  if (written.has_seeds) measure.seeds = static_cast<int>(section.integer("seeds", 1, kMostRuns));
  if (section.has("draws")) measure.draws = static_cast<int>(section.integer("draws", 0, kMostRuns));
  if (section.has("seed")) measure.seed = static_cast<std::uint64_t>(section.integer("seed", 0, kLargestSeed));
  if (section.has("loss_split")) measure.loss_split = section.flag("loss_split");
  if (section.has("kernel_grain")) {
    measure.kernel_grain = section.choice<KernelGrain>("kernel_grain");
  }
  measure.vector_grain = section.has("vector_grain") ? section.choice<KernelGrain>("vector_grain")
                                                     : usual_vector_grain(root, measure.kernel_grain);
  if (section.has("collective_grain")) {
    measure.collective_grain = section.choice<CollectiveGrain>("collective_grain");
  }
  if (section.has("exact")) measure.exact = section.flag("exact");
  if (section.has("fold")) measure.fold = section.flag("fold");
  section.finish();
  return written;
}

Table measure_table(const Measure& measure, const Table* written) {
  static const Origin kDefault = {std::make_shared<const std::string>("default"), 0, 0};
  Table table;
  const auto put = [&](std::string_view key, auto value) {
    const Node* given = written == nullptr ? nullptr : written->find(key);
    const Origin& at = given == nullptr ? kDefault : given->origin;
    table.put(key, at, Node{std::move(value), at});
  };
  put("seeds", std::int64_t{measure.seeds});
  put("draws", std::int64_t{measure.draws});
  put("seed", static_cast<std::int64_t>(measure.seed));
  put("loss_split", measure.loss_split);
  put("kernel_grain", std::string(name_of(measure.kernel_grain)));
  put("vector_grain", std::string(name_of(measure.vector_grain)));
  put("collective_grain", std::string(name_of(measure.collective_grain)));
  put("exact", measure.exact);
  put("fold", measure.fold);
  return table;
}

}  // namespace c3::configs
