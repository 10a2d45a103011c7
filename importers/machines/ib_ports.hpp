#pragma once
/// Sections of ibnetdiscover: each switch with its ports.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "configs/foreign/file_reading.hpp"
#include "configs/toml/config_error.hpp"

namespace c3 { inline namespace importers {

/// A port of a switch and what is at its other end.
struct IbPort {
  std::string_view peer;  ///< "S-0002c902.." or "H-0002c903..", in the file's text
  std::string_view host;  ///< the first word of a NIC's description; empty where there is none
  double gigabits = 0.0;  ///< Gb/s of data
  bool is_switch = false;
  bool reduces = false;  ///< the peer is a switch's own node for in-network reduction
};

struct IbSwitch {
  std::string_view id;
  Origin origin;
  std::vector<IbPort> ports = {};
};

inline constexpr std::size_t kMostIbMistakes = 20;

/// Gb/s of data of "4xNDR"; nothing for a word that is no rate.
std::optional<double> ib_rate(std::string_view word);

/// Adds to \p mistakes what is at a port of \p switches and not among them, and that there are none.
/// \param begin of the file
void add_unknown_peers(const std::vector<IbSwitch>& switches, const Origin& begin,
                       std::vector<ConfigError>& mistakes);

/// The switches of \p file, whose text must outlive them. \throws ConfigError with all mistakes, also where a
/// switch is named that has no section
std::vector<IbSwitch> read_ib_switches(const ForeignFile& file);

}}  // namespace c3::importers
