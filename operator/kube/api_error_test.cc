#include "operator/kube/api_error.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/api/kube_protobuf.h"
#include "operator/base/protobuf_slice.h"
#include "operator/base/status.h"
#include "operator/base/status_matchers.h"

namespace taas {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kExists[] = R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",
  "message":"pods \"a\" already exists","reason":"AlreadyExists",
  "details":{"name":"a","kind":"pods"},"code":409})";

TEST(ApiErrorTest, SuccessIsOk) {
  EXPECT_THAT(StatusOfReply({.code = 201}, "create pod ns/a"), IsOk());
}

TEST(ApiErrorTest, ReasonAndCodeTravelWithTheStatus) {
  const absl::Status status = StatusOfReply({.code = 409, .body = kExists}, "create pod ns/a");
  EXPECT_THAT(status,
              StatusIs(absl::StatusCode::kAlreadyExists,
                       AllOf(HasSubstr("create pod ns/a: 409 AlreadyExists"), HasSubstr("\"a\""))));
  EXPECT_EQ(ApiReason(status), "AlreadyExists");
  EXPECT_EQ(ApiCode(status), 409);
}

TEST(ApiErrorTest, PayloadsSurviveAPrefix) {
  const absl::Status status =
      Annotate(StatusOfReply({.code = 409, .body = kExists}, "create pod ns/a"), "job ns/j");
  EXPECT_EQ(ApiReason(status), "AlreadyExists");
}

// The table has its own test (base/http_status_test.cc); here, that code and reason reach it.
TEST(ApiErrorTest, CodeAndReasonTogetherDecideTheRetryClass) {
  EXPECT_EQ(StatusOfApiError({.code = 409, .reason = "Conflict"}, "x").code(),
            absl::StatusCode::kAborted);
  EXPECT_EQ(StatusOfApiError({.code = 409, .reason = "AlreadyExists"}, "x").code(),
            absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(StatusOfApiError({.code = 410, .reason = "Expired"}, "x").code(),
            absl::StatusCode::kOutOfRange);
}

TEST(ApiErrorTest, RetryAfterComesFromTheHeaderElseFromTheDetails) {
  constexpr char kBusy[] =
      R"({"reason":"TooManyRequests","details":{"retryAfterSeconds":7},"code":429})";
  EXPECT_EQ(ApiRetryAfter(StatusOfReply({.code = 429, .body = kBusy}, "x")).count(), 7);
  HttpReply reply{.code = 429, .body = kBusy};
  reply.retry_after = std::chrono::seconds(2);
  EXPECT_EQ(ApiRetryAfter(StatusOfReply(reply, "x")).count(), 2);
}

TEST(ApiErrorTest, AStatusInProtobufSaysTheSame) {
  std::string details, status;
  AppendField(1, std::string_view("a"), &details);
  AppendField(5, uint64_t{7}, &details);
  AppendField(2, std::string_view("Failure"), &status);
  AppendField(3, std::string_view("too many \xFF"), &status);
  AppendField(4, std::string_view("TooManyRequests"), &status);
  AppendField(5, details, &status);
  AppendField(6, uint64_t{429}, &status);
  const ApiError error = ParseApiError(WrapKubeProtobuf(status), 500);
  EXPECT_EQ(error.code, 429);
  EXPECT_EQ(error.reason, "TooManyRequests");
  EXPECT_EQ(error.message, "too many \xEF\xBF\xBD");
  EXPECT_EQ(error.retry_after.count(), 7);
  const std::string cut = WrapKubeProtobuf(status.substr(0, status.size() - 1));
  EXPECT_EQ(ParseApiError(cut, 503).code, 503);
}

TEST(ApiErrorTest, AProxysPageIsQuotedUpToItsFirstLine) {
  const absl::Status status =
      StatusOfReply({.code = 502, .body = "<html>Bad Gateway\n<body>…"}, "list pods");
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kUnknown, "list pods: 502: <html>Bad Gateway"));
  EXPECT_EQ(ApiReason(status), "");
}

TEST(ApiErrorTest, ReasonOfAWrongTypeFallsBackToTheHttpCode) {
  EXPECT_EQ(ParseApiError(R"({"reason":3,"code":409})", 500).code, 500);
  EXPECT_EQ(ParseApiError("", 503).code, 503);
}

TEST(ApiErrorTest, AStatusOfAnotherMakeHasNoReason) {
  EXPECT_EQ(ApiReason(absl::UnavailableError("no")), "");
  EXPECT_EQ(ApiCode(absl::UnavailableError("no")), 0);
}

}  // namespace
}  // namespace taas
