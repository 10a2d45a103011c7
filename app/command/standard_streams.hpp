#pragma once
/// Standard input, output and error as a command may rely on them, whatever the shell passed.

namespace c3 { inline namespace app {

/// Call it first in main. Afterwards
/// - descriptors 0 to 2 are open: a closed one is opened on /dev/null, so that no file of ours gets its number.
///   Standard output is opened such that writing to it fails: a result that goes nowhere is an error;
/// - writing to stderr never fails: what cannot be shown to the user does not change how the command ends. It
///   comes behind what was printed to standard output before, as in `c3sim run FILE 2>&1 | less`;
/// - a write beyond the file size limit or to a pipe without a reader is an error of that write, not a signal.
void prepare_standard_streams();

/// Writes out what is buffered for standard output.
/// \throws std::system_error when any of it could not be written. When the reader of a pipe has gone, as in
/// `c3sim list systems | head -1`, the process ends as by SIGPIPE instead.
void flush_standard_output();

}}  // namespace c3::app
