#pragma once
/// Finds out what a reader accepts by letting it read examples of whatever it asks for.

#include <functional>
#include <map>
#include <string>

#include "configs/toml/draft.hpp"

namespace c3 { inline namespace configs {

class Section;

/// \returns what \p read accepts of a table called \p name. It is called once without any optional key, which
/// shows what is required, and once more for each optional key that it asked for, which shows what that key
/// allows and what it requires beside it. \param examples of keys on which bounds of other keys depend.
TableRule describe(const std::string& name, Provenance provenance, const std::function<void(Section&)>& read,
                   const std::map<std::string, Node>& examples = {});

/// The keys of that table by one reading, which has all that are optional: without what they require beside
/// them. \pre \p read goes on where keys contradict one another (Section::refuse)
TableRule list_keys(const std::string& name, Provenance provenance, const std::function<void(Section&)>& read);

}}  // namespace c3::configs
