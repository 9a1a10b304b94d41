#include "dashboard/http/web_server.h"

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <future>
#include <mutex>
#include <stdexcept>
#include <string>

#include "dashboard/http/gzip.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"

namespace taas::dashboard {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using tcp = boost::asio::ip::tcp;

constexpr auto kPatience = 20s;

// A connection whose bytes the test writes itself.
class Client {
 public:
  explicit Client(uint16_t port) : socket_(io_) {
    socket_.connect(tcp::endpoint(boost::asio::ip::address_v4::loopback(), port));
  }
  void Write(std::string_view text) {
    boost::system::error_code ignored;
    boost::asio::write(socket_, boost::asio::buffer(text), ignored);
  }
  // Until the server closes, or `end` has come.
  std::string Read(std::string_view end = "") {
    std::string text;
    char byte[4096];
    for (;;) {
      if (!end.empty() && text.find(end) != std::string::npos) return text;
      boost::system::error_code error;
      const size_t count = socket_.read_some(boost::asio::buffer(byte), error);
      text.append(byte, count);
      if (error) return text;
    }
  }

 private:
  boost::asio::io_context io_;
  tcp::socket socket_;
};

class WebServerTest : public testing::Test {
 protected:
  // The server goes with what this returns: a test declares it after what its handler uses. A
  // stream that is still open at the end of the test is closed then, and its `closed` called.
  [[nodiscard]] std::unique_ptr<WebServer> Serve(WebHandler handler,
                                                 WebServer::Options options = {}) {
    options.address = "127.0.0.1:0";
    auto running = std::make_shared<char>();
    running_ = running;
    auto server = WebServer::Start(
        options, [running, handler = std::move(handler)](WebRequest request, WebRespond respond) {
          handler(std::move(request), std::move(respond));
        });
    EXPECT_THAT(server, IsOk());
    port_ = (*server)->port();
    return *std::move(server);
  }
  // Symptom: a test crashed at its end, now and then: the server was a member of this fixture, and
  // a stream that was still open called `closed`, which used a variable of the test that was gone.
  void TearDown() override {
    EXPECT_TRUE(running_.expired()) << "the server is there for longer than what its handler uses";
  }
  std::string Ask(const std::string& text) {
    Client client(port_);
    client.Write(text);
    return client.Read();
  }
  std::string Get(const std::string& path, const std::string& headers = "") {
    return Ask("GET " + path + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + headers + "\r\n");
  }

  uint16_t port_ = 0;

 private:
  std::weak_ptr<char> running_;  // Of the handler.
};

WebHandler Echo() {
  return [](WebRequest request, WebRespond respond) {
    std::string text = request.method;
    for (const std::string& segment : request.segments) text += "/" + segment;
    text += " " + std::string(request.Header("x-name")) + " " + request.body;
    respond({.content_type = "text/plain", .body = Shared(text)});
  };
}

TEST_F(WebServerTest, ARequestIsAnsweredAndTheNextOneComesOnTheSameConnection) {
  const auto server = Serve(Echo());
  Client client(port_);
  client.Write("POST /a/b HTTP/1.1\r\nHost: x\r\nX-Name: me\r\nContent-Length: 4\r\n\r\nbody");
  const std::string first = client.Read("body");
  EXPECT_THAT(first, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(first, HasSubstr("X-Content-Type-Options: nosniff\r\n"));
  EXPECT_THAT(first, HasSubstr("\r\n\r\nPOST/a/b me body"));
  client.Write("HEAD /c HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  const std::string head = client.Read();
  EXPECT_THAT(head, HasSubstr("Content-Length: 7\r\n"));
  EXPECT_THAT(head, Not(HasSubstr("GET/c")));
}

TEST_F(WebServerTest, LargeTextIsCompressedForWhoTakesIt) {
  const std::string text(kCompressBytesMin, 'a');
  const auto server = Serve([&](WebRequest, WebRespond respond) {
    respond({.body = Shared(text)});
  });
  EXPECT_THAT(Get("/"), HasSubstr(text));
  const std::string answer = Get("/", "Accept-Encoding: br, gzip\r\n");
  EXPECT_THAT(answer, HasSubstr("Content-Encoding: gzip\r\n"));
  EXPECT_THAT(answer, HasSubstr("Vary: Accept-Encoding\r\n"));
  const size_t body = answer.find("\r\n\r\n") + 4;
  EXPECT_EQ(*Gunzip(answer.substr(body), 1 << 20), text);
}

TEST_F(WebServerTest, WhatIsTooLargeOrNoRequestIsRefusedWithASentence) {
  const auto server = Serve(Echo());
  Client large(port_);
  large.Write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n");
  EXPECT_THAT(large.Read("}}"), StartsWith("HTTP/1.1 413"));
  EXPECT_THAT(Get("/", "X: " + std::string(kWebHeaderBytesMax, 'x') + "\r\n"),
              StartsWith("HTTP/1.1 431"));
  EXPECT_THAT(Ask("nonsense\r\n\r\n"), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(Get("/../etc/passwd"), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(Get("/%2e%2e/etc/passwd"), StartsWith("HTTP/1.1 400"));
}

TEST_F(WebServerTest, ARequestThatDoesNotComeToItsEndIsGivenUp) {
  const auto server = Serve(Echo(), {.request_timeout = 50ms});
  EXPECT_EQ(Ask("GET / HTTP/1.1\r\nHost: x"), "");
}

TEST_F(WebServerTest, AConnectionThatSaysNothingIsClosed) {
  const auto server = Serve(Echo(), {.stranger_timeout = 50ms});
  EXPECT_EQ(Ask(""), "");
}

// Who says "known" has shown a good token.
WebHandler Doorkeeper() {
  return [](WebRequest request, WebRespond respond) {
    respond({.content_type = "text/plain",
             .body = Shared("welcome"),
             .known_caller = request.Header("x-name") == "known"});
  };
}
constexpr char kKnown[] = "GET / HTTP/1.1\r\nHost: x\r\nX-Name: known\r\n\r\n";
constexpr char kStranger[] = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
constexpr char kProbe[] = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";

TEST_F(WebServerTest, OnlyWhoHasShownAGoodTokenIsKeptForLong) {
  const auto server = Serve(Doorkeeper(), {.idle_timeout = 1h, .stranger_timeout = 200ms});
  Client known(port_);
  known.Write(kKnown);
  EXPECT_THAT(known.Read("welcome"), HasSubstr("welcome"));
  Client stranger(port_);
  stranger.Write(kStranger);
  EXPECT_THAT(stranger.Read(), HasSubstr("welcome"));  // It is closed after that.
  known.Write(kKnown);
  EXPECT_THAT(known.Read("welcome"), HasSubstr("welcome"));
}

// Symptom: 2,000 idle connections without a token, and nobody got in any more; the kubelet's probes
// neither, so that it would have started the dashboard again.
TEST_F(WebServerTest, WhenAllPlacesAreTakenTheOldestStrangerGoes) {
  const auto server = Serve(Doorkeeper(), {.connections_max = 3});
  Client known(port_);
  known.Write(kKnown);
  EXPECT_THAT(known.Read("welcome"), HasSubstr("welcome"));
  const auto served = [&](Client& client) {
    client.Write(kStranger);
    return client.Read("welcome").find("welcome") != std::string::npos;
  };
  Client first(port_);
  EXPECT_TRUE(served(first));
  Client second(port_);
  EXPECT_TRUE(served(second));
  Client third(port_);
  EXPECT_TRUE(served(third));
  EXPECT_EQ(first.Read(), "");
  EXPECT_TRUE(served(second));
  known.Write(kKnown);
  EXPECT_THAT(known.Read("welcome"), HasSubstr("welcome"));
  EXPECT_LE(server->connections(), 3);
}

TEST_F(WebServerTest, ProbesGetInWhenAllPlacesAreTakenByKnownOnes) {
  const auto server = Serve(Doorkeeper(), {.connections_max = 1, .probes = {"healthz"}});
  Client known(port_);
  known.Write(kKnown);
  EXPECT_THAT(known.Read("welcome"), HasSubstr("welcome"));
  Client other(port_);
  other.Write(kKnown);
  EXPECT_THAT(other.Read(), StartsWith("HTTP/1.1 503"));
  for (size_t i = 0; i < 3 * kWebProbesMax; ++i) {
    Client probe(port_);
    probe.Write(kProbe);
    EXPECT_THAT(probe.Read("welcome"), StartsWith("HTTP/1.1 200"));
  }
  known.Write(kKnown);
  EXPECT_THAT(known.Read("welcome"), HasSubstr("welcome"));
}

TEST_F(WebServerTest, AHandlerThatThrowsEndsItsConnectionAlone) {
  const auto server = Serve([](WebRequest request, WebRespond respond) {
    if (request.Header("x-name") == "throw") throw std::length_error("a header is too long");
    respond({.body = Shared("welcome")});
  });
  EXPECT_EQ(Get("/", "X-Name: throw\r\n"), "");
  EXPECT_THAT(Get("/"), HasSubstr("welcome"));
}

// Symptom: a request whose handler threw later, in a callback, was never answered, and its
// connection stayed for ever.
TEST_F(WebServerTest, ARequestThatItsHandlerDropsIsAnsweredAllTheSame) {
  std::promise<WebRespond> asked;
  const auto server = Serve([&](WebRequest request, WebRespond respond) {
    if (request.Header("x-name") == "later") asked.set_value(std::move(respond));
  });
  EXPECT_THAT(Get("/"), StartsWith("HTTP/1.1 500"));
  Client client(port_);
  client.Write("GET / HTTP/1.1\r\nHost: x\r\nX-Name: later\r\n\r\n");
  (void)asked.get_future().get();
  EXPECT_THAT(client.Read("}}"), HasSubstr("its log says why"));
}

TEST_F(WebServerTest, LargeBodiesTogetherAreBounded) {
  std::promise<WebRespond> asked;
  const auto server = Serve([&](WebRequest request, WebRespond respond) {
    if (request.Header("x-name") == "held") return asked.set_value(std::move(respond));
    respond({.body = Shared(std::to_string(request.body.size()))});
  }, {.large_bodies_bytes_max = 100'000});
  const auto post = [](size_t size, const std::string& name) {
    return "POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Name: " + name +
           "\r\nContent-Length: " + std::to_string(size) + "\r\n\r\n" + std::string(size, 'b');
  };
  Client held(port_);
  held.Write(post(90'000, "held"));
  const WebRespond respond = asked.get_future().get();
  Client large(port_);
  large.Write(post(20'000, ""));
  EXPECT_THAT(large.Read("}}"), StartsWith("HTTP/1.1 503"));
  EXPECT_THAT(Ask(post(kWebSmallBodyBytes, "")), HasSubstr("16384"));
  respond({.body = Shared("done")});
  EXPECT_THAT(held.Read(), HasSubstr("done"));
  EXPECT_THAT(Ask(post(20'000, "")), HasSubstr("20000"));
}

TEST_F(WebServerTest, AStreamBringsEachTextAsItComesAndItsEnd) {
  std::promise<std::shared_ptr<StreamSink>> opened;
  std::promise<void> closed;
  const auto server = Serve([&](WebRequest, WebRespond respond) {
    respond({.content_type = "text/event-stream",
             .stream = {.opened = [&](auto sink) { opened.set_value(sink); },
                        .closed = [&] { closed.set_value(); }}});
  });
  Client client(port_);
  client.Write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  const std::shared_ptr<StreamSink> sink = opened.get_future().get();
  EXPECT_TRUE(sink->Write(Shared("one\n")));
  EXPECT_THAT(client.Read("one\n"), HasSubstr("Transfer-Encoding: chunked"));
  EXPECT_TRUE(sink->Write(Shared("two\n")));
  sink->End();
  EXPECT_THAT(client.Read(), HasSubstr("two\n"));
  EXPECT_EQ(closed.get_future().wait_for(kPatience), std::future_status::ready);
  EXPECT_FALSE(sink->Write(Shared("three\n")));
}

// Symptom: a download that broke off ended like a whole one.
TEST_F(WebServerTest, AStreamThatBreaksOffDoesNotLookLikeAWholeOne) {
  for (const bool aborted : {false, true}) {
    std::promise<std::shared_ptr<StreamSink>> opened;
    std::promise<void> closed;
    const auto server = Serve([&](WebRequest, WebRespond respond) {
      respond({.stream = {.opened = [&](auto sink) { opened.set_value(sink); },
                          .closed = [&] { closed.set_value(); }}});
    });
    Client client(port_);
    client.Write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    const std::shared_ptr<StreamSink> sink = opened.get_future().get();
    EXPECT_TRUE(sink->Write(Shared("one\n")));
    std::string answer = client.Read("one\n");
    aborted ? sink->Abort() : sink->End();
    answer += client.Read();
    EXPECT_EQ(answer.find("\r\n0\r\n") == std::string::npos, aborted) << answer;
    EXPECT_EQ(closed.get_future().wait_for(kPatience), std::future_status::ready);
    EXPECT_FALSE(sink->Write(Shared("two\n")));
    sink->End();
  }
}

TEST_F(WebServerTest, AStreamOfKnownLengthSaysIt) {
  const auto server = Serve([&](WebRequest, WebRespond respond) {
    respond({.stream = {.opened =
                            [](const auto& sink) {
                              sink->Write(Shared("one\n"));
                              sink->Write(Shared("two\n"));
                              sink->End();
                            },
                        .closed = nullptr,
                        .bytes = 8}});
  });
  const std::string answer = Get("/");
  EXPECT_THAT(answer, HasSubstr("Content-Length: 8\r\n"));
  EXPECT_THAT(answer, HasSubstr("\r\n\r\none\ntwo\n"));
  EXPECT_THAT(answer, testing::Not(HasSubstr("chunked")));
}

// Symptom: a file's name with CR LF in it put a header of its writer's into the answer.
TEST_F(WebServerTest, AHeaderThatWouldEndItsLineIsNotSent) {
  const auto server = Serve([&](WebRequest, WebRespond respond) {
    respond({.body = Shared("well"),
             .headers = {{"X-Odd", "a\r\nX-Forged: b"}, {"X-Tab", "a\tb"}, {"X-Nul", {'\0', 1}}}});
  });
  const std::string answer = Get("/");
  EXPECT_THAT(answer, HasSubstr("well"));
  EXPECT_THAT(answer, HasSubstr("X-Tab: a\tb\r\n"));
  EXPECT_THAT(answer, testing::Not(HasSubstr("X-Forged")));
  EXPECT_THAT(answer, testing::Not(HasSubstr("X-Nul")));
}

TEST_F(WebServerTest, AStreamWhoseClientGoesIsClosed) {
  std::promise<void> closed;
  std::promise<void> opened;
  const auto server = Serve([&](WebRequest, WebRespond respond) {
    respond({.stream = {.opened = [&](auto) { opened.set_value(); },
                        .closed = [&] { closed.set_value(); }}});
  });
  {
    Client client(port_);
    client.Write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    opened.get_future().wait();
  }
  EXPECT_EQ(closed.get_future().wait_for(kPatience), std::future_status::ready);
}

TEST_F(WebServerTest, AStreamThatItsClientDoesNotTakeIsEnded) {
  std::promise<std::shared_ptr<StreamSink>> opened;
  std::promise<void> closed;
  const auto server = Serve(
      [&](WebRequest, WebRespond respond) {
        respond({.stream = {.opened = [&](auto sink) { opened.set_value(sink); },
                            .closed = [&] { closed.set_value(); }}});
      },
      {.unsent_bytes_max = 8 << 20});
  Client client(port_);
  client.Write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  const std::shared_ptr<StreamSink> sink = opened.get_future().get();
  const SharedText text = Shared(std::string(1 << 20, 'x'));
  int written = 0;
  // The kernel takes some megabytes too.
  while (sink->Write(text) && written < 1'000) ++written;
  EXPECT_LT(written, 1'000);
  EXPECT_EQ(closed.get_future().wait_for(kPatience), std::future_status::ready);
}

// Symptom: nothing bounded what all streams together kept for clients that do not read.
TEST_F(WebServerTest, OfStreamsThatTogetherAreTooFarBehindTheOneThatIsMostSoEnds) {
  std::mutex mutex;
  std::vector<std::shared_ptr<StreamSink>> sinks;
  std::promise<void> opened[2], closed[2];
  const auto server = Serve(
      [&](WebRequest request, WebRespond respond) {
        const int which = request.Header("x-name") == "slow" ? 0 : 1;
        respond({.stream = {.opened =
                                [&, which](auto sink) {
                                  std::lock_guard lock(mutex);
                                  sinks.push_back(sink);
                                  opened[which].set_value();
                                },
                            .closed = [&, which] { closed[which].set_value(); }}});
      },
      {.unsent_bytes_max = 64 << 20, .all_unsent_bytes_max = 16 << 20});
  Client slow(port_);
  slow.Write("GET / HTTP/1.1\r\nHost: x\r\nX-Name: slow\r\n\r\n");
  opened[0].get_future().wait();
  Client other(port_);
  other.Write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  opened[1].get_future().wait();
  int written = 0;
  // Another text each time: one that is the same is in the memory once.
  while (sinks[0]->Write(Shared(std::string(1 << 20, 'x'))) && written < 1'000) ++written;
  EXPECT_LT(written, 1'000);
  EXPECT_EQ(closed[0].get_future().wait_for(kPatience), std::future_status::ready);
  EXPECT_TRUE(sinks[1]->Write(Shared("still here\n")));
  EXPECT_THAT(other.Read("still here\n"), HasSubstr("still here\n"));
}

TEST_F(WebServerTest, AStreamThatIsOpenIsClosedBeforeTheServerIsGone) {
  std::promise<void> opened, closed;
  auto server = Serve([&](WebRequest, WebRespond respond) {
    respond({.stream = {.opened = [&](auto) { opened.set_value(); },
                        .closed = [&] { closed.set_value(); }}});
  });
  Client client(port_);
  client.Write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  opened.get_future().wait();
  server.reset();
  EXPECT_EQ(closed.get_future().wait_for(0s), std::future_status::ready);
}

TEST_F(WebServerTest, AnAnswerThatComesAfterTheServerHasGoneIsDropped) {
  std::promise<WebRespond> asked;
  std::promise<void> closed;
  auto server = Serve([&](WebRequest, WebRespond respond) { asked.set_value(std::move(respond)); });
  Client client(port_);
  client.Write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  const WebRespond respond = asked.get_future().get();
  server.reset();
  EXPECT_EQ(client.Read(), "");
  respond({.stream = {.opened = [](auto) { FAIL(); }, .closed = [&] { closed.set_value(); }}});
  EXPECT_EQ(closed.get_future().wait_for(kPatience), std::future_status::ready);
}

TEST_F(WebServerTest, AnAddressThatIsNoneOrTakenIsAnError) {
  const auto server = Serve(Echo());
  const auto start = [](const std::string& address) {
    return WebServer::Start({.address = address}, Echo()).status();
  };
  for (const char* address :
       {"", "nowhere", "localhost", "host:80", "127.0.0.1:99999", "1.2.3.4:"}) {
    EXPECT_THAT(start(address), StatusIs(absl::StatusCode::kInvalidArgument)) << address;
  }
  EXPECT_THAT(start("127.0.0.1:" + std::to_string(port_)),
              StatusIs(absl::StatusCode::kUnavailable));
}

}  // namespace
}  // namespace taas::dashboard
