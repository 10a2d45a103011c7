#include "studies/kernels/newer_part.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <utility>

#include "configs/presets/preset_store.hpp"
#include "gpu/calibration/kernel_fit.hpp"
#include "gpu/kernels/attention/attention_shape.hpp"
#include "gpu/kernels/describe.hpp"
#include "studies/checked_row.hpp"
#include "studies/comparison.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr Seconds kLeastTime = 100.0_us;  // shorter ones are mostly the host's launch
constexpr std::int64_t kLargest = std::int64_t{1} << 40U;

struct Fp32Figure {
  std::string_view id, label, gpu, kernel_class;
};
constexpr std::array kFp32 = {
    Fp32Figure{"fp32.h100.bmm", "bmm, H100, a newer library's tiles", "h100-sxm", "bmm"},
    Fp32Figure{"fp32.mi100.linear", "linear, MI100, matrix units", "mi100", "linear"},
    Fp32Figure{"fp32.mi100.bmm", "bmm, MI100, matrix units", "mi100", "bmm"}};

struct AttentionKind {
  std::string_view id, label, column;
  Pass pass;
};
constexpr std::array kAttentionKinds = {
    AttentionKind{"forward", "forward", "fwd_tflops", Pass::forward},
    AttentionKind{"backward.a16", "backward, 16-bit sums", "bwd_a16_tflops", Pass::backward},
    AttentionKind{"backward.a32", "backward, 32-bit sums", "bwd_a32_tflops", Pass::backward}};

}  // namespace

NewerPart::NewerPart(const std::filesystem::path& kernels) : mi300x_(load_gpu("mi300x")) {
  const auto long_enough = [](const MeasuredKernel& kernel) { return kernel.time > kLeastTime; };
  fp32_.measured_on(load_host("neusight").calls);  // H100's own host is not known
  fp32_.add(kernels / "neusight_h100_bmm_half.csv", "", long_enough);
  fp32_.measured_on(load_host("neusight-mi100").calls);
  for (const char* name : {"neusight_mi100_linear.csv", "neusight_mi100_bmm.csv"})
    fp32_.add(kernels / name, "", long_enough);
  read_attention(kernels / "aiter_attention_mi300x.csv");
}

// The table counts half of the operations under a causal mask, and 2.5 times as many backward.
void NewerPart::read_attention(const std::filesystem::path& file) {
  const HeadedTable rows(file);
  constexpr std::array<std::string_view, 2> kFlags = {"0", "1"};
  for (const HeadedTable::Row& each : rows.rows()) {
    const CheckedRow row(rows, each, "for attention as it was measured");
    AttentionShape shape{.batch = row.whole("b", kLargest),
                         .heads = row.whole("heads", kLargest),
                         .kv_heads = row.whole("kv_heads", kLargest),
                         .queries = row.whole("seq", kLargest),
                         .keys = row.whole("kv_seq", kLargest),
                         .head_dim = row.whole("head_dim", kLargest),
                         .causal = row.one_of("causal", kFlags) == 1};
    for (std::size_t kind = 0; kind < kAttentionKinds.size(); ++kind) {
      shape.pass = kAttentionKinds.at(kind).pass;
      const double products = shape.pass == Pass::forward ? 2.0 : 5.0;
      const double pairs = static_cast<double>(shape.batch * shape.heads * shape.queries) *
                           static_cast<double>(shape.keys) * (shape.causal ? 0.5 : 1.0);
      const Flops flops{products * 2.0 * pairs * static_cast<double>(shape.head_dim)};
      const FlopsPerSecond rate{row.above_0(kAttentionKinds.at(kind).column) * 1e12};
      attention_.push_back({shape, flops / rate, kind});
    }
  }
}

void NewerPart::plan(Jobs& jobs) {
  jobs.emplace_back([this] { shipped_ = predict_shipped(fp32_, [](const MeasuredRow&) { return true; }); });
  jobs.emplace_back([this] {
    for (Attention& row : attention_)
      row.predicted = time_of(row.op, mi300x_, {.launch = LaunchCost::device}).time;
  });
}

StudyReport NewerPart::sections(const PublishedFigures& published) const {
  StudySection fp32;
  fp32.heading = "FP32 products of other libraries and units, shipped coefficients: mean absolute error";
  for (const Fp32Figure& of : kFp32) {
    const Comparison comparison = fp32_.compare(shipped_, [&](const MeasuredRow& row) {
      return row.kernel_class == of.kernel_class && fp32_.gpus()[row.sample.gpu].name == of.gpu;
    });
    fp32.lines.push_back(comparison.line(published.find(of.id), FigureKind::fitted, std::string(of.label)));
  }
  fp32.notes = {
      "Longer than 100 us. The list of tiles is what the kernels of these rows are called, on both GPUs. "
      "MI100: "
      "the rate of its matrix units was chosen after the errors of all linear rows had been seen."};

  StudySection attention;
  attention.heading = "Attention on MI300X, 16 bits: mean absolute error";
  for (std::size_t kind = 0; kind < kAttentionKinds.size(); ++kind) {
    Comparison comparison;
    for (const Attention& row : attention_) {
      if (row.kind == kind) comparison.add({row.measured, row.predicted, shape_key(row.op)}, {});
    }
    const AttentionKind& of = kAttentionKinds.at(kind);
    attention.lines.push_back(comparison.line(published.find(fmt::format("attention.mi300x.{}", of.id)),
                                              FigureKind::fitted, std::string(of.label)));
  }
  attention.notes = {
      "Two coefficients, of the forward and the backward pass, were chosen while looking at these rows."};
  return {fp32, attention};
}

}}  // namespace c3::studies
