#include "operator/kube/list_page.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/api/kube_protobuf.h"
#include "operator/base/protobuf_slice.h"
#include "operator/base/status_matchers.h"

namespace taas {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

absl::Status Ignore(std::string_view) { return absl::OkStatus(); }

TEST(ListPageTest, ItemsComeAsTheyWereWrittenWhateverTheOrderOfTheMembers) {
  std::vector<std::string> items;
  const auto keep = [&](std::string_view item) {
    items.emplace_back(item);
    return absl::OkStatus();
  };
  const absl::StatusOr<ListPage> page = ReadListPage(
      R"( {"kind":"PodList", "items":[ {"a":"]}\"{"} , {"b":[{}, [1]]},3],
          "metadata":{"resourceVersion":"17","continue":"x\/y","remainingItemCount":4}} )",
      keep);
  ASSERT_THAT(page, IsOk());
  EXPECT_THAT(items, ElementsAre(R"({"a":"]}\"{"})", R"({"b":[{}, [1]]})", "3"));
  EXPECT_EQ(page->resource_version, "17");
  EXPECT_EQ(page->continue_token, "x/y");
}

TEST(ListPageTest, NoItemsMayBeAnEmptyArrayOrNull) {
  for (const char* items : {"[]", "null", "[ ]"}) {
    const std::string text =
        std::string(R"({"metadata":{"resourceVersion":"1"},"items":)") + items + "}";
    EXPECT_THAT(ReadListPage(text, Ignore), IsOk()) << items;
  }
}

TEST(ListPageTest, AReplyThatIsNoListIsRefused) {
  EXPECT_THAT(ReadListPage(R"({"kind":"Status","metadata":{}})", Ignore),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("no list")));
  EXPECT_THAT(ReadListPage("", Ignore), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(ReadListPage("<html>", Ignore), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(ListPageTest, EveryCutOfAListIsAnErrorAndNeverAShorterList) {
  const std::string text =
      R"({"items":[{"a":"x\\\"y"},{"b":1}],"metadata":{"resourceVersion":"1"}})";
  ASSERT_THAT(ReadListPage(text, Ignore), IsOk());
  for (size_t end = 0; end < text.size(); ++end) {
    EXPECT_THAT(ReadListPage(text.substr(0, end), Ignore),
                StatusIs(absl::StatusCode::kInvalidArgument))
        << text.substr(0, end);
  }
}

// As a PodList with these pods is sent.
std::string ProtobufList(const std::vector<std::string>& items) {
  std::string meta, list;
  AppendField(1, std::string_view(""), &meta);
  AppendField(2, std::string_view("17"), &meta);
  AppendField(3, std::string_view("x/y"), &meta);
  AppendField(4, uint64_t{4}, &meta);
  AppendField(1, meta, &list);
  for (const std::string& item : items) AppendField(2, item, &list);
  return WrapKubeProtobuf(list);
}

TEST(ListPageTest, ItemsOfProtobufComeInTheEnvelopeThatTheyHaveAlone) {
  std::vector<std::string> items;
  const auto keep = [&](std::string_view item) {
    items.emplace_back(item);
    return absl::OkStatus();
  };
  const auto page = ReadListPage(ProtobufList({"first", ""}), keep);
  ASSERT_THAT(page, IsOk());
  EXPECT_THAT(items, ElementsAre(WrapKubeProtobuf("first"), WrapKubeProtobuf("")));
  EXPECT_EQ(page->resource_version, "17");
  EXPECT_EQ(page->continue_token, "x/y");
  items.clear();
  EXPECT_THAT(ReadListPage(ProtobufList({}), keep), IsOk());
  EXPECT_THAT(items, IsEmpty());
}

TEST(ListPageTest, EveryCutOfAProtobufListIsAnErrorAndNeverAShorterList) {
  const std::string text = ProtobufList({"first", "second"});
  for (size_t end = 0; end < text.size(); ++end) {
    EXPECT_THAT(ReadListPage(text.substr(0, end), Ignore),
                StatusIs(absl::StatusCode::kInvalidArgument))
        << end;
  }
}

}  // namespace
}  // namespace taas
