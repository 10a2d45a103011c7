#pragma once
/// How c3sim ends. The numbers are part of the command's interface (README.md).

namespace c3 { inline namespace app {

enum ExitCode : int {
  kExitOk = 0,
  kExitCheckFailed = 1,  ///< what was to be checked was computed, and does not hold
  kExitUsage = 2,
  kExitConfig = 3,
  kExitInfeasible = 4,
  kExitPartial = 5,    ///< some rows of the input were broken, or points of a sweep failed; the others are done
  kExitInternal = 70,  ///< EX_SOFTWARE of sysexits.h
  kExitInputOutput = 74,   ///< EX_IOERR: a file, a stream or memory of this machine failed
  kExitTimeout = 124,      ///< a time limit ran out, as of timeout(1); what was finished is kept
  kExitInterrupted = 130,  ///< 128 + SIGINT
};

}}  // namespace c3::app
