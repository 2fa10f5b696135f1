#include "rankwright/report/explain/memory_text.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/golden.h"

namespace rankwright::report {
namespace memory_text_test {

constexpr cost::ErrorBand kBand{0.1, 20};

/// Returns an estimate of 40 GiB of parameters and 20 GiB of activations.
cost::MemoryEstimate make_sixty_gib() {
  cost::MemoryEstimate memory{.pp_rank = 3, .instant = cost::Instant::loss};
  memory[cost::Entry::parameters] = 40.0_GiB;
  memory[cost::Entry::activations] = 20.0_GiB;
  return memory;
}

TEST(MemoryTitle, NamesRankInstantAndVerdict) {
  // 60 GiB ±10 % is 54 to 66 GiB: surely within 80, surely beyond 40, and neither for 62 and 58.
  std::string titles;
  for (const double gib : {80.0, 62.0, 58.0, 40.0})
    titles += write_memory_title(make_sixty_gib(), gib * 1.0_GiB, kBand) + "\n";
  golden::expect("report/memory-titles.txt", titles);
}

TEST(MemoryText, ShowsItemsTotalAndDevice) {
  // The longest bar is 80 GiB in 40 columns; parameters, activations and total are 40, 20 and
  // 60 GiB: 20, 10 and 30 columns. Items of zero bytes are left out.
  golden::expect("report/memory.txt",
                 render_memory_text(make_sixty_gib(), 80.0_GiB, kBand, {}, 160));
}

TEST(MemoryText, MergesSmallItemsIntoOther) {
  // Two items of 64 MiB are 128 MiB, 0.2 % of 80 GiB.
  cost::MemoryEstimate memory = make_sixty_gib();
  memory[cost::Entry::workspace] = 0.0625_GiB;
  memory[cost::Entry::buckets] = 0.0625_GiB;
  golden::expect("report/memory-small-items.txt",
                 render_memory_text(memory, 80.0_GiB, kBand, {}, 120));
  EXPECT_EQ(make_memory_table(memory, 80.0_GiB).rows.size(), 4u);
}

TEST(TotalsText, IsEmptyForOneAndShortForMany) {
  EXPECT_EQ(format_totals(std::vector<Bytes>{60.0_GiB}), "");
  std::vector<Bytes> many;  // 100 GiB on pp rank 0 down to 37 GiB on pp rank 63
  for (int r = 0; r < 64; ++r) many.push_back((100.0 - r) * 1.0_GiB);
  golden::expect("report/memory-totals.txt",
                 fmt::format("3 pp ranks, two of them equal: {}\n64 pp ranks, all different: {}\n",
                             format_totals(std::vector<Bytes>{60.0_GiB, 50.0_GiB, 50.0_GiB}),
                             format_totals(many)));
}

}  // namespace memory_text_test
}  // namespace rankwright::report
