#include <gtest/gtest.h>

#include <cstdio>
#include <set>

#include "rankwright/rules/rule.h"
#include "rankwright/runtime/transports.h"
#include "tests/support/golden.h"

namespace rankwright::runtime {
namespace backends_test {

TEST(Backends, FindBackend_KnownName_ReturnsItsRow) {
  std::set<std::string_view> names;
  ASSERT_FALSE(backends().empty());
  for (const Backend& backend : backends()) {
    EXPECT_TRUE(names.insert(backend.name).second) << backend.name;
    EXPECT_EQ(find_backend(backend.name), &backend);
    EXPECT_FALSE(backend.summary.empty()) << backend.name;
    EXPECT_NE(backend.join, nullptr) << backend.name;
  }
  EXPECT_EQ(find_backend("gloo"), nullptr);
  EXPECT_TRUE(find_backend("mpi")->built);
}

TEST(Nccl, NotBuilt_JoinNamesTheMissingFiles) {
  const Backend& nccl = *find_backend("nccl");
  EXPECT_EQ(nccl.built, !nccl_version().empty());
  if (nccl.built) {
    golden::expect("runtime/nccl-summary.txt", std::string(nccl.summary) + "\n");  // never run
    std::printf("NCCL %s linked, never run here\n", nccl_version().c_str());
    return;
  }
  std::printf("stub\n");
  const Result<std::shared_ptr<Transport>> none = nccl.join({0, 1});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, "RW0704");
  EXPECT_NE(none.error().detail.find("nccl.h"), std::string::npos);
}

TEST(RunningFaults, Codes_StartWithRw07AndHaveAPage) {
  ASSERT_FALSE(rules::running_pages().empty());
  for (const rules::Page& page : rules::running_pages()) {
    EXPECT_TRUE(page.code.starts_with("RW07")) << page.code;
    EXPECT_EQ(page.severity, Severity::error) << page.code;
    const Diagnostic fault = running_fault(page.code, "some numbers");
    EXPECT_EQ(fault.message, page.title);
    EXPECT_EQ(fault.detail, "some numbers");
    EXPECT_EQ(help(fault), page.remedy);
    EXPECT_TRUE(page.why.ends_with('.') && page.remedy.ends_with('.')) << page.code;
  }
}

}  // namespace backends_test
}  // namespace rankwright::runtime
