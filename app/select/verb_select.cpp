/// c3sim select: which kernel a library would take for a convolution or a product.

#include <array>
#include <memory>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/command/exit_code.hpp"
#include "app/command/verb.hpp"
#include "app/kernel/shape_options.hpp"
#include "app/select/file_selections.hpp"
#include "app/select/kernel_selection.hpp"
#include "app/select/selection_output.hpp"
#include "base/options.hpp"
#include "base/usage_error.hpp"

namespace c3 { inline namespace app {
namespace {

constexpr int kMostChoices = 100;

struct SelectOptions {
  KernelOptions kernel;
  int top = 3;
  bool json = false;

  std::size_t kernels() const { return static_cast<std::size_t>(top); }
};

/// What stands where an operator may: an experiment; empty: an operator.
std::string file_of(const KernelOptions& options) {
  const auto op = options.shape.find(ShapeKey::op);
  const bool is_file =
      op != options.shape.end() && op->second.size() == 1 && op->second.front().ends_with(".toml");
  return is_file ? op->second.front() : std::string();
}

int select_in_file(const SelectOptions& options, const std::string& file) {
  for (const auto& [key, values] : options.kernel.shape)
    if (key != ShapeKey::op && !values.empty())
      throw UsageError(
          fmt::format("{}: cannot be given with an experiment, which has its shapes", option_name(key)));
  const FileSelections selections = selections_in(file, options.kernel, options.kernels());
  fmt::print("{}", options.json ? selection_json(selections) : selection_text(selections));
  return selections.found.empty() && !selections.unknown.empty() ? kExitInfeasible : kExitOk;
}

int run_select(const SelectOptions& options) {
  const std::string file = file_of(options.kernel);
  if (!file.empty()) return select_in_file(options, file);
  if (!options.kernel.sets.empty()) throw UsageError("--set: only with an experiment");
  std::vector<Selection> selections;
  for (const KernelCase& asked : cases_of(options.kernel))
    selections.push_back(selection_of(asked, options.kernels()));
  fmt::print("{}", options.json ? selection_json(selections) : selection_text(selections));
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
  verb.add_option("--set", options->kernel.sets, "Override one key of the experiment; repeatable")
      .repeated()
      .type_name("KEY=VALUE");
  verb.add_option("--top", options->top, "Kernels to print, the most probable first")
      .in_range(1, kMostChoices)
      .show_default()
      .type_name("N");
  verb.add_flag("--json", options->json, "Print one JSON object");
  verb.set_footer(
      "OP may be an experiment (.toml): a table of all its convolutions and products, on its own GPU or on "
      "--gpu.\n"
      "Only convolution and gemm, as MIOpen and rocBLAS compute them on AMD GPUs. How often it is right:\n"
      "c3sim reproduce selection. Times, and the row 'model' with its own choice, are the cost model's.\n\n"
      "Examples:\n"
      "  c3sim select convolution --gpu mi210 -b 64 --channels 64 --filters 64 --height 56 --filter-h 3 "
      "--pad-h 1 "
      "--dtype fp16\n"
      "  c3sim select gemm --gpu mi100,mi300x -m 4096 -n 1024,4096 -k 4096 --dtype fp32 --top 1\n"
      "  c3sim select configs/experiments/images/vgg16_mi100.toml --top 1");
  verb.when_parsed([&action, options] { action = [options] { return run_select(*options); }; });
}

}}  // namespace c3::app
