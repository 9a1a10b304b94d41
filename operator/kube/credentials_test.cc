#include "operator/kube/credentials.h"

#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/fake_clock.h"
#include "operator/base/status_matchers.h"

namespace taas {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;

class CredentialsTest : public testing::Test {
 protected:
  CredentialsTest() {
    EXPECT_THAT(files_.MakeDirs(dir_), IsOk());
    Write("token", "t1\n");
    Write("ca", "ca1");
    Write("cert", "pair1");
    Write("key", "pair1");
  }
  void Write(const std::string& name, const std::string& text) {
    EXPECT_THAT(files_.WriteAtomically(dir_ + "/" + name, text), IsOk());
  }
  // A certificate fits its key if their texts are equal.
  static absl::Status CheckPair(const TlsMaterial& material) {
    if (material.client_certificate == material.client_key) return absl::OkStatus();
    return absl::InvalidArgumentError("certificate and key do not fit");
  }
  ClusterAccess Access() {
    ClusterAccess access;
    access.ca.file = dir_ + "/ca";
    access.token.file = dir_ + "/token";
    access.client_certificate.file = dir_ + "/cert";
    access.client_key.file = dir_ + "/key";
    access.source = "the test";
    return access;
  }

  PosixFileSystem files_;
  FakeClock clock_;
  const std::string dir_ = std::string(std::getenv("TEST_TMPDIR")) + "/credentials";
  Credentials credentials_{Access(), files_, clock_, CheckPair};
};

TEST_F(CredentialsTest, ATokenIsReadAgainAfterAMinute) {
  ASSERT_THAT(credentials_.Load(), IsOk());
  EXPECT_EQ(credentials_.token().text, "t1");
  Write("token", "t2\n");
  clock_.Advance(59s);
  EXPECT_EQ(credentials_.token().text, "t1");
  clock_.Advance(1s);
  EXPECT_EQ(credentials_.token().text, "t2");
}

TEST_F(CredentialsTest, ADroppedTokenIsReadAgainAtOnce) {
  ASSERT_THAT(credentials_.Load(), IsOk());
  const Credentials::Token used = credentials_.token();
  Write("token", "t2");
  EXPECT_TRUE(credentials_.DropToken(used));
  EXPECT_EQ(credentials_.token().text, "t2");
}

TEST_F(CredentialsTest, ALateAnswerToAnOldTokenDoesNotDropTheNewOne) {
  ASSERT_THAT(credentials_.Load(), IsOk());
  const Credentials::Token used = credentials_.token();
  Write("token", "t2");
  credentials_.DropToken(used);
  EXPECT_EQ(credentials_.token().text, "t2");
  Write("token", "t3");
  EXPECT_TRUE(credentials_.DropToken(used));
  EXPECT_EQ(credentials_.token().text, "t2");
}

TEST_F(CredentialsTest, AFileThatCannotBeReadOrIsEmptyKeepsTheOldToken) {
  ASSERT_THAT(credentials_.Load(), IsOk());
  Write("token", " \n");
  clock_.Advance(60s);
  EXPECT_EQ(credentials_.token().text, "t1");
  ASSERT_THAT(files_.Remove(dir_ + "/token"), IsOk());
  clock_.Advance(60s);
  EXPECT_EQ(credentials_.token().text, "t1");
  Write("token", "t2");
  clock_.Advance(60s);
  EXPECT_EQ(credentials_.token().text, "t2");
}

TEST_F(CredentialsTest, AtTheStartAMissingFileIsAnErrorThatNamesIt) {
  ASSERT_THAT(files_.Remove(dir_ + "/token"), IsOk());
  EXPECT_THAT(credentials_.Load(), StatusIs(absl::StatusCode::kNotFound,
                                            AllOf(HasSubstr("token"), HasSubstr("the test"))));
}

TEST_F(CredentialsTest, ATokenGivenAsTextIsNeverDropped) {
  ClusterAccess access;
  access.token.text = "fixed";
  Credentials credentials(access, files_, clock_, CheckPair);
  ASSERT_THAT(credentials.Load(), IsOk());
  EXPECT_FALSE(credentials.DropToken(credentials.token()));
  EXPECT_EQ(credentials.token().text, "fixed");
}

TEST_F(CredentialsTest, ChangedCertificatesAreANewGeneration) {
  ASSERT_THAT(credentials_.Load(), IsOk());
  EXPECT_EQ(credentials_.tls().generation, 1u);
  clock_.Advance(10s);
  EXPECT_EQ(credentials_.tls().generation, 1u);
  Write("ca", "ca2");
  EXPECT_EQ(credentials_.tls().generation, 1u);
  credentials_.ExpireTls();
  EXPECT_EQ(credentials_.tls().generation, 2u);
  EXPECT_EQ(credentials_.tls().material.ca, "ca2");
}

TEST_F(CredentialsTest, ACertificateBeforeItsKeyIsNotTakenUp) {
  ASSERT_THAT(credentials_.Load(), IsOk());
  Write("cert", "pair2");
  clock_.Advance(10s);
  EXPECT_EQ(credentials_.tls().material.client_certificate, "pair1");
  Write("key", "pair2");
  clock_.Advance(10s);
  EXPECT_EQ(credentials_.tls().material.client_certificate, "pair2");
  EXPECT_EQ(credentials_.tls().generation, 2u);
}

TEST_F(CredentialsTest, ManyThreadsMayAsk) {
  ASSERT_THAT(credentials_.Load(), IsOk());
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([this] {
      for (int n = 0; n < 200; ++n) {
        clock_.Advance(1s);
        credentials_.DropToken(credentials_.token());
        EXPECT_EQ(credentials_.tls().material.ca, "ca1");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(credentials_.token().text, "t1");
}

}  // namespace
}  // namespace taas
