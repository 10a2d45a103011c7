#pragma once
/// What a file of another tool says, in keys of c3sim.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace c3 { inline namespace configs {

/// Tokens of a sequence where nobody says how many.
inline constexpr std::int64_t kUsualSequence = 4096;

/// A file that somebody brings.
struct ForeignFile {
  std::string name;  ///< spelled as the user gave it, for messages
  std::string text;  ///< whole
  /// Tokens of a sequence, for which shares of flops are counted.
  std::int64_t sequence = kUsualSequence;
};

/// A key of the file became one of an experiment's.
struct TakenKey {
  std::string from;   ///< the file's key, dotted: "text_config.hidden_size"
  std::string key;    ///< ours, dotted: "model.hidden"
  std::string value;  ///< ours, as TOML writes it
};

/// A key of an experiment's that the file says nothing of.
struct AssumedKey {
  std::string key;
  std::string value;  ///< written as in TOML
  std::string why;    ///< a clause without a full stop
};

/// A key of the file that changes nothing here.
struct IgnoredKey {
  std::string from;
  std::string why;  ///< why it does not matter, or that it is not modelled
};

/// Share of a model's parameters, or of its flops, that need not be modelled unless somebody says more.
inline constexpr double kUsualLeaveOut = 0.02;

/// What the file describes and c3sim has no word for.
struct UnmodelledPart {
  std::string what;         ///< "windows of 128 tokens in 12 of 24 layers"
  double parameters = 0.0;  ///< share of the model's
  double flops = 0.0;       ///< share of those of its forward pass
};

/// A preset that stands beside the experiment.
struct PresetFile {
  std::string path;  ///< "nodes/NAME.toml"
  std::string text;
};

/// What a reader made of a file. Every key of the file is in one of taken and ignored, or below one that is.
struct FileReading {
  std::string file;                  ///< ForeignFile::name
  std::string what;                  ///< with its article: "a configuration of Hugging Face"
  std::vector<TakenKey> taken = {};  ///< no key of ours twice, nor in assumed
  std::vector<AssumedKey> assumed = {};
  std::vector<IgnoredKey> ignored = {};
  std::vector<UnmodelledPart> unmodelled = {};
  std::vector<std::string> facts = {};  ///< lines for a person: "8.03 G parameters"
  std::vector<PresetFile> presets = {};
};

}}  // namespace c3::configs
