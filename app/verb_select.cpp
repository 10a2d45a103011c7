/// c3sim select: which kernel a library would take for a convolution or a product.

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/exit_code.hpp"
#include "app/kernel_request.hpp"
#include "app/shape_options.hpp"
#include "app/usage_error.hpp"
#include "app/verb.hpp"
#include "base/json.hpp"
#include "base/options.hpp"
#include "configs/selector_file.hpp"
#include "engine/errors.hpp"
#include "gpu/kernels/convolution/convolution_shape.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "gpu/kernels/operator_class.hpp"
#include "gpu/kernels/operator_table.hpp"
#include "gpu/selection/problem_features.hpp"
#include "results/schema.hpp"
#include "results/text_table.hpp"

namespace c3::inline app {
namespace {

constexpr int kMostChoices = 100;
constexpr std::size_t kFewestBeams = 8;  ///< beginnings that the search keeps, as the study of the choices does

struct SelectOptions {
  KernelOptions kernel;
  int top = 3;
  bool json = false;
};

/// What a library would take for one shape on one GPU.
struct Selection {
  KernelCase asked;
  std::string learned_on;                         ///< family of the GPU whose tables were learned
  std::vector<std::string> steps;                 ///< "tile_m", ..
  std::vector<std::vector<std::string>> kernels;  ///< names of tokens, the best kernel first
  std::vector<double> probabilities;
};

/// The first of \p families of which \p table has a selector; convolutions on CDNA 3 are asked of CDNA 2's.
std::string learned_family(const SelectorTable& table, const GpuSpec& gpu, std::string_view pass,
                           std::string_view what) {
  std::vector<std::string> families = {gpu.family.name};
  if (gpu.family.name == "cdna3") families.emplace_back("cdna2");
  for (const std::string& family : families)
    if (table.contains(family + std::string(pass))) return family;
  std::vector<std::string> known;
  for (const auto& [name, selector] : table) {
    std::string family = name.substr(0, name.find('.'));
    if (std::ranges::find(known, family) == known.end()) known.push_back(std::move(family));
  }
  throw InfeasibleError(fmt::format("no choices of {} were learned for {} ({}), only for GPUs of {}", what,
                                    gpu.name, gpu.family.name, fmt::join(known, ", ")));
}

/// Kinds that \p selector has of the type of \p kind, its first word; all where there are none.
std::vector<std::string> kinds_like(const KernelSelector& selector, const std::string& kind) {
  std::vector<std::string> all, alike;
  for (const auto& [each, valid] : selector.valid) {
    all.push_back(each);
    if (each.starts_with(kind.substr(0, kind.find(' ') + 1))) alike.push_back(each);
  }
  return alike.empty() ? all : alike;
}

Selection ranked(const KernelCase& asked, const KernelSelector& selector, std::string learned_on,
                 const std::vector<float>& features, const std::string& kind, std::size_t top) {
  if (features.size() != selector.features)
    throw InfeasibleError(
        fmt::format("the weights are of another version: they ask {} numbers of a problem, of {}",
                    selector.features, features.size()));
  if (!selector.valid.contains(kind))
    throw InfeasibleError(fmt::format("no kernel of the kind '{}' was seen, only of: {}", kind,
                                      fmt::join(kinds_like(selector, kind), ", ")));
  Selection found{
      .asked = asked, .learned_on = std::move(learned_on), .steps = {}, .kernels = {}, .probabilities = {}};
  for (const SelectorStep& step : selector.steps)
    found.steps.push_back(step.what);
  for (const RankedSequence& each : selector.rank(features, kind, std::max(top, kFewestBeams))) {
    if (found.kernels.size() == top) break;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < each.tokens.size(); ++i)
      names.push_back(selector.steps[i].tokens[static_cast<std::size_t>(each.tokens[i])]);
    found.kernels.push_back(std::move(names));
    found.probabilities.push_back(std::exp(each.log_probability));
  }
  return found;
}

Selection selection_of(const KernelCase& asked, std::size_t top) {
  const GpuSpec& gpu = *asked.gpu;
  if (const auto* shape = asked.op.as<ConvolutionShape>()) {
    if (shape->layout != ImageLayout::nchw)
      throw UsageError("--layout: kernels of nchw convolutions were learned only");
    static const SelectorTable kSolvers = load_selectors(shipped_selectors("miopen"));
    const std::string pass = fmt::format(".{}", name_of(shape->pass));
    std::string family = learned_family(kSolvers, gpu, pass, "MIOpen");
    const KernelSelector& selector = kSolvers.at(family + pass);
    return ranked(asked, selector, std::move(family), features_of(*shape, gpu), kind_of(*shape), top);
  }
  if (const auto* shape = asked.op.as<GemmShape>()) {
    static const SelectorTable kProducts = load_selectors(shipped_selectors("rocblas"));
    std::string family = learned_family(kProducts, gpu, "", "rocBLAS");
    const KernelSelector& selector = kProducts.at(family);
    return ranked(asked, selector, std::move(family), features_of(*shape, gpu), kind_of(*shape), top);
  }
  throw UsageError("OP: must be convolution or gemm: kernels of other operators were not learned");
}

Json json_of(const Selection& found) {
  Json kernels = Json::array();
  for (std::size_t i = 0; i < found.kernels.size(); ++i) {
    Json kernel{{"rank", i + 1}, {"probability", found.probabilities[i]}};
    for (std::size_t step = 0; step < found.steps.size(); ++step)
      kernel[found.steps[step]] = found.kernels[i][step];
    kernels.push_back(std::move(kernel));
  }
  Json json{{"gpu", found.asked.gpu->name}, {"op", name_of(found.asked.op)}, {"learned_on", found.learned_on}};
  for (const auto& [key, value] : found.asked.op.of_class().fields(found.asked.op))
    if (key != ShapeKey::solver) std::visit([&](const auto& plain) { json[name_of(key)] = plain; }, value);
  json["kernels"] = std::move(kernels);
  return json;
}

void print_json(const std::vector<Selection>& selections) {
  Json rows = Json::array();
  for (const Selection& found : selections)
    rows.push_back(json_of(found));
  fmt::print("{}\n", Json{{"schema_version", kJsonSchemaVersion}, {"rows", rows}}.dump(2));
}

void print_table(const std::vector<Selection>& selections) {
  std::vector<std::string> headings = {"gpu", "shape", "rank"};
  std::ranges::copy(selections.front().steps, std::back_inserter(headings));
  headings.insert(headings.end(), {"probability", "learned on"});
  TextTable table(headings);
  for (const Selection& found : selections) {
    for (std::size_t i = 0; i < found.kernels.size(); ++i) {
      std::vector<std::string> cells = {
          found.asked.gpu->name, found.asked.op.of_class().shape_text(found.asked.op), std::to_string(i + 1)};
      std::ranges::copy(found.kernels[i], std::back_inserter(cells));
      cells.insert(cells.end(), {fmt::format("{:.1f}%", 100.0 * found.probabilities[i]), found.learned_on});
      table.add(cells);
    }
  }
  fmt::print("{}\n\n{}", name_of(selections.front().asked.op), table.text());
  fmt::print(
      "probability: of being the best, or the library's choice, by trees trained on tables of GPUs of that "
      "family\n");
}

int run_select(const SelectOptions& options) {
  std::vector<Selection> selections;
  for (const KernelCase& asked : cases_of(options.kernel))
    selections.push_back(selection_of(asked, static_cast<std::size_t>(options.top)));
  options.json ? print_json(selections) : print_table(selections);
  return kExitOk;
}

constexpr std::array kKeys = {
    ShapeKey::op,     ShapeKey::dtype,    ShapeKey::b,        ShapeKey::m,          ShapeKey::n,
    ShapeKey::k,      ShapeKey::pass,     ShapeKey::layout,   ShapeKey::channels,   ShapeKey::filters,
    ShapeKey::height, ShapeKey::width,    ShapeKey::filter_h, ShapeKey::filter_w,   ShapeKey::pad_h,
    ShapeKey::pad_w,  ShapeKey::stride_h, ShapeKey::stride_w, ShapeKey::dilation_h, ShapeKey::dilation_w,
    ShapeKey::groups};

}  // namespace

void add_select_verb(Command& app, VerbAction& action) {
  const auto options = std::make_shared<SelectOptions>();
  Command& verb = app.add_command("select", "Predict which kernel MIOpen or rocBLAS takes on a GPU");
  add_shape_options(verb, options->kernel, kKeys);
  verb.add_option("--gpu", options->kernel.gpus, "GPU preset; several values separated by commas")
      .comma_separated()
      .one_word()
      .type_name("GPU");
  verb.add_option("--top", options->top, "Kernels to print, the most probable first")
      .in_range(1, kMostChoices)
      .show_default()
      .type_name("N");
  verb.add_flag("--json", options->json, "Print one JSON object");
  verb.set_footer(
      "Only convolution and gemm, as MIOpen and rocBLAS compute them on AMD GPUs. How often it is right:\n"
      "c3sim reproduce selection.\n\n"
      "Examples:\n"
      "  c3sim select convolution --gpu mi210 -b 64 --channels 64 --filters 64 --height 56 --filter-h 3 "
      "--pad-h 1 "
      "--dtype fp16\n"
      "  c3sim select gemm --gpu mi100,mi300x -m 4096 -n 1024,4096 -k 4096 --dtype fp32 --top 1");
  verb.when_parsed([&action, options] { action = [options] { return run_select(*options); }; });
}

}  // namespace c3::app
