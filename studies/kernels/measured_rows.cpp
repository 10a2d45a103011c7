#include "studies/kernels/measured_rows.hpp"

#include <algorithm>
#include <utility>

#include "engine/errors.hpp"
#include "gpu/kernels/describe.hpp"
#include "gpu/kernels/operator_table.hpp"
#include "gpu/kernels/vector/vector_shape.hpp"
#include "studies/kernels/protocol.hpp"

namespace c3 { inline namespace studies {
namespace {

bool can_hold(const GpuSpec& gpu, const Operator& op) {
  try {
    time_of(op, gpu);
    return true;
  } catch (const InfeasibleError&) {
    return false;
  }
}

}  // namespace

std::string kernel_class_of(const MeasuredKernel& kernel) {
  const auto* vector = kernel.op.as<VectorShape>();
  if (vector == nullptr) return kernel.kernel_class;
  switch (vector->chain.first()) {
    case VectorOp::softmax:
      return "softmax";
    case VectorOp::layernorm:
      return "layer norm";
    default:
      return "elementwise";
  }
}

void MeasuredRows::add(const std::filesystem::path& file, const std::string& gpu,
                       const std::function<bool(const MeasuredKernel&)>& wanted, bool only_fastest) {
  const MeasuredKernels table = read_measured_kernels(file, gpu);
  broken_ += table.broken.size();
  std::map<std::pair<std::size_t, std::uint64_t>, std::size_t> places;
  for (const MeasuredKernel& kernel : table.kernels) {
    if (!wanted(kernel)) continue;
    MeasuredRow row{
        {kernel.op, gpu_index(kernel.gpu), kernel.time, calls_}, kernel_class_of(kernel), kernel.train};
    if (!can_hold(gpus_[row.sample.gpu], kernel.op)) {
      impossible_.push_back(std::move(row));
      continue;
    }
    if (only_fastest) {
      const auto [place, is_new] = places.try_emplace({row.sample.gpu, shape_key(kernel.op)}, rows_.size());
      if (!is_new) {
        Seconds& time = rows_[place->second].sample.time;
        time = std::min(time, kernel.time);
        continue;
      }
    }
    rows_.push_back(std::move(row));
  }
}

std::size_t MeasuredRows::gpu_index(const std::string& name) {
  if (const auto known = find_gpu(name)) return *known;
  gpus_.push_back(in_burst(name));
  return gpus_.size() - 1;
}

std::optional<std::size_t> MeasuredRows::find_gpu(const std::string& name) const {
  const auto found = std::ranges::find(gpus_, name, &GpuSpec::name);
  return found == gpus_.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - gpus_.begin()));
}

std::vector<std::size_t> MeasuredRows::indices(const RowFilter& filter) const {
  std::vector<std::size_t> found;
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    if (filter(rows_[row])) found.push_back(row);
  }
  return found;
}

std::vector<KernelSample> MeasuredRows::samples(const std::vector<std::size_t>& rows) const {
  std::vector<KernelSample> found;
  found.reserve(rows.size());
  for (const std::size_t row : rows)
    found.push_back(rows_[row].sample);
  return found;
}

Comparison MeasuredRows::compare(const Predictions& predictions, const RowFilter& filter) const {
  Comparison comparison;
  for (const std::size_t row : indices(filter)) {
    const KernelSample& sample = rows_[row].sample;
    if (!predictions[row]) {
      comparison.skip();
      continue;
    }
    const GpuSpec& gpu = gpus_[sample.gpu];
    comparison.add({sample.time, *predictions[row], shape_key(sample.op)},
                   {{"roofline", roofline(describe(name_of(sample.op), sample.op, gpu), gpu)}});
  }
  for (const MeasuredRow& row : impossible_) {
    if (filter(row)) comparison.skip();
  }
  return comparison;
}

Predictions predict_shipped(const MeasuredRows& table, const RowFilter& filter) {
  Predictions predictions(table.rows().size());
  for (const std::size_t row : table.indices(filter)) {
    const KernelSample& sample = table.rows()[row].sample;
    predictions[row] = time_of(sample.op, table.gpus()[sample.gpu], {.calls = sample.calls}).time;
  }
  return predictions;
}

}}  // namespace c3::studies
