#pragma once
/// How libraries name the kernels with which GPUs communicate.

#include <span>
#include <string_view>

namespace c3 { inline namespace traces {

/// One line of the table in communication_names.cpp. A library that renames its kernels gets another line.
struct CommunicationName {
  std::string_view pattern;  ///< small letters, anywhere in the name; * is any text
  std::string_view kind;     ///< all_reduce, ..; empty: the kernel's name has it, or it is not known
  std::string_view library;
  std::string_view versions;  ///< those that have such names
  std::string_view source;    ///< repository, version and file that define the kernel
};

/// The first line whose pattern \p kernel_name, in small letters, has; nullptr: none has it.
const CommunicationName* communication_name(std::string_view kernel_name);

std::span<const CommunicationName> communication_names();

}}  // namespace c3::traces
