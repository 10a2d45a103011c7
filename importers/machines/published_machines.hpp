#pragma once
/// Machines of clouds whose published files name neither GPUs nor NICs.

#include <span>
#include <string>
#include <string_view>

#include "importers/machines/machine.hpp"

namespace c3 { inline namespace importers {

struct PublishedMachine {
  std::string_view name;  ///< "Azure ND A100 v4"
  /// Lowest and highest bus id of GPUs and lowest of NICs, by which the file is recognised.
  std::string_view first_gpu, last_gpu, first_nic;
  int gpus = 0;
  int nics = 0;
  std::string_view gpu;           ///< spelled like GpuNames::product
  std::string_view like_it = {};  ///< what else has such a file; empty: nothing
  NicKind nic_kind = NicKind::not_said;
  double gigabits = 0.0;  ///< a NIC's rate, Gb/s
  std::string_view source;
};

/// nullptr: none that is known. \param gpus, nics bus ids in small letters
const PublishedMachine* published_machine(std::span<const std::string> gpus, std::span<const std::string> nics);

}}  // namespace c3::importers
