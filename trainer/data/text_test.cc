#include "trainer/data/text.h"

#include <cstdlib>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "trainer/data/gzip.h"

namespace taas {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class TextTest : public testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& text) {
    const std::string path = std::string(std::getenv("TEST_TMPDIR")) + "/" + name;
    EXPECT_THAT(files_.WriteAtomically(path, text), IsOk());
    return path;
  }
  // Its tokens, and what comes next of each.
  static std::string Example(const Dataset& set, int64_t index) {
    std::vector<int64_t> ids(static_cast<size_t>(set.ids()));
    std::vector<int32_t> labels(static_cast<size_t>(set.labels_per_example()));
    GatherRows(set, {&index, 1}, {.ids = ids, .labels = labels});
    const std::string text(ids.begin(), ids.end());
    return text + " " + std::string(labels.begin(), labels.end());
  }
  PosixFileSystem files_;
};

TEST_F(TextTest, ExamplesOverlapByTheTokenThatIsPredicted) {
  const auto set = ReadText(files_, {Write("a.txt", "abcde"), Write("b.txt.gz",
                                                                    GzipCompress("fgh\xff!"))}, 3);
  ASSERT_THAT(set, IsOk());
  EXPECT_EQ(set->examples(), 3);
  EXPECT_EQ(set->features(), 3);
  EXPECT_EQ(set->vocabulary(), 256);
  EXPECT_EQ(set->classes(), 0);
  EXPECT_EQ(Example(*set, 0), "abc bcd");
  EXPECT_EQ(Example(*set, 1), "def efg");
  EXPECT_EQ(Example(*set, 2), "gh\xff h\xff!");
}

TEST_F(TextTest, TextThatIsTooShortIsNamed) {
  const std::string path = Write("short.txt", "abc");
  EXPECT_THAT(ReadText(files_, {path}, 3),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("short.txt: has 3 tokens, a context of 3 needs one more")));
  EXPECT_THAT(ReadText(files_, {path}, 2), IsOk());
  EXPECT_THAT(ReadText(files_, {path + ".gone"}, 2),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("short.txt.gone")));
}

TEST(TokensTest, ATokenOutsideOfTheVocabularyIsNamed) {
  EXPECT_THAT(Dataset::FromTokens("x", {0, 1, 9, 3}, 2, 9),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("token 9 at 2")));
}

}  // namespace
}  // namespace taas
