#include "tools/tidy/includes.h"

#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/tidy/source_text.h"

namespace taas::tidy {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// "path:line: name header" of each finding.
std::vector<std::string> MissingIn(
    const std::vector<std::pair<std::string, std::string>>& files) {
  IncludeGraph graph;
  for (const auto& [path, text] : files) graph.Add(path, text, CodeOnly(text));
  std::vector<std::string> all;
  for (const MissingInclude& missing : graph.Missing()) {
    all.push_back(missing.path + ":" + std::to_string(missing.line) + ": " + missing.name + " " +
                  missing.header);
  }
  return all;
}

std::vector<std::string> MissingIn(const std::string& text) {
  return MissingIn({{"x.cc", text}});
}

// Symptom: with the headers of the libraries compiled beforehand a file without an include is
// built, and does not compile under the sanitizers.
TEST(IncludesTest, TheFirstUseOfEachHeaderThatIsMissingIsNamed) {
  EXPECT_THAT(MissingIn("#include <string>\n"
                        "std::string f(std::vector<int> v);\n"
                        "std::vector<int> g(int64_t x);\n"),
              ElementsAre("x.cc:2: std::vector <vector>", "x.cc:3: int64_t <cstdint>"));
  EXPECT_THAT(MissingIn("absl::StatusOr<int> f() { return absl::OkStatus(); }\n"),
              ElementsAre("x.cc:1: absl::StatusOr \"absl/status/statusor.h\"",
                          "x.cc:1: absl::OkStatus \"absl/status/status.h\""));
}

TEST(IncludesTest, AHeaderIsReachedThroughOursButNotThroughWhatIncludesThem) {
  const std::string uses = "inline std::map<int, int> m;\n";
  EXPECT_THAT(MissingIn({{"a/x.h", "#include \"a/y.h\"\n" + uses},
                         {"a/y.h", "#include \"a/z.h\"\n"},
                         {"a/z.h", "#include <map>\n#include \"a/x.h\"\n"}}),
              IsEmpty());
  EXPECT_THAT(MissingIn({{"a/x.cc", "#include <map>\n#include \"a/x.h\"\n"}, {"a/x.h", uses}}),
              ElementsAre("a/x.h:1: std::map <map>"));
  EXPECT_THAT(MissingIn({{"a/x.cc", "#include \"a/generated.h\"\n" + uses}}),
              ElementsAre("a/x.cc:2: std::map <map>"));
}

TEST(IncludesTest, IncludeLinesHaveSpacesAndBothQuotes) {
  EXPECT_THAT(MissingIn("  #  include <span>  // For x.\n#include \"gmock/gmock.h\"\n"
                        "#include MACRO\n"
                        "TEST(A, B) { EXPECT_THAT(std::span<int>(), testing::IsEmpty()); }\n"),
              IsEmpty());
  EXPECT_THAT(MissingIn("// #include <span>\nstd::span<int> x;\n"),
              ElementsAre("x.cc:2: std::span <span>"));
}

TEST(IncludesTest, NamesAreFoundWithTheirNamespacesOnly) {
  EXPECT_THAT(MissingIn("vector<int> move(string s);  // std::vector\n"
                        "const char* text = \"std::vector\";\n"
                        "namespace ours { int ours::std::vector; }\n"
                        "x.std::vector(); x->memcpy(1); Box<int>::memcpy(2); ours::memcpy(3);\n"
                        "int v = 0x1fULL + 1'000; std::vector_like y; my_int64_t z;\n"),
              IsEmpty());
  EXPECT_THAT(MissingIn("auto x = ::std::move(y);\n"),
              ElementsAre("x.cc:1: std::move <utility>"));
  EXPECT_THAT(MissingIn("using namespace std::chrono_literals;\n"),
              ElementsAre("x.cc:1: std::chrono_literals <chrono>"));
  EXPECT_THAT(MissingIn("void f(std::chrono::seconds s);\n"),
              ElementsAre("x.cc:1: std::chrono <chrono>"));
  EXPECT_THAT(MissingIn("int x = ::read(0); int y = read(1);\n"),
              ElementsAre("x.cc:1: ::read <unistd.h>"));
}

}  // namespace
}  // namespace taas::tidy
