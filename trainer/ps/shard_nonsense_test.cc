// What strangers and damaged peers send to a parameter server: each is refused with a sentence, and
// training goes on.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/random.h"
#include "operator/base/status_matchers.h"
#include "trainer/comm/greeting.h"
#include "trainer/comm/listener.h"
#include "trainer/proto/shard.pb.h"
#include "trainer/ps/layout.h"
#include "trainer/ps/shard.h"
#include "trainer/ps/shard_client.h"

namespace taas::ps {
namespace {

using comm::FrameHead;
using comm::FrameType;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kJob[] = "uid-1/2";
constexpr int64_t kElements = 1000;

bool Always() { return true; }

class ShardNonsenseTest : public testing::Test {
 protected:
  ShardNonsenseTest()
      : shard_({.job = kJob}),
        listener_(*comm::Listener::Open({.host = "127.0.0.1"},
                                        [this](comm::Channel& channel) { shard_.Serve(channel); })),
        address_("127.0.0.1:" + std::to_string(listener_->port())),
        layout_(SplitByBytes({{kElements, 10}}, 1)) {
    control_ = *ShardControl::Connect(address_, {.job = kJob});
    EXPECT_THAT(control_->Configure({.generation = 1,
                                     .shards = {address_},
                                     .pieces = layout_.shards[0],
                                     .optimizer = R"({"name":"sgd","learningRate":1.0})",
                                     .max_steps = 1000},
                                    {{values_}, {}}),
                IsOk());
    exchange_ = std::make_unique<Exchange>(
        Exchange::Options{{0, 1, 7}, 1, {address_}, layout_, kJob},
        std::vector<std::span<float>>{values_}, std::vector<std::span<float>>{gradients_});
  }
  ~ShardNonsenseTest() override {
    shard_.Close();
    listener_.reset();
  }

  void ExpectTrainingGoesOn() {
    const int64_t batch = next_++;
    const auto result =
        exchange_->Push(static_cast<uint64_t>(batch) + 1, batch, batch, Always);
    ASSERT_THAT(result, IsOk());
    EXPECT_TRUE(result->applied);
    EXPECT_EQ(result->step, next_);
    EXPECT_EQ(values_[0], static_cast<float>(next_));
  }
  std::unique_ptr<comm::Channel> Connect(const std::string& job) {
    auto channel = *comm::Channel::Connect(address_, {});
    EXPECT_THAT(channel->Send({.type = FrameType::kHello}, job), IsOk());
    return channel;
  }
  // The sentence of the refusal that comes.
  static std::string Refusal(comm::Channel& channel) {
    const auto head = channel.ReceiveHead();
    EXPECT_THAT(head, IsOk());
    if (!head.ok()) return "";
    EXPECT_EQ(head->type, FrameType::kRefused);
    return channel.ReceiveText(head->payload_bytes).value_or("");
  }
  int ConnectRaw() const {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<uint16_t>(listener_->port()));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof(to)), 0);
    return fd;
  }
  // Sends and waits until the shard has closed.
  void SendRaw(const std::string& bytes) {
    const int fd = ConnectRaw();
    EXPECT_EQ(send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
    char answer[256];
    while (recv(fd, answer, sizeof(answer), 0) > 0) continue;
    close(fd);
  }

  std::vector<float> values_ = std::vector<float>(kElements);
  std::vector<float> gradients_ = std::vector<float>(kElements, -1.0f);
  Shard shard_;
  std::unique_ptr<comm::Listener> listener_;
  std::string address_;
  const Layout layout_;
  std::unique_ptr<ShardControl> control_;
  std::unique_ptr<Exchange> exchange_;
  int64_t next_ = 0;
};

TEST_F(ShardNonsenseTest, GarbageBytesCloseTheirConnectionOnly) {
  ExpectTrainingGoesOn();
  SeededRandom random(1);
  for (int i = 0; i < 50; ++i) {
    std::string bytes(64 + random.Below(500), '\0');
    for (char& byte : bytes) byte = static_cast<char>(random.Below(256));
    SendRaw(bytes);
  }
  SendRaw("GET / HTTP/1.1\r\nHost: here\r\nUser-Agent: a browser that took a wrong turn\r\n\r\n");
  ExpectTrainingGoesOn();
}

TEST_F(ShardNonsenseTest, EveryDamagedBitOfAHeadIsNoticed) {
  char good[comm::kFrameHeadBytes];
  comm::EncodeFrameHead({.type = FrameType::kAsk}, good);
  for (size_t bit = 0; bit < 8 * sizeof(good); ++bit) {
    std::string bytes(good, sizeof(good));
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_FALSE(comm::DecodeFrameHead(bytes.data()).ok()) << bit;
  }
}

TEST_F(ShardNonsenseTest, CallersOfAnotherJobOrAttemptAreRefusedWithASentence) {
  for (const char* job : {"uid-2/2", "uid-1/1", ""}) {
    const auto channel = Connect(job);
    // Who knows the job can train with it, so no refusal names it.
    EXPECT_THAT(Refusal(*channel), AllOf(HasSubstr("of another job or attempt"),
                                         Not(HasSubstr("uid"))));
  }
  Exchange stranger({{0, 1, 7}, 1, {address_}, layout_, "uid-2/2"}, {values_}, {gradients_});
  EXPECT_THAT(stranger.Push(1, 0, 0, Always),
              StatusIs(absl::StatusCode::kAborted, HasSubstr("another job")));
  const auto chief = ShardControl::Connect(address_, {.job = "uid-2/2"});
  ASSERT_THAT(chief, IsOk());
  EXPECT_THAT((*chief)->Configure({.generation = 9, .shards = {address_}}, {}),
              StatusIs(absl::StatusCode::kAborted));
  EXPECT_EQ(shard_.stats().generation, 1);
  ExpectTrainingGoesOn();
}

TEST_F(ShardNonsenseTest, FirstFrameThatIsNoHelloIsNotServed) {
  const auto channel = *comm::Channel::Connect(address_, {});
  ASSERT_THAT(channel->Send({.type = FrameType::kAsk}), IsOk());
  EXPECT_FALSE(channel->ReceiveHead().ok());
  ExpectTrainingGoesOn();
}

// Strangers that connected and said nothing took all connections that a parameter server has.
TEST_F(ShardNonsenseTest, CallerThatSaysNothingIsLetGoAndOneOfTheJobIsNot) {
  Shard shard({.job = kJob, .greeting_max = std::chrono::milliseconds(500)});
  listener_ = *comm::Listener::Open({.host = "127.0.0.1"},
                                    [&](comm::Channel& channel) { shard.Serve(channel); });
  address_ = "127.0.0.1:" + std::to_string(listener_->port());
  const auto quiet = Connect(kJob);
  const int mute = ConnectRaw();
  SendRaw(std::string(comm::kFrameHeadBytes / 2, 'x'));  // Returns when the shard has closed.
  char answer;
  EXPECT_EQ(recv(mute, &answer, 1, 0), 0);
  close(mute);
  // Silent for longer than those, and served.
  ASSERT_THAT(quiet->Send({.type = FrameType::kAsk}), IsOk());
  const auto head = quiet->ReceiveHead();
  ASSERT_THAT(head, IsOk());
  EXPECT_EQ(head->type, FrameType::kState);
  shard.Close();
  listener_.reset();
}

TEST_F(ShardNonsenseTest, FramesOfAGigabyteAreRefusedAndTakeNoMemory) {
  constexpr uint64_t kGigabyte = uint64_t{1} << 30;
  // Announced, not sent: a shard that made room for it or waited for it would not close.
  for (const FrameType type : {FrameType::kHello, FrameType::kPush}) {
    char head[comm::kFrameHeadBytes];
    comm::EncodeFrameHead({.type = type, .generation = 1, .payload_bytes = kGigabyte}, head);
    SendRaw(std::string(head, sizeof(head)));
  }
  // Text of a control frame, from a caller of this job.
  const auto fence = Connect(kJob);
  char head[comm::kFrameHeadBytes];
  comm::EncodeFrameHead({.type = FrameType::kFence, .generation = 1, .payload_bytes = kGigabyte},
                        head);
  const int fd = ConnectRaw();
  char hello[comm::kFrameHeadBytes];
  comm::EncodeFrameHead({.type = FrameType::kHello, .payload_bytes = std::strlen(kJob)}, hello);
  const std::string bytes = std::string(hello, sizeof(hello)) + kJob +
                            std::string(head, sizeof(head));
  ASSERT_EQ(send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(bytes.size()));
  char answer[256];
  EXPECT_EQ(recv(fd, answer, sizeof(answer), 0), 0);
  close(fd);
  ExpectTrainingGoesOn();
}

TEST_F(ShardNonsenseTest, ConfigurationsThatContradictThemselvesAreRefused) {
  const auto send = [&](const wire::ConfigureRequest& request, const std::string& values) {
    const auto channel = Connect(kJob);
    const std::string text = request.SerializeAsString();
    const uint64_t length = text.size();
    std::string payload(reinterpret_cast<const char*>(&length), sizeof(length));
    EXPECT_THAT(channel->Send({.type = FrameType::kConfigure}, payload + text + values), IsOk());
    return Refusal(*channel);
  };
  wire::ConfigureRequest request;
  request.set_generation(9);
  request.add_shards(address_);
  request.set_optimizer(R"({"name":"momentum","learningRate":1.0})");
  request.add_pieces()->set_count(2);
  // Without the values of the slot.
  EXPECT_THAT(send(request, std::string(8, '\0')), HasSubstr("8 bytes of values for 4 elements"));
  request.mutable_pieces(0)->set_count(-2);
  EXPECT_THAT(send(request, ""), HasSubstr("negative piece"));
  request.mutable_pieces(0)->set_count(0);
  request.set_shard(1);
  EXPECT_THAT(send(request, ""), HasSubstr("shard 1 of 1"));
  request.set_shard(0);
  request.set_optimizer("{}");
  EXPECT_THAT(send(request, ""), HasSubstr("optimizer"));
  EXPECT_EQ(shard_.stats().generation, 1);
  ExpectTrainingGoesOn();
}

// Symptom: a CONFIGURE without values for pieces of 2^63 - 1, 2^63 - 1 and 2 elements, whose sum is
// 0, was taken, and the next PUSH_ROWS wrote wherever its sender liked.
TEST_F(ShardNonsenseTest, ConfigurationOfMoreThanANumberHoldsIsRefused) {
  const auto channel = Connect(kJob);
  wire::ConfigureRequest request;
  request.set_generation(9);
  request.add_shards(address_);
  request.set_optimizer(R"({"name":"sgd","learningRate":1.0})");
  for (const int64_t count : {INT64_MAX, INT64_MAX, int64_t{2}}) {
    request.add_pieces()->set_count(count);
  }
  const std::string text = request.SerializeAsString();
  const uint64_t length = text.size();
  const std::string payload(reinterpret_cast<const char*>(&length), sizeof(length));
  ASSERT_THAT(channel->Send({.type = FrameType::kConfigure}, payload + text), IsOk());
  EXPECT_THAT(Refusal(*channel), HasSubstr("more than"));
  EXPECT_EQ(shard_.stats().generation, 1);
  ExpectTrainingGoesOn();
}

// Symptom: one frame ended a parameter server, and the job, with a segmentation fault.
TEST_F(ShardNonsenseTest, ReadingACutThatThereIsNotIsRefused) {
  const auto channel = Connect(kJob);
  for (const int64_t step : {int64_t{-1}, INT64_MIN}) {
    ASSERT_THAT(channel->Send({.type = FrameType::kReadCut, .generation = 1, .step = step}),
                IsOk());
    EXPECT_THAT(Refusal(*channel), HasSubstr("which no cut has"));
  }
  ExpectTrainingGoesOn();
}

// Symptom: whoever knew a job's uid, which is no secret, could take its parameter servers over.
TEST_F(ShardNonsenseTest, WhereTheJobHasATokenCallersWithoutItAreRefused) {
  const std::string key = comm::GreetingText({.job = kJob, .token = "secret"});
  Shard shard({.job = key});
  listener_ = *comm::Listener::Open({.host = "127.0.0.1"},
                                    [&](comm::Channel& channel) { shard.Serve(channel); });
  address_ = "127.0.0.1:" + std::to_string(listener_->port());
  for (const std::string& token : {std::string(), std::string("secreT"), std::string("x")}) {
    const auto channel = Connect(comm::GreetingText({.job = kJob, .token = token}));
    EXPECT_THAT(Refusal(*channel), AllOf(HasSubstr("token"), Not(HasSubstr("secret"))));
  }
  const auto member = Connect(key);
  ASSERT_THAT(member->Send({.type = FrameType::kAsk}), IsOk());
  const auto head = member->ReceiveHead();
  ASSERT_THAT(head, IsOk());
  EXPECT_EQ(head->type, FrameType::kState);
  shard.Close();
  listener_.reset();
}

TEST_F(ShardNonsenseTest, PushOfABatchThatDoesNotExistIsDropped) {
  Exchange other({{1, 1, 9}, 1, {address_}, layout_, kJob}, {values_}, {gradients_});
  for (const int64_t batch : {int64_t{-1}, int64_t{1000}, INT64_MAX}) {
    const auto result = other.Push(static_cast<uint64_t>(batch & 0xffff) + 1, batch, 0, Always);
    ASSERT_THAT(result, IsOk());
    EXPECT_FALSE(result->applied);
  }
  ExpectTrainingGoesOn();
}

}  // namespace
}  // namespace taas::ps
