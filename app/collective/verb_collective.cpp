/// c3sim collective: one collective at many sizes, as nccl-tests prints it.

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/collective/collective_request.hpp"
#include "app/collective/collective_rows.hpp"
#include "app/command/current_work.hpp"
#include "app/command/exit_code.hpp"
#include "app/command/progress_line.hpp"
#include "app/command/verb.hpp"
#include "app/notes.hpp"
#include "base/options.hpp"
#include "collectives/algorithms/algorithm.hpp"
#include "collectives/backends/entry.hpp"
#include "collectives/library/tuner.hpp"
#include "collectives/measure.hpp"
#include "engine/interrupt.hpp"
#include "files/temporary_file.hpp"

namespace c3 { inline namespace app {
namespace {

std::vector<Wish> wishes_of(const CollectiveRequest& request) {
  std::vector<Wish> wishes;
  for (const Mover& mover : request.movers) {
    for (const auto& algorithm : request.algorithms) {
      if (mover.backend == Backend::dma) {  // engines have neither protocol nor kernel launch
        wishes.push_back({mover, algorithm, std::nullopt, LaunchPath::graph});
        continue;
      }
      for (const auto& protocol : request.protocols) {
        for (const LaunchPath launch : request.launches)
          wishes.push_back({mover, algorithm, protocol, launch});
      }
    }
  }
  return wishes;
}

MethodWish wished_of(const Wish& wish, const CollectiveRequest& request) {
  return {wish.algorithm, wish.protocol, request.channels};
}

MeasuredMethod method_of(const Wish& wish, const CollectiveCall& call, const CollectiveRequest& request) {
  const MethodWish wished = wished_of(wish, request);
  const bool is_left = wish.mover.backend == Backend::cu;
  const Backend backend = is_left ? choose_backend(call, request.cluster, wished) : wish.mover.backend;
  MeasuredMethod how{.backend = backend, .grain = request.grain, .launch = wish.launch, .dma = wish.mover.dma};
  if (backend == Backend::dma) {
    how.method.algorithm = wish.algorithm.value_or(default_algorithm(call, backend, request.cluster));
  } else {
    how.method = choose_method(call, request.cluster, wished);
  }
  return how;
}

CollectiveRows measure(const CollectiveRequest& request, bool quiet) {
  CollectiveRows found{.wishes = wishes_of(request), .rows = {}};
  ProgressLine progress(quiet);
  for (std::size_t wish = 0; wish < found.wishes.size(); ++wish) {
    for (std::size_t at = 0; at < request.sized.size(); ++at) {
      const CollectiveCall& call = request.sized[at];
      set_current_work(fmt::format("{} of {:g} MB on {} GPUs", name_of(call.kind), call.bytes / 1.0_MB,
                                   request.cluster.ranks()));
      const MeasuredMethod how = method_of(found.wishes[wish], call, request);
      const CollectiveMeasurement here = measure_collective(request.cluster, call, how);
      const MethodWish wished = wished_of(found.wishes[wish], request);
      found.rows.push_back(
          {.call = call,
           .how = how,
           .here = here,
           .better = better_choice(request.cluster, call, how, wished, here),
           .measured = request.measured() != nullptr ? &request.measured()->table.rows[at] : nullptr,
           .logged = logged_choice(request, found.wishes[wish], call),
           .wish = wish});
      progress(found.rows.size(), request.sized.size() * found.wishes.size());
    }
  }
  return found;
}

/// A tuner may choose what is slower here than what it could have chosen. Says so once, for the size that loses
/// most.
std::vector<std::string> notes_on_choices(const CollectiveRequest& request, const CollectiveRows& found) {
  const auto saved = [](const CollectiveRow& row) { return row.better ? row.better->share_saved() : 0.0; };
  const auto worst = std::ranges::max_element(found.rows, {}, saved);
  if (worst == found.rows.end() || !worst->better) return {};
  std::set<double> sizes;
  for (const CollectiveRow& row : found.rows)
    if (row.better) sizes.insert(row.call.bytes.value);
  return {fmt::format("the library's choice, not the best, at {} of {} sizes; at {:g} MB {}", sizes.size(),
                      request.sized.size(), worst->call.bytes / 1.0_MB,
                      words_of(*worst->better, request.cluster.library))};
}

int run_collective(const CollectiveOptions& options) {
  install_interrupt_handler();
  const CollectiveRequest request(options);
  const std::vector<std::string> broken =
      request.measured() != nullptr ? request.measured()->broken : std::vector<std::string>();
  for (const std::string& row : broken)
    fmt::print(stderr, "c3sim: {}\n", row);
  if (!options.quiet) print_notes(notes_on(options, request));
  std::optional<TemporaryFile> page;
  if (!options.output.empty()) page.emplace(options.output);
  const CollectiveRows found = measure(request, options.quiet);
  if (!options.quiet) print_notes(notes_on_choices(request, found));
  if (page) {
    page->append(collective_page(request, found));
    page->rename_to_target();
    if (!options.quiet) fmt::print(stderr, "wrote {}; open it in a browser\n", options.output);
  }
  fmt::print("{}", options.json ? collective_json(request, found) : collective_text(request, found));
  return broken.empty() ? kExitOk : kExitPartial;
}

/// \p names with commas between, in lines that fit beside an option's name.
std::string in_lines(const std::vector<std::string>& names) {
  constexpr std::size_t kWidth = 66;
  std::string text;
  std::size_t line = 0;
  for (const std::string& name : names) {
    const bool fits = line + 2 + name.size() <= kWidth;
    if (!text.empty()) text += fits ? ", " : ",\n";
    text += name;
    line = fits ? line + 2 + name.size() : name.size();
  }
  return text;
}

/// What --algo takes.
std::vector<std::string> offered_algorithms() {
  std::vector<std::string> names{"auto"};
  for (const Algorithm algorithm : kAlgorithms)
    names.emplace_back(name_of(algorithm));
  return names;
}

void add_options(Command& verb, CollectiveOptions& options) {
  const std::string kinds = in_lines(offered_collectives());
  verb.add_option("OP", options.op,
                  "What to time (default: what --table is of), in any usual spelling:\n" + kinds)
      .offer(offered_collectives());
  verb.add_option("--system", options.system,
                  "Node preset; auto: the one that fits the GPUs and hosts of --table")
      .required()
      .type_name("SYSTEM");
  verb.add_option("--nodes", options.nodes, "Nodes of it (default: 1, or as --table says)")
      .in_range(1, 131'072)
      .type_name("N");
  verb.add_option("--fabric", options.fabric, "What joins the nodes (default: the node preset's)")
      .type_name("FABRIC");
  verb.add_option("--set", options.sets,
                  "Override a key of gpu, node, library or fabric, as in library.channels=16")
      .repeated()
      .type_name("KEY=VALUE");
  verb.add_option("--env", options.environment,
                  "Environment variable of NCCL or RCCL, as in NCCL_ALGO=^NVLSTree or NCCL_MIN_CTAS=16\n"
                  "(docs/collectives.md lists them)")
      .repeated()
      .type_name("NAME=VALUE");
  verb.add_option("--backend", options.backends, "cu: channels on compute units; dma: copy engines")
      .comma_separated()
      .show_default();
  verb.add_option("--dma-variant", options.dma_variants,
                  "Of copy engines: pcpy, a copy a peer; bcst, broadcast commands; swap, exchange commands;\n"
                  "b2b, all on one engine (default: pcpy)")
      .comma_separated();
  verb.add_flag("--prelaunch", options.prelaunch,
                "Commands of copy engines are queued ahead and wait for a trigger");
  verb.add_option("--dma-host", options.dma_host,
                  "Host threads of copy engines: one a gpu or one a node (default: gpu)");
  verb.add_option("--algo", options.algorithms, in_lines(offered_algorithms()))
      .comma_separated()
      .show_default();
  verb.add_option("--proto", options.protocols, "auto, ll, ll128, simple").comma_separated().show_default();
  verb.add_option("--launch", options.launches,
                  "graph: replayed; eager: a process for each GPU; one_process: one for all of a node\n"
                  "(default: graph; with --table as it says, or else eager)")
      .comma_separated();
  verb.add_option("--channels", options.channels, "Most channels (default: as many as the library takes)")
      .in_range(1, 1024);
  verb.add_option("--min-channels", options.min_channels,
                  "Least channels, however little there is to move, and more than the library has")
      .in_range(1, 1024);
  const Option& table =
      verb.add_option(
              "--table", options.table,
              "Compare with what nccl-tests or rccl-tests printed or wrote, a log of NCCL_DEBUG=INFO, or CSV\n"
              "with size_bytes and time_us")
          .type_name("FILE");
  verb.add_option("--min", options.smallest, "Smallest size; K, M, G without B are binary, as in nccl-tests")
      .type_name("SIZE")
      .show_default()
      .excludes(table);
  verb.add_option("--max", options.largest, "Largest size").type_name("SIZE").show_default().excludes(table);
  verb.add_option("--factor", options.factor, "From one size to the next")
      .in_range(1.001, 1e6)
      .show_default()
      .excludes(table);
  verb.add_option("--dtype", options.dtype, "Element type: fp32, bf16, fp16, fp8").show_default();
  verb.add_option("--ranks", options.ranks, "Group, as in 0-3,6 (default: all)").type_name("RANKS");
  verb.add_option("--root", options.root, "Rank that broadcasts, or collects a reduce").show_default();
  verb.add_flag(
          "--in-place", options.in_place,
          "In place, as the second column of nccl-tests: an all_gather copies no shard of its own; other\n"
          "operations take the same time here")
      .excludes(table);
  verb.add_option("--grain", options.grain,
                  "step: every chunk a flow; edge; gang: one flow; auto: the finest that is fast")
      .one_of({"auto", "step", "edge", "gang"})
      .show_default();
  verb.add_option("-o,--output", options.output, "HTML page to write: curves by size").type_name("FILE");
  verb.add_flag("--json", options.json, "As one JSON object");
}

}  // namespace

void add_collective_verb(Command& app, VerbAction& action) {
  const auto options = std::make_shared<CollectiveOptions>();
  Command& verb = app.add_command("collective", "Time one collective at many sizes, as nccl-tests prints it");
  add_options(verb, *options);
  verb.set_footer(
      "Sizes are total buffers as nccl-tests counts them; for all_gather, reduce_scatter and all_to_all the "
      "sum\n"
      "over ranks. Times are of one of many launched back to back. A table names its operation, GPUs and "
      "nodes, or\n"
      "OP, --ranks and --nodes do; of its two times, in place and out of place, the shorter one is "
      "compared,\n"
      "with the same here. What such a file says of the library's release, its variables and launches is "
      "taken, "
      "too,\n"
      "where no option says otherwise; differences are named.\n\n"
      "Examples:\n"
      "  c3sim collective all_reduce --system mi300x-8 --min \"1 MiB\"\n"
      "  c3sim collective all_gather --system h100-sxm-8 --backend cu,dma --algo auto --min \"64 MiB\" --json\n"
      "  c3sim collective all_reduce --system h100-sxm-8 --nodes 4 --fabric ib-hdr --min \"1 MiB\"\n"
      "  c3sim collective all_gather --system mi300x-8 --backend dma --dma-variant pcpy,bcst,b2b --prelaunch\n"
      "  c3sim collective --table all_reduce_perf.txt --system h100-sxm-8 --algo auto,ring -o compared.html\n"
      "  c3sim collective --table job.log --system auto");
  verb.when_parsed([&app, &action, options] {
    options->quiet = app.was_given("--quiet");
    action = [options] { return run_collective(*options); };
  });
}

}}  // namespace c3::app
