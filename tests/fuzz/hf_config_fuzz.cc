// Any text is read as a Hugging Face config.json, or refused; what is read can be counted.
#include "rankwright/import/plan/hf_config.h"
#include "rankwright/model/parameters.h"
#include "tests/fuzz/fuzz.h"

int fuzz_hf_config(const std::uint8_t* data, std::size_t size) {
  using namespace rankwright;
  const Result<model::Model> model = importer::read_hf_config(as_text(data, size), "config.json");
  if (!model) {
    check_finding(model.error());
    return 0;
  }
  RW_CHECK(count_parameters(*model).total() >= 1);
  return 0;
}
