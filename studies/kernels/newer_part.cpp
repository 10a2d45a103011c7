#include <fmt/format.h>

#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "configs/presets/preset_store.hpp"
#include "gpu/kernels/attention/attention_shape.hpp"
#include "gpu/kernels/describe.hpp"
#include "studies/checked_row.hpp"
#include "studies/kernels/parts.hpp"
#include "studies/kernels/row_lines.hpp"
#include "studies/kernels/taken_rows.hpp"

namespace c3 { inline namespace studies {
namespace {

struct AttentionKind {
  std::string_view id, label, column;
  Pass pass;
};
constexpr std::array kAttentionKinds = {
    AttentionKind{"forward", "forward", "fwd_tflops", Pass::forward},
    AttentionKind{"backward.a16", "backward, 16-bit sums", "bwd_a16_tflops", Pass::backward},
    AttentionKind{"backward.a32", "backward, 32-bit sums", "bwd_a32_tflops", Pass::backward}};

/// The table counts half of the operations under a causal mask, and 2.5 times as many backward.
Flops counted_flops(const AttentionShape& shape) {
  const double products = shape.pass == Pass::forward ? 2.0 : 5.0;
  const double pairs = static_cast<double>(shape.batch * shape.heads * shape.queries) *
                       static_cast<double>(shape.keys) * (shape.causal ? 0.5 : 1.0);
  return Flops{products * 2.0 * pairs * static_cast<double>(shape.head_dim)};
}

class NewerPart : public StudyPart {
 public:
  explicit NewerPart(const std::filesystem::path& kernels) {
    const auto long_enough = [](const MeasuredKernel& kernel) { return kernel.time > kMostlyLaunch; };
    fp32_.measured_on(load_host("neusight").calls);  // H100's own host is not known
    fp32_.add(kernels / "neusight_h100_bmm_half.csv", "", long_enough);
    fp32_.measured_on(load_host("neusight-mi100").calls);
    for (const char* name : {"neusight_mi100_linear.csv", "neusight_mi100_bmm.csv"})
      fp32_.add(kernels / name, "", long_enough);
    read_attention(kernels / "aiter_attention_mi300x.csv");
  }

  void plan(Jobs& jobs) override {
    jobs.emplace_back([this] { shipped_ = predict_shipped(fp32_, any_row); });
    jobs.emplace_back([this] {
      const GpuSpec mi300x = load_gpu("mi300x");
      for (Attention& row : attention_)
        row.predicted = time_of(row.op, mi300x, {.launch = LaunchCost::device}).time;
    });
  }

  StudyReport sections(const PublishedFigures& published) const override {
    RowLines fp32(fp32_, published,
                  "FP32 products of other libraries and units, shipped coefficients: mean absolute error");
    const auto add = [&](std::string_view id, const char* label, const char* gpu,
                         std::string_view kernel_class) {
      fp32.add(id, label, FigureKind::fitted, shipped_, fp32_.on(gpu, [kernel_class](const MeasuredRow& row) {
        return row.kernel_class == kernel_class;
      }));
    };
    add("fp32.h100.bmm", "bmm, H100, a newer library's tiles", "h100-sxm", "bmm");
    add("fp32.mi100.linear", "linear, MI100, matrix units", "mi100", "linear");
    add("fp32.mi100.bmm", "bmm, MI100, matrix units", "mi100", "bmm");

    StudySection attention{
        .heading = "Attention on MI300X, 16 bits: mean absolute error",
        .notes = {"Two coefficients, of the forward and the backward pass, were chosen while looking at "
                  "these rows."}};
    for (std::size_t kind = 0; kind < kAttentionKinds.size(); ++kind) {
      Comparison comparison;
      for (const Attention& row : attention_)
        if (row.kind == kind) comparison.add({row.measured, row.predicted, shape_key(row.op)}, {});
      const AttentionKind& attention_kind = kAttentionKinds.at(kind);
      attention.lines.push_back(
          comparison.line(published.find(fmt::format("attention.mi300x.{}", attention_kind.id)),
                          FigureKind::fitted, std::string(attention_kind.label)));
    }
    return {fp32.section({"Longer than 100 us. The list of tiles is what the kernels of these rows are "
                          "called, on both GPUs. MI100: the rate of its matrix units was chosen after the "
                          "errors of all linear rows had been seen."}),
            attention};
  }

 private:
  /// A shape of attention and its rates, of which a table has both passes.
  struct Attention {
    Operator op;
    Seconds measured;
    std::size_t kind;  ///< of kAttentionKinds
    Seconds predicted = {};
  };

  void read_attention(const std::filesystem::path& file) {
    const HeadedTable rows(file);
    constexpr std::array<std::string_view, 2> kFlags = {"0", "1"};
    for (const HeadedTable::Row& table_row : rows.rows()) {
      const CheckedRow row(rows, table_row, "for attention as it was measured");
      const auto size = [&](std::string_view column) { return row.whole(column, kLargestSize); };
      AttentionShape shape{.batch = size("b"),
                           .heads = size("heads"),
                           .kv_heads = size("kv_heads"),
                           .queries = size("seq"),
                           .keys = size("kv_seq"),
                           .head_dim = size("head_dim"),
                           .causal = row.one_of("causal", kFlags) == 1};
      for (std::size_t kind = 0; kind < kAttentionKinds.size(); ++kind) {
        shape.pass = kAttentionKinds.at(kind).pass;
        const FlopsPerSecond rate{row.above_0(kAttentionKinds.at(kind).column) * 1e12};
        attention_.push_back({shape, counted_flops(shape) / rate, kind});
      }
    }
  }

  MeasuredRows fp32_;
  Predictions shipped_;
  std::vector<Attention> attention_;
};

}  // namespace

std::unique_ptr<StudyPart> newer_part(const std::filesystem::path& kernels) {
  return std::make_unique<NewerPart>(kernels);
}

}}  // namespace c3::studies
