#include "app/import/trace_files.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/import/trace_notes.hpp"
#include "files/io_error.hpp"
#include "files/tar_members.hpp"
#include "files/unpacked_file.hpp"
#include "workloads/traces/chakra/chakra_reader.hpp"
#include "workloads/traces/execution/execution_reader.hpp"
#include "workloads/traces/execution/operator_list_file.hpp"
#include "workloads/traces/execution/rank_match.hpp"
#include "workloads/traces/file_rank.hpp"
#include "workloads/traces/kineto_reader.hpp"
#include "workloads/traces/order_ranks.hpp"
#include "workloads/traces/rank_copies.hpp"
#include "workloads/traces/rank_set.hpp"
#include "workloads/traces/trace_format.hpp"

namespace c3 { inline namespace app {
namespace {

namespace fs = std::filesystem;

/// What is damaged in such a file is an error; any other file of a folder may be none of ours.
bool is_named_like_a_trace(const fs::path& path) {
  const std::string name = path.filename().string();
  constexpr std::array<std::string_view, 6> kEndings{".json", ".json.gz", ".et", ".et.gz", ".tar.gz", ".tgz"};
  return std::ranges::any_of(kEndings, [&](std::string_view ending) { return name.ends_with(ending); });
}

/// What macOS keeps beside a file on other file systems and in archives: "._rank0.json" of "rank0.json".
bool is_apple_double(const fs::path& path) { return path.filename().string().starts_with("._"); }

std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    std::error_code ignored;  // a link that leads nowhere sets it
    if (entry->is_regular_file(ignored) && !is_apple_double(entry->path())) files.push_back(entry->path());
  }
  if (error) throw IoError(folder.string(), "read", error.message());
  std::ranges::sort(files);
  return files;
}

class TraceReader {
 public:
  void read_path(const fs::path& path) {
    std::error_code error;
    if (fs::is_directory(path, error)) {
      read_folder(path);
    } else {
      read_file(path);
    }
  }

  TraceFiles take(bool allow_missing) {
    refuse_mixture();
    if (kinetos_.empty()) {
      order_executions(allow_missing);
      check_chakras(allow_missing);
    } else {
      for (Trace& trace : kinetos_) {
        if (!trace.rank && kinetos_.size() > 1) trace.rank = rank_in_name(trace.file);
      }
      std::ranges::stable_sort(kinetos_, {}, [](const Trace& trace) { return trace.rank.value_or(0); });
      join_executions();
      for (Trace& trace : kinetos_)
        files_.ranks.emplace_back(std::move(trace));
      order_ranks(files_.ranks, allow_missing);
    }
    return std::move(files_);
  }

 private:
  std::size_t count() const {
    return kinetos_.size() + executions_.size() + files_.chakras.size() + files_.lists.size();
  }

  void read_folder(const fs::path& folder) {
    const std::size_t before = count();
    for (const fs::path& path : files_in(folder)) {
      if (is_named_like_a_trace(path)) {
        read_file(path);
      } else {
        read_if_trace(path);
      }
    }
    if (count() == before) throw IoError(folder.string(), "import", "it holds no traces");
  }

  /// A file of a folder, of any name.
  void read_if_trace(const fs::path& path) {
    const auto leave_out = [&](const std::exception& error) {
      files_.notes.push_back(fmt::format("left out: {}", error.what()));
    };
    try {
      read_file(path);
    } catch (const UnknownFormatError&) {  // none of ours
    } catch (const TraceError& error) {
      leave_out(error);
    } catch (const IoError& error) {
      leave_out(error);
    }
  }

  void read_file(const fs::path& path) {
    UnpackedFile file(path);
    read(
        path.string(), [&file](std::span<char> part) { return file.read(part); }, /*is_member=*/false);
  }

  void read(const std::string& name, ByteSource bytes, bool is_member) {
    PeekedSource source(std::move(bytes));
    const TraceFormat format = format_of(name, source);
    const ByteSource all = [&source](std::span<char> part) { return source.read(part); };
    switch (format) {
      case TraceFormat::kineto:
        read_ranks(read_kineto(name, all));
        break;
      case TraceFormat::execution:
        executions_.push_back(read_execution_trace(name, all));
        break;
      case TraceFormat::chakra:
        files_.chakras.push_back(read_chakra(name, all));
        break;
      case TraceFormat::chakra_json:
        files_.chakras.push_back(read_chakra_json(name, all));
        break;
      case TraceFormat::operators:
        files_.lists.push_back({.file = name, .list = read_operator_list(name, all)});
        break;
      case TraceFormat::tar:
        if (is_member)
          throw TraceError({.file = name, .rank = {}, .event = {}},
                           "it is an archive in an archive: unpack it first");
        read_archive(name, all);
        break;
    }
  }

  void read_ranks(Trace file) {
    std::ranges::move(notes_on(file), std::back_inserter(files_.notes));
    std::ranges::move(traces_of_ranks(std::move(file)), std::back_inserter(kinetos_));
  }

  void read_archive(const std::string& archive, const ByteSource& bytes) {
    TarMembers members(bytes, archive);
    const std::size_t before = count();
    while (members.next()) {
      if (is_apple_double(members.name())) continue;
      try {
        read(
            archive + "/" + members.name(), [&members](std::span<char> part) { return members.read(part); },
            /*is_member=*/true);
      } catch (const UnknownFormatError&) {  // none of ours, unless its name says that it is
        if (is_named_like_a_trace(members.name())) throw;
      }
    }
    if (count() == before) throw IoError(archive, "import", "it holds no traces");
  }

  /// Chakra traces and operator lists stand alone.
  void refuse_mixture() const {
    std::vector<std::pair<TraceFormat, std::string>> first;  // file of each format
    if (!kinetos_.empty()) first.emplace_back(TraceFormat::kineto, kinetos_.front().file);
    if (!executions_.empty()) first.emplace_back(TraceFormat::execution, executions_.front().file);
    if (!files_.chakras.empty()) first.emplace_back(TraceFormat::chakra, files_.chakras.front().file);
    if (!files_.lists.empty()) first.emplace_back(TraceFormat::operators, files_.lists.front().file);
    const auto& last = first.empty() ? std::pair(TraceFormat::kineto, std::string()) : first.back();
    if (first.size() < 2 || last.first == TraceFormat::execution) return;
    throw TraceSetError(
        {.file = last.second, .rank = {}, .event = {}},
        fmt::format("it is a {}, and {} is a {}: give Kineto traces, with or without the execution "
                    "traces of the same ranks, or files of one format",
                    name_of(last.first), first.front().second, name_of(first.front().first)));
  }

  /// Joins execution traces, in the order of the Kineto traces.
  void join_executions() {
    const std::vector<std::uint32_t> matches = match_ranks(kinetos_, executions_);
    std::vector<std::string> others;
    for (std::size_t i = 0; i < executions_.size(); ++i) {
      if (matches[i] == kNoIndex) others.push_back(executions_[i].file);
    }
    for (std::uint32_t rank = 0; rank < kinetos_.size(); ++rank) {
      const auto match = std::ranges::find(matches, rank);
      if (match == matches.end()) continue;
      ExecutionTrace& execution = executions_[static_cast<std::size_t>(match - matches.begin())];
      KinetoJoin join = join_with_kineto(kinetos_[rank], execution);
      files_.joins.push_back(complete_from(execution, join, kinetos_[rank]));
      note_doubts(files_.joins.back());
      files_.joined.push_back({.execution = std::move(execution), .join = std::move(join), .rank = rank});
    }
    if (!others.empty())
      files_.notes.push_back(fmt::format(
          "execution traces without a Kineto trace of their rank are left out: {}", fmt::join(others, ", ")));
  }

  void note_doubts(const ExecutionJoin& join) {
    if (2 * join.joined < join.ops)
      files_.notes.push_back(
          fmt::format("{}: only {} of {} operators of the Kineto trace are in it: it may be of "
                      "another run",
                      join.file, join.joined, join.ops));
    if (join.shapes_differ > 0)
      files_.notes.push_back(
          fmt::format("{}: {} operators have other shapes in the Kineto trace, which are kept: it "
                      "may be of a step with other shapes",
                      join.file, join.shapes_differ));
  }

  void order_executions(bool allow_missing) {
    std::vector<RankFile> ranks;
    for (ExecutionTrace& trace : executions_) {
      trace.rank = rank_of(trace);
      ranks.push_back({.file = trace.file, .rank = trace.rank, .world_size = trace.world_size});
    }
    check_ranks(ranks, allow_missing);
    std::ranges::stable_sort(executions_, {},
                             [](const ExecutionTrace& trace) { return trace.rank.value_or(0); });
    files_.executions = std::move(executions_);
  }

  void check_chakras(bool allow_missing) {
    std::vector<RankFile> ranks;
    for (ChakraTrace& trace : files_.chakras) {
      if (!trace.rank) trace.rank = rank_in_name(trace.file);
      ranks.push_back({.file = trace.file, .rank = trace.rank, .world_size = std::nullopt});
    }
    check_ranks(ranks, allow_missing);
  }

  std::vector<Trace> kinetos_;
  std::vector<ExecutionTrace> executions_;
  TraceFiles files_;
};

}  // namespace

TraceFiles read_traces(const std::vector<std::string>& paths, bool allow_missing) {
  TraceReader reader;
  for (const std::string& path : paths)
    reader.read_path(path);
  return reader.take(allow_missing);
}

}}  // namespace c3::app
