// gMock matchers for absl::Status and absl::StatusOr (the abseil of Debian 12 has none).
//
// Ownership: values. Threads: the test's. Errors: none.
//
//   EXPECT_THAT(Parse("x"), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("x")));
//   EXPECT_THAT(Load(), IsOk());

#ifndef OPERATOR_BASE_STATUS_MATCHERS_H_
#define OPERATOR_BASE_STATUS_MATCHERS_H_

#include <ostream>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"

namespace taas::testing_internal {

inline const absl::Status& StatusOf(const absl::Status& status) { return status; }
template <typename T>
const absl::Status& StatusOf(const absl::StatusOr<T>& or_value) {
  return or_value.status();
}

}  // namespace taas::testing_internal

namespace taas {

MATCHER(IsOk, "is OK") {
  *result_listener << testing_internal::StatusOf(arg).ToString();
  return testing_internal::StatusOf(arg).ok();
}

MATCHER_P2(StatusIs, code, message,
           "has status " + absl::StatusCodeToString(code) + " and a message that " +
               ::testing::DescribeMatcher<std::string>(message)) {
  const absl::Status& status = testing_internal::StatusOf(arg);
  *result_listener << status.ToString();
  return status.code() == code &&
         ::testing::ExplainMatchResult(message, std::string(status.message()), result_listener);
}

MATCHER_P(StatusIs, code, "has status " + absl::StatusCodeToString(code)) {
  *result_listener << testing_internal::StatusOf(arg).ToString();
  return testing_internal::StatusOf(arg).code() == code;
}

}  // namespace taas

#endif  // OPERATOR_BASE_STATUS_MATCHERS_H_
