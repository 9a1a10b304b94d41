#include "operator/controller/write_answer.h"

#include "gmock/gmock.h"

namespace taas {
namespace {

using testing::HasSubstr;

HttpReply Reply(int code, const std::string& body = "") { return {.code = code, .body = body}; }

TEST(WriteAnswerTest, WhatCannotSucceedIsRefusedAndWhatMayHaveBeenDoneIsUnknown) {
  EXPECT_EQ(Classify(Reply(201)), Answer::kDone);
  EXPECT_EQ(Classify(Reply(403)), Answer::kRefused);
  EXPECT_EQ(Classify(Reply(422)), Answer::kRefused);
  EXPECT_EQ(Classify(Reply(404)), Answer::kMissing);
  EXPECT_EQ(Classify(Reply(409, R"({"reason":"AlreadyExists"})")), Answer::kExists);
  EXPECT_EQ(Classify(Reply(409, R"({"reason":"Conflict"})")), Answer::kConflict);
  EXPECT_EQ(Classify(Reply(429)), Answer::kLater);
  EXPECT_EQ(Classify(Reply(503)), Answer::kLater);
  EXPECT_EQ(Classify(Reply(504)), Answer::kUnknown);
  EXPECT_EQ(Classify(absl::UnknownError("no reply")), Answer::kUnknown);
  EXPECT_EQ(Classify(absl::UnavailableError("not sent")), Answer::kLater);
}

TEST(WriteAnswerTest, AnObjectThatEtcdDoesNotTakeIsRefusedThoughTheCodeIs500) {
  EXPECT_EQ(Classify(Reply(500, R"({"message":"etcdserver: leader changed"})")), Answer::kUnknown);
  const HttpReply large = Reply(500, R"({"message":"etcdserver: request is too large"})");
  EXPECT_EQ(Classify(large), Answer::kRefused);
  EXPECT_EQ(Classify(Reply(500, "rpc error: trying to send message larger than max (9 vs. 2)")),
            Answer::kRefused);
  EXPECT_EQ(Classify(Reply(504, large.body)), Answer::kUnknown);
  EXPECT_THAT(Refused(large, "write the ledger of ns/a").message,
              AllOf(HasSubstr("write the ledger of ns/a"), HasSubstr("request is too large")));
}

}  // namespace
}  // namespace taas
