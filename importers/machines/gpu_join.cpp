#include "importers/machines/gpu_join.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

#include "configs/presets/preset_store.hpp"
#include "importers/machines/preset_values.hpp"

namespace c3 { inline namespace importers {
namespace {

constexpr double kGiga = 1e9;

/// What a shipped node is like.
struct Base {
  std::string name;
  NodeTopology topology = NodeTopology::wired;
  int gpus = 0;
  bool is_pcie = false;
  int links = 1;  ///< NVLinks or xGMI links that `link_*` stands for
  std::vector<GpuLink> wires = {};
};

/// "gpu3" as 3; nothing for a hub.
std::optional<int> gpu_number(std::string_view text) {
  if (!text.starts_with("gpu")) return std::nullopt;
  int number = 0;
  const auto [end, error] = std::from_chars(text.data() + 3, text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

/// "gpu0 - gpu3 x2" as a link; nothing where a hub is at one end.
std::optional<GpuLink> link_in(std::string_view wire) {
  const std::size_t dash = wire.find(" - ");
  const std::string_view rest = wire.substr(dash + 3);
  const std::size_t space = rest.find(' ');
  const std::optional<int> a = gpu_number(wire.substr(0, dash));
  const std::optional<int> b = gpu_number(rest.substr(0, space));
  if (!a || !b) return std::nullopt;
  int count = 1;
  if (space != std::string_view::npos)
    std::from_chars(rest.data() + space + 2, rest.data() + rest.size(), count);
  return GpuLink{std::min(*a, *b), std::max(*a, *b), count};
}

Base base_named(const std::string& name, const GpuBoard& board) {
  const Node node = load_preset(PresetKind::node, name, origin_in(name), "node");
  const Table& table = *node.table();
  Base base{.name = name, .is_pcie = table.find("sockets") != nullptr};
  const std::string& topology = *nominal_of(*table.find("topology")).text();
  if (topology == "switched") base.topology = NodeTopology::switched;
  if (topology == "full_mesh") base.topology = NodeTopology::full_mesh;
  base.gpus = static_cast<int>(std::get<std::int64_t>(nominal_of(*table.find("gpus")).value));
  if (!base.is_pcie && board.link > 0.0) {
    const double links = raw_of(shipped_link(name, "link_")) / kGiga / board.link;
    base.links = std::max(1, static_cast<int>(std::lround(links)));
  }
  if (const Node* wires = table.find("wires")) {
    for (const Node& wire : *nominal_of(*wires).array()) {
      if (const std::optional<GpuLink> link = link_in(*wire.text())) base.wires.push_back(*link);
    }
  }
  return base;
}

std::vector<Base> bases_of(const GpuBoard& board) {
  std::vector<Base> bases;
  for (const std::string_view name : board.nodes) {
    if (!name.empty()) bases.push_back(base_named(std::string(name), board));
  }
  return bases;
}

template <class Fits>
const Base* first_that(const std::vector<Base>& bases, Fits fits) {
  const auto found = std::ranges::find_if(bases, fits);
  return found == bases.end() ? nullptr : &*found;
}

GpuJoin like(const Base& base) {
  return {.topology = base.topology, .base = base.name, .base_is_pcie = base.is_pcie};
}

/// `link_*` stands for \p links of the machine's and for \p base.links of the base's.
void scale_link(GpuJoin& join, const Base& base, int links) {
  if (base.is_pcie || links == base.links) return;
  join.factor = static_cast<double>(links) / base.links;
  join.why = fmt::format("{} of {} links", links, base.links);
}

const Base* switched_base(const std::vector<Base>& bases) {
  return first_that(bases, [](const Base& one) { return one.topology == NodeTopology::switched; });
}

/// Whether GPUs that have \p count links to each other must have them to a switch, as nvidia-smi shows one: a
/// pair shares all links of \p port, or together there would be more than a GPU has.
bool shows_switch(const Machine& machine, int count, const Base& port) {
  const auto others = static_cast<int>(machine.gpus.size()) - 1;
  return count > 0 && (count == port.links || count * others > port.links);
}

GpuJoin switched(const Machine& machine, const std::vector<Base>& bases) {
  std::vector<int> counts(machine.gpus.size());
  for (const GpuLink& link : machine.links) {
    if (link.b == GpuLink::kSwitch) counts[static_cast<std::size_t>(link.a)] += link.count;
  }
  const auto least = std::ranges::min_element(counts);
  const auto most = std::ranges::max_element(counts);
  const std::string& poorest = machine.gpus[static_cast<std::size_t>(least - counts.begin())].name;
  if (*least == 0) {
    throw std::invalid_argument(fmt::format(
        "GPU {} has no link to the switch, and others have {}; a node's GPUs are alike", poorest, *most));
  }
  const Base* base = first_that(bases, [](const Base& one) { return one.topology == NodeTopology::switched; });
  if (base == nullptr)
    throw std::invalid_argument("its links lead to a switch, and no shipped node has these GPUs on one");
  GpuJoin join = like(*base);
  scale_link(join, *base, *least);
  if (*least != *most) {
    join.short_of =
        fmt::format("GPU {} has {} links to the switch and others up to {}: all are taken to have {}", poorest,
                    *least, *most, *least);
  }
  return join;
}

/// The number of links between each pair of GPUs, when it is the same for all; else 0.
int links_of_mesh(const Machine& machine) {
  const std::size_t gpus = machine.gpus.size();
  if (machine.links.size() != gpus * (gpus - 1) / 2) return 0;
  const int count = machine.links.front().count;
  return std::ranges::all_of(machine.links, [&](const GpuLink& link) { return link.count == count; }) ? count
                                                                                                      : 0;
}

GpuJoin wired(const Machine& machine, const std::vector<Base>& bases) {
  const Base* own = first_that(bases, [](const Base& one) { return one.topology == NodeTopology::wired; });
  const Base& base = own != nullptr ? *own : bases.front();
  GpuJoin join = like(base);
  join.topology = NodeTopology::wired;
  join.links = machine.links;
  scale_link(join, base, 1);
  return join;
}

GpuJoin joined_by_file(const Machine& machine, const std::vector<Base>& bases) {
  const auto leads_to_switch = [](const GpuLink& link) { return link.b == GpuLink::kSwitch; };
  if (std::ranges::any_of(machine.links, leads_to_switch)) return switched(machine, bases);
  const int count = links_of_mesh(machine);
  if (const Base* port = switched_base(bases); port != nullptr && shows_switch(machine, count, *port)) {
    GpuJoin join = like(*port);
    scale_link(join, *port, count);
    return join;
  }
  const Base* mesh = first_that(bases, [](const Base& one) { return one.topology == NodeTopology::full_mesh; });
  if (mesh == nullptr || count == 0) return wired(machine, bases);
  GpuJoin join = like(*mesh);
  scale_link(join, *mesh, count);
  return join;
}

/// The file would not have links. Those of a node with as many GPUs, or of a switch with more.
std::optional<GpuJoin> joined_by_base(int gpus, const std::vector<Base>& bases) {
  const Base* base = first_that(bases, [&](const Base& one) { return !one.is_pcie && one.gpus == gpus; });
  if (base == nullptr) {
    base = first_that(
        bases, [&](const Base& one) { return one.topology == NodeTopology::switched && one.gpus > gpus; });
  }
  if (base == nullptr) return std::nullopt;
  GpuJoin join = like(*base);
  join.links = base->wires;
  join.is_assumed = true;
  return join;
}

GpuJoin alone(const Base& base) {
  GpuJoin join = like(base);
  if (join.topology == NodeTopology::wired) join.topology = NodeTopology::full_mesh;
  return join;
}

}  // namespace

GpuJoin join_of(const Machine& machine, const GpuBoard& board) {
  const std::vector<Base> bases = bases_of(board);
  const auto gpus = static_cast<int>(machine.gpus.size());
  if (gpus == 1) return alone(bases.front());
  if (!machine.links.empty()) return joined_by_file(machine, bases);
  if (!machine.lists_links) {
    if (const std::optional<GpuJoin> join = joined_by_base(gpus, bases)) return *join;
  }
  return wired(machine, bases);
}

}}  // namespace c3::importers
