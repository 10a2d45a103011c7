#pragma once
/// The keys of a recipe, and what a reader makes of each.

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "configs/foreign/file_reading.hpp"
#include "configs/toml/config_error.hpp"
#include "configs/toml/tree.hpp"

namespace c3 { inline namespace importers {

/// No recipe that a person writes is as large: a larger text is not one.
constexpr std::size_t kLargestRecipe = std::size_t{1} << 20U;

/// A product of degrees that cannot overflow: 2^40 at most.
std::int64_t bounded_product(std::initializer_list<std::int64_t> factors);

/// One key of a file, as the file gives it.
struct RecipeKey {
  std::string name;           ///< name in a table of keys: "tensor_model_parallel_size"
  std::string from;           ///< spelling in the file: "--tensor-model-parallel-size"
  std::optional<Node> value;  ///< a scalar, or a list of scalars; absent: null, as if the key were left out
  Origin origin;              ///< the value's place
  std::string doubt = {};  ///< why nobody can say the value without running the file: "not expanded: $(nproc)"
};

/// Collects a FileReading key by key, and all mistakes of the file.
class RecipeKeys {
 public:
  /// \param what with its article: "a configuration of torchtitan"
  RecipeKeys(const ForeignFile& file, std::string_view what, std::vector<RecipeKey> keys);

  /// Whether the file gives a value of \p name that can be read.
  bool has(std::string_view name) const;
  /// Whether the file has the key with a value that nobody can say.
  bool is_in_doubt(std::string_view name) const;

  // Values. Absent where the file gives none, or one of another type, which is noted as a mistake.
  std::optional<std::int64_t> whole(std::string_view name, std::int64_t least = 1);
  std::optional<double> number(std::string_view name);
  std::optional<bool> flag(std::string_view name);
  std::optional<std::string> word(std::string_view name);
  /// Words of a list, or the single one; empty: not there.
  std::vector<std::string> words(std::string_view name);
  /// One of \p known, in whichever case it is written; another one is noted as a mistake.
  std::optional<std::string> choice(std::string_view name, std::span<const std::string_view> known);

  // The same with the framework's default in place of what is absent.
  std::int64_t whole_or(std::string_view name, std::int64_t fallback) {
    return whole(name, 0).value_or(fallback);
  }
  bool flag_or(std::string_view name, bool fallback) { return flag(name).value_or(fallback); }

  /// \p name becomes our \p key.
  void take(std::string_view name, std::string_view key, Node value);
  /// \p name is a part of what \p key says; nothing happens where the file does not have it.
  void join(std::string_view name, std::string_view key);
  /// Assumes a value of our \p key. Does nothing where the file gives the key, or where its value is in doubt.
  void assume(std::string_view key, Node value, std::string why);
  /// Takes \p value where one of \p names is there (the first: from that one, the others join it), else assumes
  /// it.
  void take_or_assume(std::initializer_list<std::string_view> names, std::string_view key, Node value,
                      std::string why);
  /// Notes that \p name is ignored. Does nothing where something was made of the key, where the file does not
  /// have it, and where its value is in doubt.
  void ignore(std::string_view name, std::string why);
  /// What the file says and c3sim has no word for: "not modelled: ..".
  void not_modelled(std::string_view name, std::string_view what);
  void refuse(std::string_view name, std::string_view message);
  void fact(std::string text) { reading_.facts.push_back(std::move(text)); }
  void unmodelled(UnmodelledPart part) { reading_.unmodelled.push_back(std::move(part)); }

  /// Takes back what was assumed of our keys that begin with \p prefix.
  void forget_assumed(std::string_view prefix);

  bool gives(std::string_view key) const;  ///< whether our \p key has a value
  /// The value that our \p key has so far, as TOML writes it; empty: none.
  std::string given(std::string_view key) const;
  /// Keys of which nothing was made so far.
  std::vector<const RecipeKey*> left() const;
  void leave(const RecipeKey& key, std::string why);  ///< for a key of left()

  /// \throws ConfigError with every mistake
  FileReading finish();

 private:
  const RecipeKey* find(std::string_view name) const;
  const Node* value_of(std::string_view name) const;
  void refuse_type(std::string_view name, std::string_view wanted);

  std::shared_ptr<const std::string> file_;
  std::vector<RecipeKey> keys_;
  std::map<std::string, std::size_t, std::less<>> places_;  ///< position of each name in keys_
  std::vector<bool> is_used_;
  FileReading reading_;
  std::vector<ConfigError> errors_;
};

}}  // namespace c3::importers
