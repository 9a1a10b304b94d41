// Which header of a library has which name, for the headers that the build compiles beforehand and
// for those that come with them.
//
// Ownership: values. Threads: any for the const methods. Errors: none.
//
//   const HeaderNames names;
//   const auto group = names.Find("std::vector");
//   if (!names.BroughtBy("map").contains(*group)) Print(names.HeaderOf(*group));  // "<vector>"

#ifndef TOOLS_TIDY_HEADER_NAMES_H_
#define TOOLS_TIDY_HEADER_NAMES_H_

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace taas::tidy {

class HeaderNames {
 public:
  HeaderNames();

  // The group of a name, "std::vector" or "int64_t": names that come from the same headers.
  std::optional<size_t> Find(std::string_view name) const;
  // The header to include for a group, as an include line has it: "<vector>", "\"gtest/gtest.h\"".
  const std::string& HeaderOf(size_t group) const { return headers_[group]; }
  // The groups that are there once `header` ("vector", "gtest/gtest.h") is included.
  const std::set<size_t>& BroughtBy(std::string_view header) const;

 private:
  std::vector<std::string> headers_;  // By group.
  std::map<std::string, size_t, std::less<>> names_;
  std::map<std::string, std::set<size_t>, std::less<>> brought_;
};

}  // namespace taas::tidy

#endif  // TOOLS_TIDY_HEADER_NAMES_H_
