#include "studies/jobs.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <future>
#include <mutex>
#include <thread>

#include "engine/errors.hpp"
#include "engine/interrupt.hpp"

namespace c3 { inline namespace studies {

void run_jobs(const Jobs& jobs, const StudyProgress& progress) {
  std::atomic<std::size_t> next = 0;
  std::size_t done = 0;
  std::mutex reporting;
  const auto work = [&] {
    for (std::size_t job = next++; job < jobs.size(); job = next++) {
      if (interrupt_requested()) throw InterruptedError("interrupted");
      try {
        jobs[job]();
      } catch (...) {
        next = jobs.size();
        throw;
      }
      const std::scoped_lock lock(reporting);
      progress(++done, jobs.size());
    }
  };
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  std::vector<std::future<void>> threads;
  for (std::size_t i = 0; i < std::min(cores, jobs.size()); ++i)
    threads.push_back(std::async(std::launch::async, work));
  for (std::future<void>& thread : threads)
    thread.wait();
  for (std::future<void>& thread : threads)
    thread.get();
}

}}  // namespace c3::studies
