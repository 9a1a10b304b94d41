#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "localkube/api/api_server.h"
#include "localkube/api/serve/test_client.h"
#include "operator/base/clock.h"
#include "operator/base/random.h"
#include "operator/base/status_matchers.h"
#include "third_party/json.h"

namespace taas::localkube {
namespace {

using testing::HasSubstr;

constexpr char kMaps[] = "/api/v1/namespaces/default/configmaps";
constexpr int kLargeMaps = 24;
constexpr size_t kLargeBytes = 900'000;

class LargeWatchTest : public testing::Test {
 protected:
  LargeWatchTest() {
    dir_ = testing::TempDir() + "/large.XXXXXX";
    EXPECT_NE(mkdtemp(dir_.data()), nullptr);
    auto server = ApiServer::Start({.dir = dir_ + "/api"}, clock_, random_, nullptr);
    EXPECT_THAT(server, IsOk());
    server_ = *std::move(server);
    for (int i = 0; i < kLargeMaps; ++i) Make("large-" + std::to_string(i), kLargeBytes);
  }
  void Make(const std::string& name, size_t bytes) {
    const nlohmann::json map = {{"metadata", {{"name", name}}},
                                {"data", {{"text", std::string(bytes, 'x')}}}};
    const ApiResponse made = server_->api().Handle(
        {.method = "POST", .target = kMaps, .body = map.dump(), .content_type = {}, .accept = {}});
    EXPECT_EQ(made.code, 201) << made.body;
  }
  std::unique_ptr<TestClient> Watch() {
    auto client = std::make_unique<TestClient>(server_->port());
    EXPECT_TRUE(client->Send(TestClient::Request("GET", std::string(kMaps) + "?watch=1",
                                                 server_->token())));
    return client;
  }
  static int CountOf(const std::string& text, const std::string& word) {
    int count = 0;
    for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
      ++count;
    }
    return count;
  }

  RealClock clock_;
  SystemRandom random_;
  std::string dir_;
  std::unique_ptr<ApiServer> server_;
};

// A watch whose first events were more than 16 MiB was cut off after some of them, came again, and
// was cut off again, for ever.
TEST_F(LargeWatchTest, AWatchGetsAllThatExistsHoweverMuchItIs) {
  const auto client = Watch();
  const std::string seen = client->ReadUntil("\"name\":\"large-9\"");
  EXPECT_EQ(CountOf(seen, "\"type\":\"ADDED\""), kLargeMaps);
  Make("later", 10);
  EXPECT_THAT(client->ReadUntil("\"name\":\"later\""), HasSubstr("ADDED"));
}

// Sixty watches that nobody read were a gigabyte.
TEST_F(LargeWatchTest, WatchesThatNobodyReadHoldLittleAndTheOthersGoOn) {
  std::vector<std::unique_ptr<TestClient>> lazy;
  for (int i = 0; i < 40; ++i) lazy.push_back(Watch());
  const auto reader = Watch();
  EXPECT_EQ(CountOf(reader->ReadUntil("\"name\":\"large-9\""), "\"type\":\"ADDED\""), kLargeMaps);
  Make("later", 10);
  EXPECT_THAT(reader->ReadUntil("\"name\":\"later\""), HasSubstr("ADDED"));
  // Whoever begins to read gets the rest.
  const std::string late = lazy.back()->ReadUntil("\"name\":\"later\"");
  EXPECT_EQ(CountOf(late, "\"type\":\"ADDED\""), kLargeMaps + 1);
}

}  // namespace
}  // namespace taas::localkube
