/// c3sim kernel: the time of one kernel, of some, or of a file of them.

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "app/command/exit_code.hpp"
#include "app/command/verb.hpp"
#include "app/kernel/kernel_file.hpp"
#include "app/kernel/kernel_request.hpp"
#include "app/kernel/shape_options.hpp"
#include "app/notes.hpp"
#include "base/json.hpp"
#include "base/options.hpp"
#include "base/usage_error.hpp"
#include "engine/interrupt.hpp"
#include "gpu/kernels/describe.hpp"
#include "gpu/kernels/kernel_bound.hpp"
#include "gpu/kernels/operator_class.hpp"
#include "gpu/kernels/operator_table.hpp"
#include "gpu/kernels/stream_times.hpp"
#include "results/hardware_words.hpp"
#include "results/schema.hpp"
#include "results/text_table.hpp"

namespace c3 { inline namespace app {
namespace {

struct Row {
  KernelCase asked;
  KernelTime time;
  KernelBound bound = KernelBound::compute;
  std::int64_t work_groups = 0;
  FlopsPerSecond peak;  ///< 0: the operator has no arithmetic to speak of
  Seconds roofline;
  GovernedTimes stream;

  FlopsPerSecond rate() const { return time.flops / time.time; }
};

Row row_of(const KernelCase& asked) {
  const KernelDescription kernel = describe(name_of(asked.op), asked.op, *asked.gpu);
  const KernelTime time = time_of(asked.op, *asked.gpu, asked.slice);
  return {.asked = asked,
          .time = time,
          .bound = BoundFinder(*asked.gpu).bound_of(asked.op, time, asked.slice),
          .work_groups = kernel.work_groups,
          .peak = kernel.peak,
          .roofline = roofline(kernel, *asked.gpu),
          .stream = stream_times({&asked.op, 1}, *asked.gpu, asked.slice)};
}

int cus_of(const Row& row) {
  return row.asked.slice.cus == 0 ? row.asked.gpu->compute.cus() : row.asked.slice.cus;
}

Json json_of(const Row& row) {
  Json json{{"gpu", row.asked.gpu->name}, {"op", name_of(row.asked.op)}};
  for (const auto& [key, value] : row.asked.op.of_class().fields(row.asked.op))
    std::visit([&](const auto& plain) { json[name_of(key)] = plain; }, value);
  json.update({{"cus", cus_of(row)},
               {"time_us", row.time.time.value * 1e6},
               {"launch_us", row.time.launch.value * 1e6},
               {"state", name_of(row.asked.gpu->governor.state)},
               {"burst_us", row.stream.burst.value * 1e6},
               {"sustained_us", row.stream.sustained.value * 1e6},
               {"bound", name_of(row.bound)},
               {"waves", row.time.waves},
               {"work_groups", row.work_groups},
               {"tflops", row.rate().value / 1e12}});
  if (row.stream.power.value > 0.0) json["burst_power_w"] = row.stream.power.value;
  if (row.peak.value > 0.0) json["share_of_peak"] = row.rate() / row.peak;
  json.update({{"roofline_us", row.roofline.value * 1e6},
               {"hbm_read_bytes", row.time.hbm_read.value},
               {"hbm_write_bytes", row.time.hbm_write.value},
               {"found_in_caches_bytes", row.time.found.value},
               {"kept_in_caches_bytes", row.time.kept.value},
               {"l2_bytes", row.time.l2.value}});
  return json;
}

void print_json(const std::vector<Row>& rows) {
  Json list = Json::array();
  for (const Row& row : rows)
    list.push_back(json_of(row));
  fmt::print("{}\n", Json{{"schema_version", kJsonSchemaVersion}, {"rows", list}}.dump(2));
}

/// "SMs" if all of them are of NVIDIA.
std::string compute_units_heading(const std::vector<Row>& rows) {
  const std::string_view first = compute_units_of(rows.front().asked.gpu->name);
  const bool is_common =
      std::ranges::all_of(rows, [&](const Row& row) { return compute_units_of(row.asked.gpu->name) == first; });
  return std::string(is_common ? first : "CUs");
}

/// Prints why rows have fewer bytes at HBM than their tensors.
void print_found(const std::vector<Row>& rows) {
  constexpr Bytes kWorthALine{5e3};  // half a unit in the last digit of a table
  for (const Row& row : rows) {
    if (std::max(row.time.found, row.time.kept) < kWorthALine) continue;
    fmt::print(
        "{} {} on {}: {:.2f} MB of the loads are found in the caches, from the operator before, and {:.2f} MB "
        "of the stores stay there; --cache-share 0: none.\n",
        name_of(row.asked.op), row.asked.op.of_class().shape_text(row.asked.op), row.asked.gpu->name,
        row.time.found.value / 1e6, row.time.kept.value / 1e6);
  }
}

void print_table(const std::vector<Row>& rows) {
  TextTable table({"gpu", "shape", compute_units_heading(rows), "time [us]", "burst [us]", "sustained [us]",
                   "launch [us]", "bound", "waves", "work groups", "TFLOP/s", "of peak", "roofline [us]",
                   "HBM read [MB]", "written [MB]", "HBM [GB/s]", "L2 [MB]"});
  for (const Row& row : rows) {
    const KernelTime& time = row.time;
    const std::string share =
        row.peak.value > 0.0 ? fmt::format("{:.1f}%", 100.0 * (row.rate() / row.peak)) : "-";
    table.add(
        {row.asked.gpu->name, row.asked.op.of_class().shape_text(row.asked.op), std::to_string(cus_of(row)),
         fmt::format("{:.2f}", time.time.value * 1e6), fmt::format("{:.2f}", row.stream.burst.value * 1e6),
         fmt::format("{:.2f}", row.stream.sustained.value * 1e6),
         fmt::format("{:.2f}", time.launch.value * 1e6), std::string(name_of(row.bound)),
         fmt::format("{:g}", time.waves), std::to_string(row.work_groups),
         fmt::format("{:.2f}", row.rate().value / 1e12), share, fmt::format("{:.2f}", row.roofline.value * 1e6),
         fmt::format("{:.2f}", time.hbm_read.value / 1e6), fmt::format("{:.2f}", time.hbm_write.value / 1e6),
         fmt::format("{:.1f}", ((time.hbm_read + time.hbm_write) / time.time).value / 1e9),
         fmt::format("{:.2f}", time.l2.value / 1e6)});
  }
  fmt::print("{}\n\n{}", name_of(rows.front().asked.op), table.text());
  fmt::print(
      "time: of the kernel alone, launch included: the device's, or with --host that of one call on this "
      "host;\n"
      "roofline: flops at peak or every operand once at peak HBM bandwidth, whichever is longer, with the "
      "whole "
      "GPU.\n"
      "1 MB = 1e6 B.\n"
      "bound: what would save most time if it were 1.5 times as fast: compute (peaks of the units), issue "
      "(core "
      "clock),\n"
      "l2 (bandwidth of caches), hbm (of memory), latency (of memory), launch, power (limit of the board).\n"
      "burst, sustained: at the boost clock, and at the clock that the power limit leaves to a stream of this "
      "kernel "
      "alone;\n"
      "equal where it draws less, or where nothing is known of the GPU's power.\n");
  print_found(rows);
}

int run_kernel(const KernelOptions& options) {
  install_interrupt_handler();
  if (!options.csv.empty()) return time_kernel_file(options);
  if (!options.output.empty()) throw UsageError("-o: is for --csv");
  const std::vector<KernelCase> cases = cases_of(options);
  if (!options.quiet) print_notes(notes_on(options, cases));
  std::vector<Row> rows;
  for (const KernelCase& asked : cases)
    rows.push_back(row_of(asked));
  options.json ? print_json(rows) : print_table(rows);
  return kExitOk;
}

void add_options(Command& verb, KernelOptions& options) {
  add_shape_options(verb, options, every_shape_key());
  verb.add_option("--csv", options.csv, "Time each row of this table of shapes").type_name("FILE");
  verb.add_option("--gpu", options.gpus, "GPU preset; several values separated by commas")
      .comma_separated()
      .one_word()
      .type_name("GPU");
  verb.add_option("--cus", options.cus, "Compute units (SMs, CUs) that the kernel may use (default: all)")
      .comma_separated()
      .one_word()
      .type_name("N");
  verb.add_option("--cache-share", options.cache_share, "Share of L2 and last-level cache that the kernel has")
      .show_default();
  verb.add_option("--hbm-share", options.hbm_share, "Share of HBM bandwidth that the kernel has")
      .show_default();
  verb.add_option("--launch", options.launch,
                  "Launch cost: measured: a single call, as its class was measured on the device; device: in a "
                  "queue that "
                  "is not empty")
      .one_of({"measured", "device"})
      .show_default();
  verb.add_option("--host", options.host,
                  "Host preset whose part of a single call is in the time (default: none)")
      .type_name("HOST");
  verb.add_option(
          "--state", options.state,
          "Clock: burst: boost; sustained: what the power limit leaves to a stream of this kernel; auto: "
          "burst with --launch measured, sustained with --launch device")
      .one_of({"burst", "sustained", "auto"})
      .show_default();
  verb.add_option("--set", options.sets, "Override a key of the GPU, as in gpu.hbm_read=\"5 TB/s\"")
      .repeated()
      .type_name("KEY=VALUE");
  verb.add_option("-o,--output", options.output, "CSV file to write the times to; - is standard output")
      .type_name("OUT.csv");
  verb.add_flag("--json", options.json, "Print one JSON object");
}

}  // namespace

void add_kernel_verb(Command& app, VerbAction& action) {
  const auto options = std::make_shared<KernelOptions>();
  Command& verb = app.add_command("kernel", "Time one kernel, or every row of a file of shapes");
  add_options(verb, *options);
  verb.set_footer(
      "A CSV file has a header and those of the columns op, dtype, b, m, n, k, heads, kv_heads, seq, kv_seq,\n"
      "head_dim, causal, pass, rows, cols that its operators need; a column gpu names a GPU for each row.\n"
      "Invalid rows are reported and copied to OUT.rejected.csv, the others are timed; the exit code is 5.\n\n"
      "Examples:\n"
      "  c3sim kernel gemm --gpu mi300x,h100-sxm -m 2048,4096 -n 8192 -k 8192 --dtype bf16\n"
      "  c3sim kernel attention --gpu h100-sxm --heads 32 --kv-heads 8 --seq 4096 --head-dim 128 --causal "
      "--dtype bf16\n"
      "  c3sim kernel --csv shapes.csv --gpu a100-sxm-80gb --dtype bf16 -o times.csv");
  verb.when_parsed([&app, &action, options] {
    options->quiet = app.was_given("--quiet");
    action = [options] { return run_kernel(*options); };
  });
}

}}  // namespace c3::app
