#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "configs/presets/preset_store.hpp"
#include "gpu/calibration/kernel_fit.hpp"
#include "gpu/kernels/describe.hpp"
#include "gpu/kernels/scan/causal_conv.hpp"
#include "gpu/kernels/scan/scan_shape.hpp"
#include "studies/checked_row.hpp"
#include "studies/comparison.hpp"
#include "studies/kernels/parts.hpp"
#include "studies/kernels/taken_rows.hpp"

namespace c3 { inline namespace studies {
namespace {

/// Calls of one library's kernels.
struct Library {
  std::string_view id, label;
};
constexpr std::array kLibraries = {
    Library{"scan.gated_delta", "gated delta rule, Triton kernels of SGLang"},
    Library{"scan.conv.sglang", "causal convolution, SGLang (channels last)"},
    Library{"scan.conv.vllm", "causal convolution, vLLM (channels last)"},
    Library{"scan.conv.mamba2", "causal convolution of Mamba-2, TensorRT-LLM (channels first)"}};
constexpr std::size_t kGatedDelta = 0, kSglang = 1, kVllm = 2, kMamba = 3;

constexpr std::int64_t kHeadDim = 128;      // of every Gated DeltaNet in the table
constexpr std::int64_t kMambaHeadDim = 64;  // of every Mamba-2 in its table

/// One call, which launches \p kernels one after another.
struct Call {
  std::size_t library;
  std::vector<Operator> kernels;
  Seconds measured;
  Seconds predicted = {}, roofline = {};
};

/// A fifth of the shapes: no coefficient has seen them.
bool is_kept_out(const Call& call) { return shape_key(call.kernels.front()) % 5 == 0; }

std::vector<Operator> gated_delta_of(const CheckedRow& row) {
  ScanShape shape{.batch = row.whole("batch_size", kLargestSize),
                  .length = row.whole("seq_len", kLargestSize),
                  .heads = row.whole("num_v_heads", kLargestSize),
                  .key_heads = row.whole("num_k_heads", kLargestSize),
                  .key_dim = kHeadDim,
                  .value_dim = kHeadDim,
                  .state = ScanState::carried};
  std::vector<Operator> kernels;
  for (const ScanStage stage : scan_stages(shape.rule, shape.pass)) {
    shape.stage = stage;
    kernels.emplace_back(shape);
  }
  return kernels;
}

CausalConvShape conv_of(const CheckedRow& row, std::int64_t channels, SequenceLayout layout) {
  return {.batch = row.whole("batch_size", kLargestSize),
          .length = row.whole("seq_len", kLargestSize),
          .channels = channels,
          .layout = layout};
}

/// Rows of prefill: decoding is no part of training.
bool is_context(const CheckedRow& row) { return row.cell("phase") == "context"; }

void read_gated_delta(const std::filesystem::path& file, std::vector<Call>& calls) {
  const HeadedTable table(file);
  for (const HeadedTable::Row& table_row : table.rows()) {
    const CheckedRow row(table, table_row, "for linear attention as it was measured");
    if (!is_context(row) || row.cell("op_name") != "gdn") continue;
    const Seconds time{row.above_0("us") * 1e-6};
    if (row.cell("kernel_source") == "chunk_gated_delta_rule")
      calls.push_back({kGatedDelta, gated_delta_of(row), time});
    if (row.cell("kernel_source") != "causal_conv1d_fn") continue;
    const std::int64_t heads =
        2 * row.whole("num_k_heads", kLargestSize) + row.whole("num_v_heads", kLargestSize);
    const std::size_t library = row.cell("framework") == "SGLang" ? kSglang : kVllm;
    calls.push_back({library, {conv_of(row, heads * kHeadDim, SequenceLayout::channels_last)}, time});
  }
}

void read_mamba(const std::filesystem::path& file, std::vector<Call>& calls) {
  const HeadedTable table(file);
  for (const HeadedTable::Row& table_row : table.rows()) {
    const CheckedRow row(table, table_row, "for Mamba-2 as it was measured");
    if (!is_context(row)) continue;
    const std::int64_t channels = row.whole("nheads", kLargestSize) * kMambaHeadDim +
                                  2 * row.whole("n_groups", kLargestSize) * row.whole("d_state", kLargestSize);
    calls.push_back(
        {kMamba, {conv_of(row, channels, SequenceLayout::channels_first)}, Seconds{row.above_0("us") * 1e-6}});
  }
}

class ScanPart : public StudyPart {
 public:
  explicit ScanPart(const std::filesystem::path& kernels) {
    read_gated_delta(kernels / "linear_attention_h100.csv", calls_);
    read_mamba(kernels / "mamba2_h100.csv", calls_);
  }

  void plan(Jobs& jobs) override {
    jobs.emplace_back([this] {
      const GpuSpec h100 = load_gpu("h100-sxm");
      for (Call& call : calls_)
        for (const Operator& kernel : call.kernels) {
          call.predicted += c3::time_of(kernel, h100).time;
          call.roofline += roofline(describe("kernel", kernel, h100), h100);
        }
    });
  }

  StudyReport sections(const PublishedFigures& published) const override {
    StudySection section{
        .heading = "Recurrences and causal convolutions on H100, forward, bf16: mean absolute error",
        .notes = {"A call with all its kernels, in a graph. Two coefficients were fitted to rows of the gated "
                  "delta rule, one to "
                  "convolutions with channels last; a fifth of the shapes, by a hash of them, is kept out."}};
    for (const bool kept_out : {true, false}) {
      for (std::size_t library = 0; library < kLibraries.size(); ++library) {
        Comparison comparison;
        for (const Call& call : calls_)
          if (call.library == library && is_kept_out(call) == kept_out)
            comparison.add({call.measured, call.predicted, shape_key(call.kernels.front())},
                           {{"roofline", call.roofline}});
        const Library& named_library = kLibraries.at(library);
        section.lines.push_back(comparison.line(
            published.find(std::string(named_library.id) + (kept_out ? ".kept_out" : ".fitted")),
            FigureKind::fitted, std::string(named_library.label) + (kept_out ? ", kept out" : ", fitted")));
      }
    }
    return {section};
  }

 private:
  std::vector<Call> calls_;
};

}  // namespace

std::unique_ptr<StudyPart> scan_part(const std::filesystem::path& kernels) {
  return std::make_unique<ScanPart>(kernels);
}

}}  // namespace c3::studies
