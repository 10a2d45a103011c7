#pragma once
/// The report of `ibnetdiscover --ports`: a line for each end of each link.

#include <string_view>
#include <vector>

#include "configs/foreign/file_reading.hpp"
#include "importers/machines/ib_ports.hpp"

namespace c3 { inline namespace importers {

bool is_ib_ports_report(std::string_view text);

/// The switches of \p file, whose text must outlive them, with the ports that are joined to something. \throws
/// ConfigError with all mistakes, also where a switch is named that has no line
std::vector<IbSwitch> read_ib_ports_report(const ForeignFile& file);

}}  // namespace c3::importers
