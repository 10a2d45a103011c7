#include "configs/jobs/measure_reader.hpp"

#include <memory>

#include "configs/fields/measure_fields.hpp"

namespace c3 { inline namespace configs {
namespace {

/// A step has hundreds of kernels without a matrix product for each that has one.
bool is_step(Section& root) {
  return root.has("training") || root.has("recurrent") || root.has("image_network");
}

KernelGrain usual_vector_grain(Section& root, KernelGrain kernel_grain) {
  return is_step(root) ? KernelGrain::fluid : kernel_grain;
}

/// The kernels of a step repeat, in few situations.
KernelGrain usual_kernel_grain(Section& root) {
  return is_step(root) ? KernelGrain::automatic : KernelGrain::cohort;
}

void refuse_former_keys(const Section& section) {
  if (section.holds("exact"))
    section.fail("exact", "is now 'estimate': \"none\" for true, \"steady\" for false");
}

}  // namespace

WrittenMeasure read_measure(Section& root) {
  WrittenMeasure written;
  Measure& measure = written.measure;
  measure.kernel_grain = usual_kernel_grain(root);
  measure.vector_grain = usual_vector_grain(root, measure.kernel_grain);
  measure.loss_split = !root.has("training") && !root.has("image_network");
  const bool is_there = root.has("measure");
  root.explain("measure", "how often the experiment is run, and how finely it is simulated");
  if (!is_there) return written;
  Section section = root.table("measure");
  section.gather_conflicts();
  refuse_former_keys(section);
  read_fields(section, measure, kMeasureFields);
  written.has_seeds = section.has("seeds");
  if (!section.has("vector_grain")) measure.vector_grain = usual_vector_grain(root, measure.kernel_grain);
  if (!measure.alone && measure.loss_split)
    section.refuse("alone", "false requires loss_split = false, which needs the sides alone");
  // Not where `estimate` is written: `run --exact` sets it to "none" in files that give the error of "stem".
  if (section.has("estimate_error") && !section.has("estimate"))
    section.refuse("estimate_error", "requires estimate = \"stem\" (it is not set)");
  section.finish();
  return written;
}

Table measure_table(const Measure& measure, const Table* written) {
  static const Origin kDefault = {std::make_shared<const std::string>("default"), 0, 0};
  Table table;
  for (const Field<Measure>& field : kMeasureFields) {
    const Node* given = written == nullptr ? nullptr : written->find(field.key);
    const Origin& at = given == nullptr ? kDefault : given->origin;
    table.put(field.key, at, Node{node_of(field.value(measure)).value, at});
  }
  return table;
}

}}  // namespace c3::configs
