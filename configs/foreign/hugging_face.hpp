#pragma once
/// Models as Hugging Face's config.json describes them.

#include <string_view>

#include "configs/foreign/file_reading.hpp"

namespace c3 { inline namespace configs {

inline constexpr std::string_view kHuggingFaceFile = "a configuration of Hugging Face";

/// Whether \p text is one: an object of JSON with a model type or architectures, and the width of a layer.
bool is_hugging_face(std::string_view text);

/// Keys of [model]. \throws ConfigError with the line of what is wrong
FileReading read_hugging_face(const ForeignFile& file);

}}  // namespace c3::configs
