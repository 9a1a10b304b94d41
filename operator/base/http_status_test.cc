#include "operator/base/http_status.h"

#include <string>

#include "gtest/gtest.h"

namespace taas {
namespace {

struct Case {
  const char* name;
  int code;
  const char* reason;
  absl::StatusCode want;
};

class HttpStatusTest : public testing::TestWithParam<Case> {};

TEST_P(HttpStatusTest, SaysWhatACallerCanDo) {
  EXPECT_EQ(StatusCodeOfHttp(GetParam().code, GetParam().reason), GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(
    Table, HttpStatusTest,
    testing::Values(Case{"BadRequest", 400, "", absl::StatusCode::kInvalidArgument},
                    Case{"Invalid", 422, "Invalid", absl::StatusCode::kInvalidArgument},
                    Case{"TooLarge", 413, "", absl::StatusCode::kInvalidArgument},
                    Case{"Unauthorized", 401, "", absl::StatusCode::kUnauthenticated},
                    Case{"Forbidden", 403, "", absl::StatusCode::kPermissionDenied},
                    Case{"NotFound", 404, "", absl::StatusCode::kNotFound},
                    Case{"NoSuchMethod", 405, "", absl::StatusCode::kUnimplemented},
                    Case{"NoSuchForm", 406, "", absl::StatusCode::kUnimplemented},
                    Case{"Conflict", 409, "Conflict", absl::StatusCode::kAborted},
                    Case{"Exists", 409, "AlreadyExists", absl::StatusCode::kAlreadyExists},
                    Case{"Expired", 410, "Expired", absl::StatusCode::kOutOfRange},
                    Case{"TooMany", 429, "", absl::StatusCode::kUnavailable},
                    Case{"Down", 503, "", absl::StatusCode::kUnavailable},
                    Case{"MaybeApplied", 500, "", absl::StatusCode::kUnknown},
                    Case{"MaybeAppliedLate", 504, "Timeout", absl::StatusCode::kUnknown},
                    Case{"Teapot", 418, "", absl::StatusCode::kUnknown}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace taas
