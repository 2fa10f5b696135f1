#include "rankwright/search/threads.h"

#include <tbb/info.h>
#include <tbb/task_arena.h>

#include <algorithm>

namespace rankwright::search {

void run_on_threads(int threads, const std::function<void()>& work) {
  const int cores = tbb::info::default_concurrency();
  tbb::task_arena arena(threads > 0 ? std::min(threads, cores) : cores);
  arena.execute(work);
}

}  // namespace rankwright::search
