#pragma once
/// How deep a TOML text nests, found before it is parsed.

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace c3 { inline namespace configs {

constexpr std::size_t kMostKeyParts = 16;  ///< a.b.c has three
constexpr int kDeepestBrackets = 32;       ///< depth of arrays and inline tables

/// The parser, and every walk of a tree, calls itself once a level: a key of 100,000 parts would overflow the
/// stack. \throws ConfigError where \p text nests deeper than any configuration does. Takes the text as it
/// comes: what is wrong with it otherwise is the parser's business.
void refuse_deep_nesting(std::string_view text, const std::shared_ptr<const std::string>& file);

}}  // namespace c3::configs
