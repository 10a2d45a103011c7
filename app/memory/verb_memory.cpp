/// c3sim memory: what the GPUs of an experiment hold, and what would make it fit, without a simulation.

#include <memory>
#include <optional>

#include <fmt/format.h>

#include "app/command/exit_code.hpp"
#include "app/command/verb.hpp"
#include "app/memory/memory_account.hpp"
#include "app/notes.hpp"
#include "base/options.hpp"
#include "engine/interrupt.hpp"
#include "files/temporary_file.hpp"

namespace c3 { inline namespace app {
namespace {

int memory(const MemoryRequest& request) {
  install_interrupt_handler();
  const ExperimentFile file = ExperimentFile::load(request.file, request.sets);
  if (!request.quiet) print_notes(file.notes());
  std::optional<TemporaryFile> page;
  if (!request.page.empty()) page.emplace(request.page);
  const MemoryAccount account = memory_account(request, file);
  if (page) {
    page->append(memory_page(account));
    page->rename_to_target();
  }
  fmt::print("{}", request.json ? memory_json(account) : memory_text(account, request.shown));
  return account.fits() ? kExitOk : kExitInfeasible;
}

}  // namespace

void add_memory_verb(Command& app, VerbAction& action) {
  const auto request = std::make_shared<MemoryRequest>();
  Command& verb =
      app.add_command("memory", "What each GPU holds, and what would make it fit, without simulating");
  verb.add_option("FILE", request->file, "Experiment (TOML)").required();
  verb.add_option("--set", request->sets, "Override one key, as c3sim run does; repeatable")
      .repeated()
      .type_name("KEY=VALUE");
  verb.add_option("--top", request->shown, "Largest tensors to print (default: 8)")
      .in_range(1, 10000)
      .type_name("N");
  verb.add_flag(
      "--changes", [request] { request->changes = true; }, "Look for changes that need less, though it fits");
  verb.add_flag(
      "--no-changes", [request] { request->changes = false; },
      "Do not look for changes that would make it fit");
  verb.add_flag("--json", request->json, "Print one JSON object, with every moment of every class of ranks");
  verb.add_option("--page", request->page,
                  "Also write an HTML page: what each class of ranks holds over a step, tensors, changes")
      .type_name("FILE");
  verb.set_footer(
      "Of a training step: by class of ranks and kind of tensor at the peak, the largest tensors, each kind "
      "of\n"
      "moment and, where it does not fit or with --changes, changes of micro-batch, recomputation,\n"
      "sharding and parallelism, one a row, with what they need and what they cost by closed form. Its\n"
      "numbers are those that c3sim run prints. Of other experiments: the largest operation of each\n"
      "stream. Exit code 4 when it does not fit. docs/memory.md explains it.\n\n"
      "Examples:\n"
      "  c3sim memory configs/experiments/training/llama3_8b_fsdp8.toml\n"
      "  c3sim memory configs/experiments/training/llama3_70b_pipeline.toml --set training.micro_batch=4 "
      "--json\n"
      "  c3sim memory configs/experiments/training/llama3_70b_pipeline.toml --changes --page out/memory.html");
  verb.when_parsed([&app, &action, request] {
    request->quiet = app.was_given("--quiet");
    action = [request] { return memory(*request); };
  });
}

}}  // namespace c3::app
