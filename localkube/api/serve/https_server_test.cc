#include "localkube/api/https_server.h"

#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "localkube/api/api_stream.h"
#include "localkube/api/serve/test_client.h"
#include "localkube/api/tls_identity.h"
#include "operator/base/clock.h"
#include "operator/base/status_matchers.h"

namespace taas::localkube {
namespace {

using testing::HasSubstr;

constexpr char kToken[] = "the-token";

class HttpsServerTest : public testing::Test {
 protected:
  void Start(HttpsServer::Handler handler, HttpsServer::Options options = {}) {
    static const TlsIdentity identity = *MakeTlsIdentity();
    options.key_pem = identity.key_pem;
    options.certificate_pem = identity.certificate_pem;
    options.token = kToken;
    auto server = HttpsServer::Start(std::move(options), std::move(handler));
    ASSERT_THAT(server, IsOk());
    server_ = *std::move(server);
  }
  static ApiResponse Echo(const ApiRequest& request) {
    ApiResponse response;
    response.body = request.method + " " + request.target + " " + request.body;
    return response;
  }
  TestAnswer Ask(const std::string& target) {
    return TestClient(server_->port()).Call("GET", target, kToken);
  }

  std::unique_ptr<HttpsServer> server_;
};

// Whatever one request made the API throw (a header of 70 kB, no memory) ended API server, operator
// and node: the whole local cluster.
TEST_F(HttpsServerTest, WhatTheHandlerThrowsIsAnsweredWith500) {
  Start([](const ApiRequest& request) -> ApiResponse {
    if (request.target == "/throw") throw std::runtime_error("by the test");
    if (request.target == "/memory") throw std::bad_alloc();
    ApiResponse response;
    if (request.target == "/header") {
      response.headers.emplace_back("Warning", std::string(70'000, 'x'));
    }
    return response;
  });
  for (const char* target : {"/throw", "/memory", "/header"}) {
    SCOPED_TRACE(target);
    const TestAnswer answer = Ask(target);
    EXPECT_EQ(answer.code, 500);
    EXPECT_THAT(answer.body, HasSubstr("Internal error occurred"));
    EXPECT_EQ(Ask("/good").code, 200);
  }
}

// A stream that throws in one of its calls.
class ThrowingStream : public ApiStream {
 public:
  explicit ThrowingStream(std::string where) : where_(std::move(where)) {}
  void Start(Calls calls) override {
    calls_ = std::move(calls);
    calls_.data("begun\n");
    Throw("start");
  }
  void Tick() override { Throw("tick"); }
  std::chrono::milliseconds tick_interval() const override {
    Throw("interval");
    return std::chrono::milliseconds(1);
  }
  bool HasMore() const override {
    Throw("more");
    return where_ == "tick";
  }
  void Resume() override { Throw("resume"); }

 private:
  void Throw(const std::string& where) const {
    if (where == where_) throw std::runtime_error("by the test in " + where);
  }
  const std::string where_;
  Calls calls_;
};

class HttpsStreamTest : public HttpsServerTest, public testing::WithParamInterface<const char*> {};

INSTANTIATE_TEST_SUITE_P(Calls, HttpsStreamTest,
                         testing::Values("start", "tick", "interval", "more"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(HttpsStreamTest, WhatAStreamThrowsEndsItsConnectionAlone) {
  Start([](const ApiRequest& request) {
    ApiResponse response;
    if (request.target != "/stream") return response;
    response.stream = std::make_unique<ThrowingStream>(GetParam());
    return response;
  });
  TestClient client(server_->port());
  ASSERT_TRUE(client.Send(TestClient::Request("GET", "/stream", kToken)));
  EXPECT_THAT(client.ReadToEnd(), HasSubstr("200 OK"));
  EXPECT_EQ(Ask("/good").code, 200);
}

TEST_F(HttpsServerTest, ProbesNeedNoTokenAndAllElseDoes) {
  Start(Echo);
  TestClient client(server_->port());
  for (const char* path : {"/healthz", "/readyz", "/livez", "/healthz?verbose=1"}) {
    const TestAnswer answer = client.Call("GET", path, "");
    EXPECT_EQ(answer.code, 200) << path;
    EXPECT_THAT(answer.body, testing::Not(HasSubstr("verbose")));
  }
  for (const char* path : {"/healthz/x", "/version", "/api/v1/pods", "/healthz%3F"}) {
    EXPECT_EQ(client.Call("GET", path, "").code, 401) << path;
    EXPECT_EQ(client.Call("GET", path, "the-tokem").code, 401) << path;
  }
  EXPECT_EQ(client.Call("GET", "/version", kToken).code, 200);
  EXPECT_EQ(client.Call("POST", "/healthz", "", "body").code, 401);
}

// Whoever reached the port could have 3 MB for each connection read before anybody looked at the
// token.
TEST_F(HttpsServerTest, NoBodyIsReadOfWhoHasNotShownTheToken) {
  Start(Echo);
  TestClient client(server_->port());
  ASSERT_TRUE(client.Send("POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 3000000\r\n\r\n"));
  EXPECT_EQ(client.ReadAnswer().code, 401) << "before a byte of the body was sent";
  TestClient larger(server_->port());
  ASSERT_TRUE(larger.Send("POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 300000000\r\n\r\n"));
  EXPECT_EQ(larger.ReadAnswer().code, 401);
}

TEST_F(HttpsServerTest, ABodyIsReadWhole) {
  Start(Echo);
  TestClient client(server_->port());
  const std::string body(1 << 20, 'x');
  EXPECT_EQ(client.Call("PUT", "/x", kToken, body).body, "PUT /x " + body);
  ASSERT_TRUE(client.Send(TestClient::Request("PUT", "/y", kToken, "",
                                              "Transfer-Encoding: chunked\r\n") +
                          "3\r\nabc\r\n0\r\n\r\n"));
  EXPECT_EQ(client.ReadAnswer().body, "PUT /y abc");
}

// Connections with half a request each were kept for five minutes.
TEST_F(HttpsServerTest, WhoDoesNotShowTheTokenSoonIsLetGo) {
  Start(Echo, {.stranger_timeout = std::chrono::milliseconds(1000)});
  TestClient owner(server_->port());
  ASSERT_EQ(owner.Call("GET", "/x", kToken).code, 200);
  TestClient silent(server_->port());
  TestClient half(server_->port());
  ASSERT_TRUE(half.Send("GET /api HTTP/1.1\r\nHo"));
  TestClient knocking(server_->port());
  EXPECT_EQ(knocking.Call("GET", "/x", "").code, 401);
  EXPECT_EQ(silent.ReadToEnd(), "");
  EXPECT_EQ(half.ReadToEnd(), "");
  EXPECT_EQ(knocking.ReadToEnd(), "");
  EXPECT_EQ(owner.Call("GET", "/x", kToken).code, 200) << "it stays for longer";
}

// A thousand connections without a token kept kubectl out.
TEST_F(HttpsServerTest, StrangersDoNotKeepOutTheOwner) {
  Start(Echo, {.connections_max = 4});
  TestClient owner(server_->port());
  ASSERT_EQ(owner.Call("GET", "/x", kToken).code, 200);
  std::vector<std::unique_ptr<TestClient>> strangers;
  for (int i = 0; i < 12; ++i) {
    strangers.push_back(std::make_unique<TestClient>(server_->port()));
    strangers.back()->Send("GET /api HT");
  }
  EXPECT_EQ(Ask("/new").code, 200);
  EXPECT_EQ(owner.Call("GET", "/x", kToken).code, 200);
  EXPECT_EQ(strangers.front()->ReadToEnd(), "") << "the oldest went";
}

TEST_F(HttpsServerTest, WhenAllPlacesAreTheOwnersProbesAreAnsweredAndOthersToldToWait) {
  Start(Echo, {.connections_max = 3});
  std::vector<std::unique_ptr<TestClient>> owners;
  for (int i = 0; i < 3; ++i) {
    owners.push_back(std::make_unique<TestClient>(server_->port()));
    ASSERT_EQ(owners.back()->Call("GET", "/x", kToken).code, 200);
  }
  EXPECT_EQ(TestClient(server_->port()).Call("GET", "/readyz", "").code, 200);
  const TestAnswer answer = Ask("/x");
  EXPECT_EQ(answer.code, 429);
  EXPECT_THAT(answer.body, HasSubstr("all of its 3 connections in use"));
  EXPECT_EQ(owners[0]->Call("GET", "/x", kToken).code, 200);
}

// What another thread of this process has used, too: a loop that spins shows.
std::chrono::microseconds CpuTime() {
  rusage use = {};
  getrusage(RUSAGE_SELF, &use);
  return std::chrono::seconds(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
         std::chrono::microseconds(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
}

// Without a free descriptor the server tried to accept again at once, for ever: 1.4 processors.
TEST_F(HttpsServerTest, WithoutDescriptorsItWaitsUntilThereAreSome) {
  Start(Echo);
  ASSERT_EQ(Ask("/x").code, 200);
  const int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_GE(client, 0);
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit none = before;
  none.rlim_cur = static_cast<rlim_t>(client + 1);
  // Lower numbers that are free count, too.
  std::vector<int> fill;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  for (int fd = dup(client); fd >= 0; fd = dup(client)) fill.push_back(fd);

  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(server_->port());
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(connect(client, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  const RealClock clock;
  const auto cpu = CpuTime();
  const Clock::Time begin = clock.Now();
  const timeval patience{.tv_sec = 0, .tv_usec = 500'000};
  setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  char byte = 0;
  EXPECT_LT(recv(client, &byte, 1, 0), 0) << "nobody could accept it";
  const auto used = CpuTime() - cpu;
  EXPECT_LT(used, (clock.Now() - begin) / 4);

  for (const int fd : fill) close(fd);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  close(client);
  EXPECT_EQ(Ask("/x").code, 200);
}

}  // namespace
}  // namespace taas::localkube
