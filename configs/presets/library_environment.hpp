#pragma once
/// Environment variables of NCCL and RCCL: which keys of a configuration say the same.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "configs/toml/tree.hpp"

namespace c3 { inline namespace configs {

/// The variable's text is what the key takes.
struct SetsText {
  std::string_view key;  ///< dotted
};

/// Keys that get the variable's number.
struct SetsNumber {
  std::vector<std::string_view> keys;
};

/// Keys that get a share each of the variable's bytes. Those of a fabric only where there is more than one
/// node.
struct SetsBytes {
  struct Share {
    std::string_view key;
    double share = 1.0;
  };
  std::vector<Share> shares;
};

/// A key that becomes false where the variable is \p off. Otherwise the library does what it usually does.
struct SwitchesOff {
  std::string_view key;
  std::int64_t off = 0;
};

/// A key that gets the name for which the variable's value stands; an empty one leaves it alone.
struct SetsName {
  struct Value {
    std::string_view of_variable;
    std::string_view name;
  };
  std::string_view key;
  std::vector<Value> values;
};

/// A variable without a key that says the same.
struct HasNoKey {
  std::string_view why;  ///< "diagnosis only", or what is simulated instead
};

/// One variable, as NCCL 2.30.7 and RCCL 2.21.5 read it.
struct LibraryVariable {
  std::string_view name;
  std::string_view meaning;  ///< one line
  std::variant<SetsText, SetsNumber, SetsBytes, SwitchesOff, SetsName, HasNoKey> effect;
};

/// All that are known, in the order in which documentation lists them.
std::span<const LibraryVariable> library_variables();

/// Replaces `library.env` of \p document by the keys that its variables stand for.
/// \throws ConfigError at the variable for one that is unknown, a value that it does not take, and a key that
/// another variable or the file itself sets, too.
void place_library_environment(Node& document);

/// One note for each of \p names that has no key: "NCCL_DEBUG changes nothing here: it is for diagnosis".
std::vector<std::string> notes_on_variables(std::span<const std::string> names);
/// Notes on the variables in `library.env` of \p document.
std::vector<std::string> notes_on_variables(const Node& document);

}}  // namespace c3::configs
