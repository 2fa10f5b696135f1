#include "rankwright/report/explain/memory_text.h"

#include <gmock/gmock.h>

namespace rankwright::report {
namespace memory_text_test {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr cost::ErrorBand kBand{0.1, 20};

/// Returns an estimate of 40 GiB of parameters and 20 GiB of activations.
cost::MemoryEstimate make_sixty_gib() {
  cost::MemoryEstimate memory{.pp_rank = 3, .instant = cost::Instant::loss};
  memory[cost::Entry::parameters] = 40.0_GiB;
  memory[cost::Entry::activations] = 20.0_GiB;
  return memory;
}

TEST(MemoryTitle, NamesRankInstantAndVerdict) {
  EXPECT_EQ(write_memory_title(make_sixty_gib(), 80.0_GiB, kBand),
            "memory of pp rank 3 at the loss: 60 of 80 GiB ±10 %, fits with margin");
  EXPECT_THAT(write_memory_title(make_sixty_gib(), 62.0_GiB, kBand), HasSubstr("tight"));
  EXPECT_THAT(write_memory_title(make_sixty_gib(), 58.0_GiB, kBand),
              HasSubstr("over, within estimate error"));
  EXPECT_THAT(write_memory_title(make_sixty_gib(), 40.0_GiB, kBand), HasSubstr("does not fit"));
}

TEST(MemoryText, ShowsItemsTotalAndDevice) {
  // The longest bar is 80 GiB in 40 columns; the others are 40, 20 and 60 GiB.
  const std::string text = render_memory_text(make_sixty_gib(), 80.0_GiB, kBand, {}, 160);
  const auto line = [](const char* name, std::size_t bars, const char* figures) {
    return "  " + std::string(name) + std::string(bars, '#') + std::string(40 - bars, ' ') +
           figures;
  };
  EXPECT_THAT(text, HasSubstr(line("parameters   ", 20, "  40 GiB   50.0 %")));
  EXPECT_THAT(text, HasSubstr(line("activations  ", 10, "  20 GiB   25.0 %")));
  EXPECT_THAT(text, HasSubstr(line("total        ", 30,
                                   "  60 GiB   75.0 %  fits with margin: 20 GiB free")));
  EXPECT_THAT(text, HasSubstr(line("device       ", 40, "  80 GiB  100.0 %")));
  EXPECT_THAT(text, Not(HasSubstr("gradients")));
}

TEST(MemoryText, MergesSmallItemsIntoOther) {
  cost::MemoryEstimate memory = make_sixty_gib();
  memory[cost::Entry::workspace] = 0.0625_GiB;
  memory[cost::Entry::buckets] = 0.0625_GiB;
  EXPECT_THAT(render_memory_text(memory, 80.0_GiB, kBand, {}, 120),
              HasSubstr("128 MiB    0.2 %  buckets, workspace"));
  EXPECT_EQ(make_memory_table(memory, 80.0_GiB).rows.size(), 4u);
}

TEST(TotalsText, IsEmptyForOneAndShortForMany) {
  EXPECT_EQ(format_totals(std::vector<Bytes>{60.0_GiB}), "");
  EXPECT_EQ(format_totals(std::vector<Bytes>{60.0_GiB, 50.0_GiB, 50.0_GiB}),
            "by pp rank: 0 has 60 GiB, 1-2 have 50 GiB");
  std::vector<Bytes> many;
  for (int r = 0; r < 64; ++r) many.push_back((100.0 - r) * 1.0_GiB);
  EXPECT_EQ(format_totals(many), "64 pp ranks: least 37 GiB on 63, most 100 GiB on 0, last 37 GiB");
}

}  // namespace memory_text_test
}  // namespace rankwright::report
