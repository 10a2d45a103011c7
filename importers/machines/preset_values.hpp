#pragma once
/// Values of presets that are written, each with kind and source.

#include <array>
#include <string>
#include <string_view>

#include "configs/toml/tree.hpp"
#include "importers/machines/machine.hpp"

namespace c3 { inline namespace importers {

/// The place of values taken from \p file: the file without a line.
Origin origin_in(const std::string& file);
/// The place of a text's first letter: for what concerns all of it.
Origin begin_of(const std::string& file);

/// `{ value = .., kind = .., source = .. }`
Node sourced(const Origin& origin, decltype(Node::value) value, std::string_view kind, std::string_view source);

/// A bandwidth with its source, by \p factor, and \p why said in its source. The same for 1.
Node scaled(const Node& bandwidth, double factor, std::string_view why);

/// Nominal value of a sourced quantity or number as its text, `value` or `nominal`.
const Node& nominal_of(const Node& sourced);

/// Four keys of a link, in the order raw, one_way, both_ways, latency.
inline constexpr std::array<std::string_view, 4> kLinkKeys = {"raw", "one_way", "both_ways", "latency"};
using LinkValues = std::array<Node, 4>;

/// Keys \p prefix + "raw" and so on of the shipped node \p preset.
LinkValues shipped_link(const std::string& preset, std::string_view prefix);

/// The kind of link \p kind of the shipped wired node \p preset.
LinkValues shipped_kind(const std::string& preset, std::string_view kind);

/// A link whose bandwidths are \p factor times those of \p link.
LinkValues scaled(const LinkValues& link, double factor, std::string_view why);

/// PCIe between a card and what it plugs into, from the shipped nodes of that generation. \p link says its
/// generation.
LinkValues pcie_values(const PcieLink& link);

/// The raw rate of a link, B/s.
double raw_of(const LinkValues& link);

}}  // namespace c3::importers
