#pragma once
/// How c3sim knows a file that it wrote, which a later command may replace, from a file of the user, which it
/// replaces with --force only. Every writer leaves one of the marks below at the start of its file. A table
/// (CSV) has no room for a mark, since other programs read its first line as names of columns; it is known by
/// these names.

#include <filesystem>
#include <string>
#include <string_view>

namespace c3 { inline namespace files {

/// HDF5: the start of the block that results/file_seal.hpp puts in front.
inline constexpr std::string_view kSealedHdf5 = "c3sim result file, sealed. ";
/// HTML: in the head of the page.
inline constexpr std::string_view kPageMark = R"(<meta name="generator" content="c3sim"/>)";
/// JSON: one of these is in its first lines, the version or the rest of a name behind it.
inline constexpr std::string_view kJsonSchemaMark = R"("schema": "c3sim.)";
inline constexpr std::string_view kJsonFormatMark = R"("format": "c3sim )";
inline constexpr std::string_view kJsonSoftwareMark = R"("software": "c3sim")";

/// A text in which "#" begins a comment (TOML), such as an experiment, which people go on to edit: its first
/// line seals the others, and a file that was edited counts as the user's.
std::string marked_text(std::string_view rest);

/// The first line of a table: how it begins, how it ends, and what is between.
struct TableHeader {
  std::string_view begins, ends, has = {};
};

/// Matches any table, for callers that do not know the columns yet.
inline constexpr TableHeader kAnyTable{.begins = {}, .ends = {}, .has = ","};
/// The header of \p table, a table's whole text.
TableHeader header_of(std::string_view table);

/// Whether c3sim wrote \p path, or there is nothing in it. \param table the names of columns by which an
/// earlier table is known, where a table is to be written
bool is_written_by_c3sim(const std::filesystem::path& path, TableHeader table = {});

/// --force: from now on files of the user are replaced.
void replace_files_of_user();

/// Before \p target is replaced or removed, unless --force was given.
/// \throws OutputConflictError where there is a file that c3sim did not write
void refuse_file_of_user(const std::filesystem::path& target, TableHeader table = {});

}}  // namespace c3::files
