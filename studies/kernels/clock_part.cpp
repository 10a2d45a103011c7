#include <fmt/format.h>

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "base/enum_names.hpp"
#include "gpu/kernels/stream_times.hpp"
#include "studies/kernels/levels.hpp"
#include "studies/kernels/parts.hpp"
#include "studies/kernels/taken_rows.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr std::size_t kFewestInBin = 20;
// What SimuMax's repository says of this node's products after 25 to 50 ms: 0.45 to 0.51 of 2,250 TFLOP/s
// (MooreThreads/SimuMax commit 4dcaae51, configs/system/b200_bf16_ceperm.json).
constexpr double kNodeLevel = 0.48;
constexpr double kNodeRepeats = 25;  // untimed calls of each product; 75 timed ones follow
constexpr double kNodeTimed = 75;

bool is_bf16(const TakenRow& row) { return row.shape.dtype == DType::bf16; }

/// Big enough for its rate to be the GPU's level: tiles and launches hardly count.
bool shows_level(const TakenRow& row) {
  const GemmShape& shape = row.shape;
  return is_bf16(row) && row.repetition == Repetition::six && row.collector != Collector::vllm &&
         shape.m >= 1024 && shape.m % 256 == 0 && shape.n >= 2048 && shape.k >= 2048;
}

TakenFilter by_tensorrt(Repetition repetition, bool large) {
  return [repetition, large](const TakenRow& row) {
    return is_bf16(row) && row.collector == Collector::tensorrt_llm && row.repetition == repetition &&
           (!large || is_large(row.shape));
  };
}

struct Bin {
  double low, high;

  bool holds(double value) const { return low <= value && value < high; }
  std::string name() const {
    return high >= 1e9 ? fmt::format("from {:g}", low) : fmt::format("{:g} to {:g}", low, high);
  }
};
constexpr std::array kBusyBins = {Bin{2, 5},     Bin{5, 10},    Bin{10, 20},   Bin{20, 50},  Bin{50, 100},
                                  Bin{100, 200}, Bin{200, 400}, Bin{400, 800}, Bin{800, 1e9}};  // ms
constexpr std::array kBurstBins = {Bin{0, 20},    Bin{20, 50},    Bin{50, 100},    Bin{100, 200},
                                   Bin{200, 500}, Bin{500, 1000}, Bin{1000, 2000}, Bin{2000, 5000}};  // us

struct ClockTable {
  std::string id;  ///< in figures
  GpuSpec gpu;
  std::vector<TakenRow> rows;
};

/// Products of one training run on a B200 node, whose large ones settle at kNodeLevel.
ClockTable read_node(const std::filesystem::path& file) {
  constexpr std::array<std::string_view, 3> kLayouts = {"TN", "NN", "NT"};
  ClockTable node{"node", in_burst("b200-sxm"), {}};
  node.gpu.governor.level = kNodeLevel * matrix_rate(node.gpu, DType::bf16).peak;
  const HeadedTable rows(file);
  for (const HeadedTable::Row& table_row : rows.rows()) {
    const CheckedRow row(rows, table_row, "for a product as it was measured");
    TakenRow taken{.shape = shape_in(row, DType::bf16), .measured = row.above_0("ms") * 1.0_ms};
    taken.shape.batch = row.whole("b", kLargestSize);
    taken.shape.layout = static_cast<GemmLayout>(row.one_of("layout", kLayouts));
    node.rows.push_back(taken);
  }
  return node;
}

/// One buffer of each operand, untimed and timed calls; the products of the table follow one another.
Seconds time_on_node(GemmShape shape, const GpuSpec& gpu) {
  shape.warm = WarmOperands::all;
  const std::array<Operator, 1> kernels = {shape};
  const GovernedTimes times = stream_times(kernels, gpu);
  return measured_time(times.burst, times.sustained, times.to_limit,
                       {.before = kNodeRepeats, .timed = kNodeTimed});
}

class ClockPart : public StudyPart {
 public:
  explicit ClockPart(const std::filesystem::path& kernels)
      : a100_{"a100", in_burst("a100-sxm-80gb"), read_taken(kernels / "gemm_a100_sxm.csv")},
        h100_{"h100", in_burst("h100-sxm"), read_taken(kernels / "gemm_h100_sxm.csv")},
        b200_{"b200", in_burst("b200-sxm"), read_taken_pairs(kernels / "gemm_b200_burst_and_sustained.csv")},
        node_(read_node(kernels / "simumax_b200_gemm.csv")) {}

  void plan(Jobs& jobs) override {
    for (ClockTable* table : {&h100_, &a100_, &b200_}) {
      jobs.emplace_back([table] {
        for (TakenRow& row : table->rows)
          row.predicted = taken_time(row, table->gpu);
      });
    }
    jobs.emplace_back([this] {
      for (TakenRow& row : node_.rows)
        row.predicted = time_on_node(row.shape, node_.gpu);
    });
  }

  StudyReport sections(const PublishedFigures& published) const override {
    StudyReport report = {pairs(published), levels(published), small(published), node(published),
                          quantised(published)};
    std::erase_if(report,
                  [](const StudySection& section) { return section.lines.empty(); });  // bins of too few rows
    return report;
  }

 private:
  StudySection pairs(const PublishedFigures& published) const {
    StudySection section{
        .heading = "B200, TensorRT-LLM's BF16 products, burst and sustained",
        .notes = {"A row is scored by the same repeats of the model: 12 calls from idle, or a second of them. "
                  "Ratios: the median here less the measured one."}};
    for (const bool large : {true, false}) {
      const std::string which = large ? "" : ".all";
      const std::string words = large ? ", m, n and k at least 512" : ", all shapes";
      section.lines.push_back(mean_error(published.find("clock.b200.burst" + which), "burst" + words,
                                         b200_.rows, by_tensorrt(Repetition::six, large)));
      section.lines.push_back(mean_error(published.find("clock.b200.sustained" + which), "one second" + words,
                                         b200_.rows, by_tensorrt(Repetition::one_second, large)));
    }
    for (const Bin& bin : kBurstBins) {
      Medians ratios;
      for (std::size_t row = 0; row + 1 < b200_.rows.size(); row += 2) {
        const TakenRow& burst = b200_.rows[row];
        const TakenRow& sustained = b200_.rows[row + 1];
        if (!by_tensorrt(Repetition::six, true)(burst) || !bin.holds(burst.measured.value * 1e6)) continue;
        ratios.here.push_back(sustained.predicted / burst.predicted);
        ratios.measured.push_back(sustained.measured / burst.measured);
      }
      if (ratios.here.size() < kFewestInBin) continue;
      section.lines.push_back(median_against(published.find(fmt::format("clock.b200.ratio.{:g}us", bin.low)),
                                             fmt::format("sustained / burst, {} us, points", bin.name()),
                                             ratios, false));
    }
    return section;
  }

  StudySection levels(const PublishedFigures& published) const {
    StudySection section{.heading = "Rate of large products by busy time: median against the measured",
                         .notes = {"m at least 1,024 and a multiple of 256, n and k at least 2,048."}};
    for (const ClockTable* table : {&h100_, &a100_, &b200_}) {
      for (const Bin& bin : kBusyBins) {
        Medians rates;
        for (const TakenRow& row : table->rows) {
          if (!shows_level(row) || !bin.holds(busy_time(row, table->gpu, row.measured).value * 1e3)) continue;
          rates.here.push_back(flops_of(row.shape) / row.predicted.value);
          rates.measured.push_back(flops_of(row.shape) / row.measured.value);
        }
        if (rates.here.size() < kFewestInBin) continue;
        section.lines.push_back(
            median_against(published.find(fmt::format("clock.level.{}.{:g}ms", table->id, bin.low)),
                           fmt::format("{}, busy {} ms", table->id, bin.name()), rates, true));
      }
    }
    return section;
  }

  StudySection small(const PublishedFigures& published) const {
    StudySection section{.heading = "Small products in BF16, below 10 GFLOP, m, n and k at least 512: error"};
    const auto select = [](const TakenRow& row) {
      return is_bf16(row) && row.repetition == Repetition::six && row.collector != Collector::vllm &&
             is_large(row.shape) && flops_of(row.shape) < 10e9;
    };
    for (const ClockTable* table : {&h100_, &b200_, &a100_}) {
      section.lines.push_back(
          mean_error(published.find("small." + table->id), table->id + ", mean absolute", table->rows, select));
      section.lines.push_back(signed_error(published.find("small.signed." + table->id), table->id + ", signed",
                                           table->rows, select));
    }
    return section;
  }

  StudySection node(const PublishedFigures& published) const {
    const auto any = [](const TakenRow&) { return true; };
    StudySection section{
        .heading =
            "Products of a training run on one B200 node, isolated, with the node's level as input: error",
        .lines = {mean_error(published.find("node.b200"), "all products, mean absolute", node_.rows, any),
                  signed_error(published.find("node.signed.b200"), "all products, signed", node_.rows, any)},
        .notes = {"Input: that large products settle at 0.48 of the peak on this node. What gradients of "
                  "weights (nt) take longer is from the same rows."}};
    constexpr double kLong = 300e9;  // flops: the layout's part is not hidden by anything else
    for (const GemmLayout layout : enum_values<GemmLayout>())
      section.lines.push_back(signed_error(published.find(fmt::format("node.signed.{}", name_of(layout))),
                                           fmt::format("{}, from 300 GFLOP, signed", name_of(layout)),
                                           node_.rows, [layout](const TakenRow& row) {
                                             return row.shape.layout == layout && flops_of(row.shape) >= kLong;
                                           }));
    return section;
  }

  StudySection quantised(const PublishedFigures& published) const {
    StudySection section{
        .heading = "Products in FP8 with the two kernels that quantise the activations: mean absolute error"};
    const auto fp8 = [](const TakenRow& row) {
      return row.shape.dtype == DType::fp8 && row.repetition == Repetition::six;
    };
    const auto large = [fp8](const TakenRow& row) { return fp8(row) && is_large(row.shape); };
    for (const ClockTable* table : {&h100_, &b200_}) {
      section.lines.push_back(mean_error(published.find("fp8.quantised." + table->id),
                                         table->id + ", all shapes", table->rows, fp8));
      section.lines.push_back(mean_error(published.find("fp8.quantised.large." + table->id),
                                         table->id + ", m, n and k at least 512", table->rows, large));
    }
    return section;
  }

  ClockTable a100_, h100_, b200_, node_;
};

}  // namespace

std::unique_ptr<StudyPart> clock_part(const std::filesystem::path& kernels) {
  return std::make_unique<ClockPart>(kernels);
}

}}  // namespace c3::studies
