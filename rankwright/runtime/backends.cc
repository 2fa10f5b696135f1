#include <array>

#include "rankwright/base/check.h"
#include "rankwright/rules/rule.h"
#include "rankwright/runtime/transports.h"

namespace rankwright::runtime {

std::span<const Backend> backends() {
  static const std::array<Backend, 2> kRows{mpi_backend, nccl_backend};
  return kRows;
}

const Backend* find_backend(std::string_view name) {
  for (const Backend& backend : backends())
    if (backend.name == name) return &backend;
  return nullptr;
}

Diagnostic running_fault(std::string_view code, std::string detail, std::string hint) {
  const rules::Page* const page = rules::find_page(code);
  RW_CHECK(page != nullptr);
  if (hint.empty()) hint = page->remedy;
  return {.code = page->code,
          .severity = page->severity,
          .message = std::string(page->title),
          .detail = std::move(detail),
          .hint = std::move(hint)};
}

}  // namespace rankwright::runtime
