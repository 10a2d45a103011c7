#pragma once
/// The fabric that a machine's NICs belong to.

#include <string>

#include "configs/foreign/file_reading.hpp"
#include "importers/machines/machine.hpp"

namespace c3 { inline namespace importers {

/// The name of a fabric preset for the NICs of \p machine: a shipped one of their kind and rate, or one that is
/// written into \p reading, called \p name. \param usual that of the node's base, for what the file does not
/// say; may be empty
std::string fabric_for(const Machine& machine, const std::string& name, const std::string& usual,
                       FileReading& reading);

}}  // namespace c3::importers
