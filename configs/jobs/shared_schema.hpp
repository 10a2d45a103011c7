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
/// The same of all keys in it, but with their defaults.
Json unexplained_throughout(const Json& schema);

/// \p schema with references to what it has more than once, which is added to \p definitions, under the name
/// that \p names has for its text, or else that of the first key that has it.
Json with_shared_parts(const Json& schema, Json& definitions, const std::map<std::string, std::string>& names);

}}  // namespace c3::configs
