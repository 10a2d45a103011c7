// A better rate never makes a kernel slower: over every preset of a GPU, every rate that its keys have, and
// every class of operators. C3SIM_ATTACK=whole takes all of the drawn shapes for each key of each preset.

#include <doctest/doctest.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "configs/fields/gpu_fields.hpp"
#include "configs/presets/preset_store.hpp"
#include "configs/toml/config_error.hpp"
#include "configs/toml/quantity_text.hpp"
#include "engine/errors.hpp"
#include "gpu/clock/governor.hpp"
#include "gpu/kernels/describe.hpp"
#include "gpu/kernels/gemm/gemm_choice.hpp"
#include "gpu/kernels/kernel_bound.hpp"
#include "gpu/kernels/stream_times.hpp"
#include "tests/support/drawn_shapes.hpp"

namespace c3::test::monotony_test { namespace {

constexpr int kShapesOfClass = 200;
constexpr double kPinned = 0.001;  // by which a time may rise with the same kernels
constexpr double kFree = 0.01;     // and where they are chosen again
// A stream is slowed down by its mean power at boost clock, which rises as its kernels lose what they wait for
// beside arithmetic: a board at its limit can lose a little by a faster memory or a shorter launch.
constexpr double kUnderPowerLimit = 0.01;

/// A key whose better rate may lengthen a time: how much, and why.
struct Exception {
  double slower;
  std::string_view why;
};
const std::map<std::string, Exception> kExceptions = {
    {"fp8_peak", {0.005, "scales of blocks are added by vector units, as if staging slowed these as well"}},
    {"fp4_peak", {0.005, "as fp8_peak"}},
    {"hbm_read", {0.02, "the copy rate stays, so that turning from reads to writes costs more"}},
    {"hbm_write", {0.02, "as hbm_read"}},
    {"hbm_latency",
     {0.003,
      "first loads that queue wait for longer than a shorter latency, and steps of K get no shorter by it"}},
    {"cus_per_xcd",
     {0.3, "in fewer waves loads and stores meet less, and more tiles and rows evict one another"}}};

/// Numbers for which less is better, or neither more nor less is. Why: beside each.
const std::set<std::string> kLessIsBetter = {"power_idle"};  // it leaves less of the limit to arithmetic
const std::set<std::string> kNeither = {
    "power_averaging",  // how long the limit takes to act; the time of a stream in the long run has none
};

/// A rate of a preset, and how a file makes it \p factor times as good.
struct Rate {
  std::string key;
  double value;
  std::optional<Dimension> dimension;  ///< none: a count, or a what-if factor
  bool is_whole = false;

  std::string better(double factor) const {
    const bool less = dimension == Dimension::duration || kLessIsBetter.contains(key);
    const double number = less ? value / factor : value * factor;
    if (is_whole) return fmt::format("gpu.{}={}", key, static_cast<std::int64_t>(std::ceil(number)));
    if (!dimension) return fmt::format("gpu.{}={}", key, number);
    return fmt::format("gpu.{}=\"{} {}\"", key, number, base_unit(*dimension));
  }
};

template <class Spec>
void add_scales(std::set<std::string>& scales, const Spec& fields) {
  for (const auto& field : fields)
    if (!field.scale.empty()) scales.emplace(field.scale);
}

/// Every number with a unit but sizes, from the tables of keys; the factors that these tables name; counts.
std::vector<Rate> rates_of(GpuSpec gpu) {
  std::vector<Rate> rates;
  each_quantity(gpu, [&](const std::string& key, QuantityOf quantity) {
    const bool is_rate = quantity.dimension != Dimension::bytes && !kNeither.contains(key);
    if (is_rate && std::isfinite(*quantity.value) && *quantity.value > 0.0)
      rates.push_back({.key = key, .value = *quantity.value, .dimension = quantity.dimension});
  });
  std::set<std::string> scales;
  add_scales(scales, kMatrixFields);
  add_scales(scales, kHbmFields);
  add_scales(scales, kHbmRateFields);
  add_scales(scales, kGovernorFields);
  for (const std::string& scale : scales)
    rates.push_back({.key = scale, .value = 1.0, .dimension = {}});
  const auto count = [&](const std::string& key, int value) {
    if (value > 0)
      rates.push_back({.key = key, .value = static_cast<double>(value), .dimension = {}, .is_whole = true});
  };
  count("cus_per_xcd", gpu.compute.cus_per_xcd);
  count("dma_engines", gpu.dma.engines);
  count("issue_lanes", gpu.family.issue_lanes);
  return rates;
}

/// The GPU with the rate so much better, or as much as its other keys allow: none may be above its peak.
std::optional<GpuSpec> better_gpu(const std::string& preset, const Rate& rate, double factor) {
  for (const double tried : {factor, 1.0 + 0.25 * (factor - 1.0), 1.02}) {
    try {
      return load_gpu(preset, std::vector<std::string>{rate.better(tried)});
    } catch (const ConfigError&) {
      continue;
    }
  }
  return std::nullopt;
}

/// A library that has the kernel of one plan.
class OnePlan final : public LibraryChoice {
 public:
  explicit OnePlan(const GemmPlan& plan) : kernel_{plan.tile.m, plan.tile.n, plan.tile.k, plan.split} {}
  std::optional<LibraryGemm> kernel_for(const GemmShape&, const GpuSpec&) const override { return kernel_; }

 private:
  LibraryGemm kernel_;
};

/// An operator on a preset as it is.
struct Case {
  Operator op;
  std::optional<double> time;                   ///< s; none: the GPU cannot run it
  std::shared_ptr<const LibraryChoice> pinned;  ///< of products, what is chosen there
  bool is_hot = false;                          ///< a stream of it is at the power limit
};

std::optional<double> seconds(const Operator& op, const GpuSpec& gpu) {
  try {
    return time_of(op, gpu).time.value;
  } catch (const InfeasibleError&) {
    return std::nullopt;
  }
}

Case case_of(const Operator& op, const GpuSpec& gpu) {
  Case found{.op = op, .time = seconds(op, gpu), .pinned = nullptr};
  const GemmShape* const shape = op.as<GemmShape>();
  if (found.time) {
    const GovernedTimes stream = stream_times({&op, 1}, gpu);
    found.is_hot = stream.sustained > stream.burst || stream.power > power_limit(gpu);
  }
  if (found.time && shape != nullptr) found.pinned = std::make_shared<OnePlan>(plan_gemm(*shape, gpu));
  return found;
}

/// What was covered, and what was found to be slower.
class Findings {
 public:
  void take(const std::string& preset, const std::string& key, const std::string& change, const Case& before,
            double after, bool free) {
    ++times_;
    classes_.emplace(before.op.of_class().name);
    const double slower = after / *before.time - 1.0;
    const auto exception = kExceptions.find(key);
    const double by_key = exception == kExceptions.end() ? 0.0 : exception->second.slower;
    if (slower <= std::max({free ? kFree : kPinned, before.is_hot ? kUnderPowerLimit : 0.0, by_key})) return;
    lines_.emplace(-slower, fmt::format("{} {}: {} {}: {:.2f} -> {:.2f} us, {}", preset, change,
                                        name_of(before.op), before.op.of_class().shape_text(before.op),
                                        *before.time * 1e6, after * 1e6, free ? "chosen again" : "pinned"));
  }
  void covered(const std::string& preset, const std::string& key) {
    presets_.emplace(preset);
    keys_.emplace(key);
  }
  void print() const {
    constexpr std::size_t kShown = 40;
    for (const auto& [key, exception] : kExceptions)
      fmt::print("{} may cost {:.3g} %: {}\n", key, 100.0 * exception.slower, exception.why);
    fmt::print("covered: {} keys x {} classes x {} presets, {} times\n", keys_.size(), classes_.size(),
               presets_.size(), times_);
    std::size_t shown = 0;
    for (const auto& [slower, line] : lines_)
      if (++shown <= kShown) fmt::print("{:.2f} % slower: {}\n", -100.0 * slower, line);
  }
  std::size_t slower() const { return lines_.size(); }
  std::size_t classes() const { return classes_.size(); }

 private:
  std::multimap<double, std::string> lines_;  ///< the worst first
  std::set<std::string> presets_, keys_, classes_;
  std::size_t times_ = 0;
};

/// So many shapes of each class for one key of one preset.
std::size_t shapes_of_cell() {
  const char* const attack = std::getenv("C3SIM_ATTACK");
  return attack != nullptr && std::string(attack) == "whole" ? kShapesOfClass : 3;
}

TEST_CASE("a better rate never makes a kernel slower: every preset, key and class") {
  ShapeDraw draw(56);
  std::vector<std::vector<Operator>> shapes;
  for (const OperatorClass* operator_class : operator_classes()) {
    shapes.emplace_back();
    for (int i = 0; i < kShapesOfClass; ++i)
      shapes.back().push_back(draw.operator_of_class(*operator_class));
  }
  const PresetSnapshot snapshot;
  Findings findings;
  std::size_t turn = 0;  // goes round all shapes, whatever is drawn for a cell
  for (const std::string& preset : preset_names(PresetKind::gpu)) {
    const GpuSpec gpu = load_gpu(preset);
    std::map<std::pair<std::size_t, std::size_t>, Case> cases;
    for (const Rate& rate : rates_of(gpu)) {
      const double factor = draw.between(1.02, 4.0);
      const std::optional<GpuSpec> better = better_gpu(preset, rate, factor);
      if (!better) continue;
      findings.covered(preset, rate.key);
      GpuSpec pinned = *better;
      for (std::size_t i = 0; i < shapes.size(); ++i) {
        for (std::size_t drawn = 0; drawn < shapes_of_cell(); ++drawn) {
          const std::size_t at = turn++ % kShapesOfClass;
          auto known = cases.find({i, at});
          if (known == cases.end()) known = cases.emplace(std::pair{i, at}, case_of(shapes[i][at], gpu)).first;
          const Case& before = known->second;
          if (!before.time) continue;
          pinned.library_choice = before.pinned;
          const std::string change = rate.better(factor);
          if (before.pinned)
            findings.take(preset, rate.key, change, before, seconds(before.op, pinned).value(), /*free=*/false);
          const bool chooses = before.op.of_class().describe_tuned != nullptr;
          findings.take(preset, rate.key, change, before, seconds(before.op, *better).value(), chooses);
        }
      }
    }
  }
  findings.print();
  CHECK(findings.slower() == 0);
  CHECK(findings.classes() == operator_classes().size());
}

/// Rates of a GPU one after another, each above the one before.
struct Ladder {
  const char* gpu;
  GemmShape shape;
  std::vector<std::string> sets;
};

TEST_CASE("products that a faster GPU made slower: tiles that lost by the simulator's own times") {
  const auto scales = [](const std::string& key, const std::vector<double>& factors) {
    std::vector<std::string> sets;
    for (const double factor : factors)
      sets.push_back(fmt::format("gpu.{}={}", key, factor));
    return sets;
  };
  const std::vector<double> several = {1.0, 1.25, 1.3, 1.8, 2.0, 3.0};
  const GemmShape cube{.m = 8192, .n = 8192, .k = 8192};
  const GemmShape narrow{.m = 16384, .n = 16384, .k = 8192, .dtype = DType::fp4, .scales = GemmScales::nv};
  const std::vector<Ladder> ladders = {
      {"b200-sxm", cube, scales("flops_scale", several)},
      {"gb300", cube, scales("flops_scale", several)},
      {"b200-sxm", {.m = 3072, .n = 4096, .k = 8192}, scales("hbm_scale", {1.0, 1.1, 1.2, 1.5})},
      {"h200-sxm", {.m = 11008, .n = 5120, .k = 16384}, scales("flops_scale", {1.0, 1.2, 1.3, 1.5})},
      {"h100-sxm", {.m = 2048, .n = 4096, .k = 1024}, scales("flops_scale", {1.0, 1.5, 2.0})},
      {"b200-sxm", narrow, {"gpu.bf16_peak=\"2250 TFLOP/s\"", "gpu.bf16_peak=\"4500 TFLOP/s\""}}};
  for (const Ladder& ladder : ladders)
    for (const ClockState state : {ClockState::burst, ClockState::sustained}) {
      double last = std::numeric_limits<double>::infinity();
      for (const std::string& set : ladder.sets) {
        CAPTURE(ladder.gpu);
        CAPTURE(set);
        GpuSpec gpu = load_gpu(ladder.gpu, std::vector<std::string>{set});
        gpu.governor.state = state;
        const double time = time_of(ladder.shape, gpu).time.value;
        CHECK(time <= last * (1.0 + kPinned));
        last = time;
      }
    }
}

TEST_CASE("what bounds a kernel is what makes it faster: every class and preset") {
  ShapeDraw draw(57);
  std::set<KernelBound> named;
  const PresetSnapshot snapshot;
  for (const std::string& preset : preset_names(PresetKind::gpu)) {
    const GpuSpec gpu = load_gpu(preset);
    const BoundFinder bounds(gpu);
    for (const OperatorClass* operator_class : operator_classes())
      for (int i = 0; i < 4; ++i) {
        const Operator op = draw.operator_of_class(*operator_class);
        if (!seconds(op, gpu)) continue;
        const KernelTime before = time_of(op, gpu);
        const KernelBound bound = bounds.bound_of(op, before);
        named.insert(bound);
        CAPTURE(preset);
        CAPTURE(operator_class->shape_text(op));
        CAPTURE(name_of(bound));
        const KernelTime after = time_of(op, with_faster(gpu, bound, 1.5));
        const double launch = bound == KernelBound::launch ? before.launch.value / 1.5 : before.launch.value;
        const double running = (after.time - after.launch).value;
        CHECK(running + launch < 0.999 * before.time.value);
        // Nothing else saves more, and a name is no empty word: its rate saves a twentieth of what it could.
        for (const KernelBound other : enum_values<KernelBound>()) {
          if (other == KernelBound::launch) continue;
          const KernelTime faster = time_of(op, with_faster(gpu, other, 1.5));
          CHECK((faster.time - faster.launch).value >= (running + launch - before.launch.value) * (1 - 1e-12));
        }
      }
  }
  CHECK(named.size() >= 6);
}

TEST_CASE("units that do more in a clock stop helping where another rate binds, and it is named") {
  const GemmShape cube{.m = 8192, .n = 8192, .k = 8192};
  const std::vector<std::string> sets = {"gpu.flops_scale=30"};
  const GpuSpec gpu = load_gpu("b200-sxm", sets);
  const KernelTime time = time_of(cube, gpu);
  const std::vector<std::string> twice = {"gpu.flops_scale=60"};
  CHECK(time_of(cube, load_gpu("b200-sxm", twice)).time.value > 0.9 * time.time.value);
  CHECK(BoundFinder(gpu).bound_of(cube, time) != KernelBound::compute);
}

}}  // namespace c3::test::monotony_test
