#include "tools/tidy/header_names.h"

#include <string>
#include <string_view>

#include "gtest/gtest.h"

namespace taas::tidy {
namespace {

std::string HeaderOf(std::string_view name) {
  const HeaderNames names;
  const auto group = names.Find(name);
  return group.has_value() ? names.HeaderOf(*group) : "none";
}

bool Brings(std::string_view header, std::string_view name) {
  const HeaderNames names;
  return names.BroughtBy(header).contains(names.Find(name).value());
}

TEST(HeaderNamesTest, HeadersAreSpelledAsIncludeLinesHaveThem) {
  EXPECT_EQ(HeaderOf("std::vector"), "<vector>");
  EXPECT_EQ(HeaderOf("std::ranges::sort"), "<algorithm>");
  EXPECT_EQ(HeaderOf("int64_t"), "<cstdint>");
  EXPECT_EQ(HeaderOf("::close"), "<unistd.h>");
  EXPECT_EQ(HeaderOf("absl::StatusOr"), "\"absl/status/statusor.h\"");
  EXPECT_EQ(HeaderOf("EXPECT_THAT"), "\"gmock/gmock.h\"");
}

TEST(HeaderNamesTest, NamesOfSeveralHeadersAndOfOursHaveNone) {
  for (const char* const name : {"std::get", "std::begin", "size_t", "close", "taas::Status", ""}) {
    EXPECT_EQ(HeaderOf(name), "none") << name;
  }
}

TEST(HeaderNamesTest, HeadersBringTheirOwnNamesAndSomeOfOthers) {
  EXPECT_TRUE(Brings("vector", "std::vector"));
  EXPECT_TRUE(Brings("vector", "std::move"));
  EXPECT_FALSE(Brings("vector", "std::exchange"));
  EXPECT_TRUE(Brings("utility", "std::exchange"));
  EXPECT_TRUE(Brings("utility", "std::move"));
  EXPECT_TRUE(Brings("charconv", "std::errc"));
  EXPECT_FALSE(Brings("charconv", "std::error_code"));
  EXPECT_TRUE(Brings("absl/status/statusor.h", "absl::OkStatus"));
  EXPECT_TRUE(Brings("gmock/gmock.h", "EXPECT_EQ"));
  EXPECT_FALSE(Brings("boost/asio.hpp", "std::vector"));
}

}  // namespace
}  // namespace taas::tidy
