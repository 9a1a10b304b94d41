// That each model has a row, and that rows are of models.

#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "bench/gpu/rows.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "trainer/model/model.h"

namespace taas::bench {
namespace {

TEST(RowsTest, EachNamedModelIsCompared) {
  for (const Size size : {Size::kSmall, Size::kWhole}) {
    std::set<std::string> compared;
    for (const Row& row : ComparedRows(size)) {
      const auto spec = ParseModel(row.model, row.data);
      ASSERT_THAT(spec, IsOk()) << row.name;
      compared.insert(spec->name);
    }
    std::istringstream known(KnownModels());
    for (std::string name; std::getline(known >> std::ws, name, ',');) {
      if (size == Size::kSmall && name == "resnet50") continue;  // It is large.
      EXPECT_TRUE(compared.contains(name)) << name;
    }
  }
}

TEST(RowsTest, NamesAreOfOneRowEach) {
  for (const Size size : {Size::kSmall, Size::kWhole}) {
    for (const std::vector<Row>& rows : {ComparedRows(size), MeasuredRows(size)}) {
      std::set<std::string> names;
      for (const Row& row : rows) {
        EXPECT_TRUE(names.insert(row.name).second) << row.name;
        EXPECT_THAT(ParseModel(row.model, row.data), IsOk()) << row.name;
      }
    }
  }
}

}  // namespace
}  // namespace taas::bench
