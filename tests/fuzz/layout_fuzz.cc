// Any text is read as a pipeline layout, or refused; what is read comes back from its own text.
#include "rankwright/plan/stages.h"
#include "tests/fuzz/fuzz.h"

int fuzz_layout(const std::uint8_t* data, std::size_t size) {
  using namespace rankwright;
  const Result<plan::Stages> stages = plan::parse_layout(as_text(data, size));
  if (!stages) {
    check_finding(stages.error());
    return 0;
  }
  const Result<plan::Stages> again = plan::parse_layout(show_layout(*stages));
  RW_CHECK(again && *again == *stages);
  return 0;
}
