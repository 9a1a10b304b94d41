#include "operator/base/status.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"

namespace taas {
namespace {

absl::StatusOr<int> Half(int value) {
  if (value % 2 != 0) return absl::InvalidArgumentError("odd: " + std::to_string(value));
  return value / 2;
}

absl::StatusOr<int> Quarter(int value) {
  ASSIGN_OR_RETURN(const int half, Half(value));
  ASSIGN_OR_RETURN(const int quarter, Half(half));
  return quarter;
}

absl::Status CheckHalf(int value) {
  RETURN_IF_ERROR(Half(value).status()).With("halve the input");
  return absl::OkStatus();
}

TEST(StatusMacrosTest, ValuesPassThrough) {
  EXPECT_EQ(Quarter(8).value(), 2);
  EXPECT_THAT(CheckHalf(8), IsOk());
}

TEST(StatusMacrosTest, TheFirstErrorReturns) {
  EXPECT_THAT(Quarter(6), StatusIs(absl::StatusCode::kInvalidArgument, "odd: 3"));
}

TEST(StatusMacrosTest, WithPutsWhatWasAttemptedBeforeTheCause) {
  EXPECT_THAT(CheckHalf(3),
              StatusIs(absl::StatusCode::kInvalidArgument, "halve the input: odd: 3"));
}

TEST(AnnotateTest, PayloadsSurvive) {
  absl::Status status = absl::NotFoundError("gone");
  status.SetPayload("taas/reason", absl::Cord("Expired"));
  const absl::Status annotated = Annotate(status, "list pods");
  EXPECT_EQ(annotated.GetPayload("taas/reason").value(), "Expired");
  EXPECT_EQ(annotated.message(), "list pods: gone");
}

}  // namespace
}  // namespace taas
