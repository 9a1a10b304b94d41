// A real API server and the local one beside it, for tests that hold one's answers against the
// other's.
//
//   class MyTest : public BothServersTest { … };
//   TEST_F(MyTest, …) { plane_->client().Do(…); local_->api().Handle(…); }
//
// Ownership: both servers, from the first test of a class to its last. Threads: one.

#ifndef E2E_BOTH_SERVERS_FIXTURE_H_
#define E2E_BOTH_SERVERS_FIXTURE_H_

#include <memory>
#include <utility>

#include "e2e/control_plane.h"
#include "gtest/gtest.h"
#include "localkube/api/api_server.h"
#include "operator/base/clock.h"
#include "operator/base/random.h"
#include "operator/base/status_matchers.h"

namespace taas {

class BothServersTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    auto plane = ControlPlane::Start(testing::TempDir() + "/plane");
    ASSERT_THAT(plane, IsOk());
    plane_ = *std::move(plane);
    auto local = localkube::ApiServer::Start({.dir = testing::TempDir() + "/api"}, clock_,
                                             random_, /*logs=*/nullptr);
    ASSERT_THAT(local, IsOk());
    local_ = *std::move(local);
  }
  static void TearDownTestSuite() {
    plane_.reset();
    local_.reset();
  }
  void SetUp() override { ASSERT_NE(local_, nullptr) << "there are no servers"; }

  static inline RealClock clock_;
  static inline SystemRandom random_;
  static inline std::unique_ptr<ControlPlane> plane_;
  static inline std::unique_ptr<localkube::ApiServer> local_;
};

}  // namespace taas

#endif  // E2E_BOTH_SERVERS_FIXTURE_H_
