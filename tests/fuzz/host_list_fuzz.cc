// Any text is a host list or is refused with its column; a list that is shown is read back.
#include "rankwright/import/cluster/host_list.h"
#include "tests/fuzz/fuzz.h"

int fuzz_host_list(const std::uint8_t* data, std::size_t size) {
  using namespace rankwright;
  constexpr std::size_t kMax = 10'000;
  const Result<std::vector<std::string>> names =
      importer::parse_host_list(as_text(data, size), kMax);
  if (!names) {
    check_finding(names.error());
    return 0;
  }
  RW_CHECK(!names->empty() && names->size() <= kMax);
  const Result<std::vector<std::string>> back =
      importer::parse_host_list(importer::show_host_list(*names), kMax);
  RW_CHECK(back.has_value() && *back == *names);
  return 0;
}
