#include "operator/kube/object_fields.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/api/kube_protobuf.h"
#include "operator/base/protobuf_slice.h"
#include "operator/base/status_matchers.h"

// That each field is found where a real API server has it: //e2e:protobuf_test. What is decoded
// from JSON: pod_decoder_test.cc.

namespace taas {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

std::string Text(int number, std::string_view bytes) {
  std::string message;
  AppendField(number, bytes, &message);
  return message;
}
std::string Whole(int number, int64_t value) {
  std::string message;
  AppendField(number, static_cast<uint64_t>(value), &message);
  return message;
}
std::string Entry(std::string_view key, std::string_view value) {
  return Text(1, key) + Text(2, value);
}

std::string Pod(const std::string& metadata, const std::string& status = "") {
  return WrapKubeProtobuf(Text(1, Text(1, "a") + metadata) + Text(3, status));
}

TEST(ObjectFieldsTest, OfProtobufTheWantedFieldsAreTakenAndTheOthersPassedOver) {
  const auto fields = ReadObjectFields(
      Pod(Text(11, Entry("other", "x")) + Text(11, Entry("taas.dev/role", "worker")) +
              Text(13, Text(1, "Job") + Text(4, "u1")) +
              Text(13, Text(1, "TFJob") + Text(4, "u2") + Whole(6, 1)) + Text(17, "ignored") +
              Text(8, Whole(1, 1'800'000'000)) + Text(9, ""),
          Text(8, Text(1, "first") + Text(2, Text(3, Whole(1, 137)))) +
              Text(8, Text(1, "second") + Whole(5, 3) + Text(3, Text(3, Whole(1, -1))))));
  ASSERT_THAT(fields, IsOk());
  EXPECT_EQ(fields->role, "worker");
  ASSERT_THAT(fields->owners, SizeIs(2));
  EXPECT_FALSE(fields->owners[0].controller);
  EXPECT_TRUE(fields->owners[1].controller);
  EXPECT_EQ(fields->owners[1].uid, "u2");
  EXPECT_EQ(fields->meta.creation_time, Clock::WallTime(std::chrono::seconds(1'800'000'000)));
  EXPECT_FALSE(fields->meta.deletion_time.has_value());
  ASSERT_THAT(fields->statuses, SizeIs(2));
  EXPECT_EQ(fields->statuses[0].exit_code, 137);
  EXPECT_EQ(fields->statuses[1].restart_count, 3);
  EXPECT_EQ(fields->statuses[1].last_exit_code, -1);
}

TEST(ObjectFieldsTest, TextOfProtobufIsCutAtACharacterAndBytesThatAreNoneAreReplaced) {
  const std::string umlauts = "x" + std::string(600, '\xC3');
  const auto fields = ReadObjectFields(Pod("", Text(3, umlauts) + Text(4, "a\xFFz")));
  ASSERT_THAT(fields, IsOk());
  EXPECT_THAT(fields->message, SizeIs(testing::Le(kPodMessageBytesMax)));
  EXPECT_THAT(fields->message, testing::EndsWith("\xEF\xBF\xBD"));
  EXPECT_EQ(fields->reason, "a\xEF\xBF\xBDz");
}

TEST(ObjectFieldsTest, OfTheMetadataAloneNothingElseIsRead) {
  // What is a pod's status is another thing in another kind.
  const auto fields = ReadObjectMetadata(WrapKubeProtobuf(
      Text(1, Text(1, "a") + Text(14, "kueue.x-k8s.io/managed")) + Whole(3, 7)));
  ASSERT_THAT(fields, IsOk());
  EXPECT_EQ(fields->meta.name, "a");
  EXPECT_TRUE(fields->held_by_kueue);
}

TEST(ObjectFieldsTest, AFieldOfAnotherTypeOrATimeThatIsNoneIsRefusedWithItsName) {
  EXPECT_THAT(ReadObjectFields(Pod(Whole(3, 1))),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("metadata.namespace")));
  EXPECT_THAT(ReadObjectFields(Pod(Text(7, "1"))),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("metadata.generation")));
  EXPECT_THAT(ReadObjectFields(Pod(Text(8, Whole(1, INT64_MAX)))),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("creationTimestamp")));
  EXPECT_THAT(ReadObjectFields(Pod("", Text(8, Whole(5, int64_t{1} << 40)))),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("restartCount")));
}

TEST(ObjectFieldsTest, EveryCutOfAnObjectIsRefused) {
  const std::string pod = Pod(Text(3, "ns") + Text(11, Entry("taas.dev/role", "ps")),
                              Text(2, Text(1, "Ready") + Text(2, "True")));
  ASSERT_THAT(ReadObjectFields(pod), IsOk());
  for (size_t end = 0; end < pod.size(); ++end) {
    EXPECT_THAT(ReadObjectFields(pod.substr(0, end)),
                StatusIs(absl::StatusCode::kInvalidArgument))
        << end;
  }
}

}  // namespace
}  // namespace taas
