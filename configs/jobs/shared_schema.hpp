#pragma once
/// A JSON Schema in which what would stand in several places stands once: editors are slow with large files.

#include <map>
#include <string>

#include "base/json.hpp"

namespace c3 { inline namespace configs {

/// A reference to the definition \p name.
Json reference_to(const std::string& name);

/// \p schema without its own meaning and default, which keys that allow the same do not share.
Json unexplained(const Json& schema);
/// \p schema without the meanings of all keys in it, but with their defaults.
Json unexplained_throughout(const Json& schema);

/// Returns \p schema with references in place of parts that it has more than once. These parts are added to \p
/// definitions, under the name that \p names has for their text, or else under the first key that has them.
Json with_shared_parts(const Json& schema, Json& definitions, const std::map<std::string, std::string>& names);

}}  // namespace c3::configs
