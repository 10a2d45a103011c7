#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <utility>

#include "app/memory/memory_account.hpp"
#include "base/json.hpp"
#include "results/cells.hpp"
#include "results/ranking.hpp"
#include "results/schema.hpp"
#include "results/step_cells.hpp"
#include "results/text_table.hpp"
#include "workloads/analysis/operator_profile.hpp"

namespace c3 { inline namespace app {
namespace {

std::string percent(double share) { return fmt::format("{:.1f}%", 100.0 * share); }

std::string name_or_all(const std::string& name) { return name.empty() ? "all" : name; }

std::vector<std::string> class_header(std::string first) {
  std::vector<std::string> header = {std::move(first)};
  for (const MemoryClass memory_class : kMemoryClasses)
    header.emplace_back(name_of(memory_class));
  header.emplace_back("tensors");
  return header;
}

/// \p peak is a MemoryPeak or a MemoryMoment.
std::vector<std::string> class_row(std::string first, const auto& peak) {
  std::vector<std::string> row = {std::move(first)};
  for (const MemoryClass memory_class : kMemoryClasses)
    row.push_back(gigabytes(peak.of(memory_class)));
  row.push_back(gigabytes(peak.bytes));
  return row;
}

/// The kind of a moment, without its layer and micro-batch.
std::string kind_of_moment(const std::string& name) {
  std::string kind;
  for (const char letter : kind_of_range(name)) {
    if (std::isdigit(static_cast<unsigned char>(letter)) == 0) {
      if (letter == ',' && kind.ends_with(' ')) kind.pop_back();  // a number stood here
      kind += letter;
    }
  }
  return kind;
}

/// The highest moment of each kind, in the order in which kinds first come.
std::vector<MemoryMoment> by_kind(const std::vector<MemoryMoment>& moments) {
  std::vector<MemoryMoment> kinds;
  for (const MemoryMoment& moment : moments) {
    const std::string kind = kind_of_moment(moment.name);
    auto found = std::ranges::find(kinds, kind, &MemoryMoment::name);
    if (found == kinds.end()) found = kinds.insert(kinds.end(), MemoryMoment{.name = kind, .bytes = {}});
    if (moment.bytes < found->bytes) continue;
    *found = moment;
    found->name = kind;
  }
  return kinds;
}

std::string step_tables(const MemoryAccount& account, std::size_t shown) {
  std::vector<std::string> header = class_header("ranks");
  for (const char* name : {"needed", "reserved", "share", "GPUs"})
    header.emplace_back(name);
  TextTable classes(header);
  for (const SteppedMemory& step_memory : account.steps) {
    std::vector<std::string> row = class_row(name_or_all(step_memory.name), step_memory.memory.peak);
    row.push_back(gigabytes(step_memory.memory.peak.held));
    row.push_back(gigabytes(step_memory.memory.peak.reserved));
    row.push_back(percent(step_memory.memory.peak.held / account.limit));
    row.push_back(std::to_string(count_of(step_memory.ranks)));
    classes.add(std::move(row));
  }
  const SteppedMemory& fullest = account.steps[account.fullest()];
  std::string text =
      classes.text() +
      "GB of each GPU at its peak; needed: pages with a tensor on them, which the allocator cannot free;\n"
      "reserved: what the allocator takes where there is room; share: needed, of the limit\n\n";
  TextTable tensors({"largest tensors", "class", "GB", "share"});
  for (std::size_t i = 0; i < std::min(shown, fullest.memory.peak.tenants.size()); ++i) {
    const MemoryTenant& tenant = fullest.memory.peak.tenants[i];
    tensors.add({tenant.name, std::string(name_of(tenant.memory_class)), gigabytes(tenant.bytes),
                 percent(tenant.bytes / fullest.memory.peak.bytes)});
  }
  text += tensors.text() + fmt::format("of ranks '{}' at '{}'; share: of all tensors then\n\n",
                                       name_or_all(fullest.name), fullest.memory.peak.moment);
  TextTable moments(class_header("moment"));
  for (const MemoryMoment& moment : by_kind(fullest.memory.moments))
    moments.add(class_row(moment.name, moment));
  return text + moments.text() +
         fmt::format("GB of ranks '{}', of each kind of moment the one at which they hold most\n",
                     name_or_all(fullest.name));
}

/// The change that fits and costs least, for a step that does not fit.
std::string cheapest_text(const MemoryAccount& account) {
  if (account.fits()) return "";
  std::vector<MemoryChange> fitting;
  std::ranges::copy_if(account.changes, std::back_inserter(fitting),
                       [](const MemoryChange& change) { return change.facts && change.facts->fits(); });
  const auto speed = [](const MemoryChange& change) { return 1.0 / change.time.time.value; };
  const MemoryChange* const first = first_of(fitting, speed, 0.0);
  if (first == nullptr) return "No change that was tried makes it fit.\n";
  return fmt::format("Of the changes that make it fit {} costs least: {:+.1f}% by the closed form.\n",
                     first->key.what, 100.0 * (first->time.time / account.time.time - 1.0));
}

std::string changes_table(const MemoryAccount& account) {
  TextTable table({"change", "needed", "share", "fits", "closed form", "cost"});
  for (std::vector<std::string>& row : change_cells(account))
    table.add(std::move(row));
  std::string text =
      table.text() +
      "needed in GB; closed form: s of a step of kernels and collectives that take as long as "
      "alone, with the pipeline's bubble;\n"
      "cost: of the closed form, against the step as it is. Every row trains on as many tokens.\n";
  const auto refused =
      std::ranges::count_if(account.changes, [](const MemoryChange& change) { return !change.facts; });
  if (refused > 0)
    text += fmt::format("{} other changes break a rule of the step: --json gives the reasons\n", refused);
  return text + cheapest_text(account);
}

std::string plan_tables(const MemoryAccount& account) {
  TextTable table({"ranks", "GPUs", "tensors", "share"});
  TextTable operations({"largest operation", "stream", "ranks", "GB"});
  for (const PlannedMemory& plan : account.plans) {
    table.add({name_or_all(plan.name), std::to_string(count_of(plan.ranks)),
               plan.total ? gigabytes(*plan.total) : kAbsentCell,
               plan.total ? percent(*plan.total / account.limit) : kAbsentCell});
    for (const LargestOperation& largest : plan.largest)
      operations.add({largest.operation, largest.stream, name_or_all(plan.name), gigabytes(largest.bytes)});
  }
  return table.text() +
         "GB of each GPU: tensors and buffers of the largest operation of each stream, which may all run at "
         "once;\nabsent where kernels or collectives are known by their times only\n\n" +
         operations.text();
}

Json classes_json(const auto& peak) {
  Json json = Json::object();
  for (const MemoryClass memory_class : kMemoryClasses)
    json[std::string(name_of(memory_class))] = peak.of(memory_class).value;
  return json;
}

Json peak_json(const MemoryPeak& peak) {
  Json tenants = Json::array();
  for (const MemoryTenant& tenant : peak.tenants)
    tenants.push_back(
        {{"name", tenant.name}, {"class", name_of(tenant.memory_class)}, {"bytes", tenant.bytes.value}});
  return {{"peak_bytes", peak.bytes.value},        {"needed_bytes", peak.held.value},
          {"reserved_bytes", peak.reserved.value}, {"moment", peak.moment},
          {"by_class", classes_json(peak)},        {"tenants", std::move(tenants)}};
}

Json ranks_json(const std::string& name, const RankRanges& ranks) {
  return {{"name", name.empty() ? Json() : Json(name)}, {"ranks", text_of(ranks)}, {"gpus", count_of(ranks)}};
}

Json stepped_json(const SteppedMemory& step_memory) {
  Json json = ranks_json(step_memory.name, step_memory.ranks);
  json.update(peak_json(step_memory.memory.peak));
  Json moments = Json::array();
  for (const MemoryMoment& moment : step_memory.memory.moments)
    moments.push_back(
        {{"name", moment.name}, {"bytes", moment.bytes.value}, {"by_class", classes_json(moment)}});
  json["moments"] = std::move(moments);
  json["left_out_micro_batches"] = step_memory.memory.left_out;
  return json;
}

Json planned_json(const PlannedMemory& plan) {
  Json json = ranks_json(plan.name, plan.ranks);
  json["bytes"] = plan.total ? Json(plan.total->value) : Json();
  json["operations"] = Json::array();
  for (const LargestOperation& largest : plan.largest)
    json["operations"].push_back(
        {{"name", largest.operation}, {"stream", largest.stream}, {"bytes", largest.bytes.value}});
  return json;
}

Json time_json(const ClosedFormTime& time) {
  const auto us = [](Seconds duration) { return duration / 1.0_us; };
  return {{"time_us", us(time.time)},
          {"kernels_us", us(time.kernels)},
          {"communication_us", us(time.communication)},
          {"bubble_share", time.bubble}};
}

Json change_json(const MemoryAccount& account, const MemoryChange& change) {
  Json json{{"change", change.key.what}, {"sets", change.key.sets}};
  if (!change.facts) {
    json["problem"] = change.problem;
    return json;
  }
  json.update({{"needed_bytes", change.facts->memory.held.value},
               {"reserved_bytes", change.facts->memory.reserved.value},
               {"fits", change.facts->fits()},
               {"closed_form", time_json(change.time)},
               {"cost", change.time.time / account.time.time - 1.0}});
  return json;
}

}  // namespace

std::vector<std::vector<std::string>> change_cells(const MemoryAccount& account) {
  std::vector<std::vector<std::string>> rows;
  const auto add = [&](const std::string& what, const StepFacts& facts, const ClosedFormTime& time) {
    rows.push_back({what, gigabytes(facts.memory.held), percent(facts.memory.held / facts.memory_size),
                    facts.fits() ? "yes" : "no", fmt::format("{:.4g}", time.time.value),
                    fmt::format("{:+.1f}%", 100.0 * (time.time / account.time.time - 1.0))});
  };
  add("as it is", *account.facts, account.time);
  for (const MemoryChange& change : account.changes)
    if (change.facts) add(change.key.what, *change.facts, change.time);
  return rows;
}

std::string memory_text(const MemoryAccount& account, std::size_t shown) {
  std::string text = fmt::format("{} on {}: {}, of {} GB of each GPU\n\n", account.experiment, account.system,
                                 account.fits() ? "fits" : "does not fit", gigabytes(account.limit));
  if (account.steps.empty()) return text + plan_tables(account);
  text += step_tables(account, shown);
  if (!account.changes.empty()) return text + "\n" + changes_table(account);
  if (account.facts) text += "\n--changes: what would need less, and what it would cost\n";
  return text;
}

std::string memory_json(const MemoryAccount& account) {
  Json json{
      {"schema_version", kJsonSchemaVersion}, {"experiment", account.experiment}, {"system", account.system},
      {"limit_bytes", account.limit.value},   {"fits", account.fits()},           {"classes", Json::array()}};
  for (const SteppedMemory& step_memory : account.steps)
    json["classes"].push_back(stepped_json(step_memory));
  for (const PlannedMemory& plan : account.plans)
    json["classes"].push_back(planned_json(plan));
  if (account.facts) {
    json["fullest"] = account.fullest();
    json["frees_cache"] = account.facts->is_tight();
    json["closed_form"] = time_json(account.time);
    json["changes"] = Json::array();
    for (const MemoryChange& change : account.changes)
      json["changes"].push_back(change_json(account, change));
  }
  return json.dump(2) + "\n";
}

}}  // namespace c3::app
