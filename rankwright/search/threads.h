// The threads of a search.
#pragma once

#include <functional>

namespace rankwright::search {

/// Runs `work`, whose parallel loops take at most that many threads; 0: one per core.
void run_on_threads(int threads, const std::function<void()>& work);

}  // namespace rankwright::search
