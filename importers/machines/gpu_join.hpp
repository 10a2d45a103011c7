#pragma once
/// How the GPUs of a machine are joined, in the words of c3sim's nodes.

#include <string>
#include <vector>

#include "importers/machines/known_gpus.hpp"
#include "importers/machines/machine.hpp"
#include "interconnect/spec.hpp"

namespace c3 { inline namespace importers {

struct GpuJoin {
  NodeTopology topology = NodeTopology::wired;
  std::string base;                 ///< the shipped node whose numbers serve
  bool base_is_pcie = false;        ///< its `link_*` is PCIe
  std::vector<GpuLink> links = {};  ///< wired: the wires between GPUs
  double factor = 1.0;              ///< `link_*` of the machine over that of the base
  std::string why = {};             ///< says the factor
  bool is_assumed = false;          ///< the file has no links; these are the base's
  std::string short_of = {};        ///< says which GPU has fewer links than others
};

/// \throws std::invalid_argument saying why c3sim has no node like that
GpuJoin join_of(const Machine& machine, const GpuBoard& board);

}}  // namespace c3::importers
