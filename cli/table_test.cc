#include "cli/table.h"

#include "gtest/gtest.h"

namespace taas {
namespace {

TEST(TableTest, ColumnsAreAsWideAsTheirWidestCell) {
  EXPECT_EQ(FormatTable({{"NAME", "STATE", "AGE"}, {"mnist-long", "Running", "5m"}}),
            "NAME         STATE     AGE\n"
            "mnist-long   Running   5m\n");
}

TEST(TableTest, AnEmptyCellIsADashAndNoLineEndsInBlanks) {
  EXPECT_EQ(FormatTable({{"A", "B"}, {"", "x"}, {"only"}}, "  "),
            "  A      B\n  -      x\n  only\n");
}

TEST(TableTest, CharactersOfSeveralBytesCountOnce) {
  EXPECT_EQ(FormatTable({{"\u00e9t\u00e9", "x"}, {"abc", "y"}}), "\u00e9t\u00e9   x\nabc   y\n");
}

// The message of an event, with a line end in it, looked like a line of `taas list`.
TEST(TableTest, ARowIsALineWhateverIsInItsCells) {
  EXPECT_EQ(FormatTable({{"NAME", "MESSAGE"}, {"a", "x\nb   Succeeded\033[1A"}, {"c", "d"}}),
            "NAME   MESSAGE\na      x\\nb   Succeeded\\u001b[1A\nc      d\n");
}

}  // namespace
}  // namespace taas
