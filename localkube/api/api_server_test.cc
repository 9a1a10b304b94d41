#include "localkube/api/api_server.h"

#include <sys/stat.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <cstdlib>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/clock.h"
#include "operator/base/random.h"
#include "operator/base/status_matchers.h"
#include "third_party/json.h"

namespace taas::localkube {
namespace {

using ::testing::HasSubstr;
namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;

// One connection that trusts only the server's own authority.
class Client {
 public:
  explicit Client(const ApiServer& server) : tls_(asio::ssl::context::tls_client) {
    const std::string ca = server.ca_pem();
    tls_.add_certificate_authority(asio::buffer(ca));
    tls_.set_verify_mode(asio::ssl::verify_peer);
    stream_ = std::make_unique<beast::ssl_stream<beast::tcp_stream>>(io_, tls_);
    stream_->set_verify_callback(asio::ssl::host_name_verification("127.0.0.1"));
    beast::get_lowest_layer(*stream_).connect(
        tcp::endpoint(asio::ip::address_v4::loopback(), server.port()));
    stream_->handshake(asio::ssl::stream_base::client);
  }

  http::response<http::string_body> Call(http::verb verb, const std::string& target,
                                         const std::string& token, const std::string& body = "") {
    http::request<http::string_body> request(verb, target, 11);
    request.set(http::field::host, "127.0.0.1");
    if (!token.empty()) request.set(http::field::authorization, "Bearer " + token);
    request.body() = body;
    request.prepare_payload();
    http::write(*stream_, request);
    http::response_parser<http::string_body> parser;
    parser.body_limit(64 << 20);
    http::read(*stream_, buffer_, parser);
    return parser.release();
  }

  // Starts a watch; its bytes then come from Read.
  void Watch(const std::string& target, const std::string& token) {
    http::request<http::empty_body> request(http::verb::get, target, 11);
    request.set(http::field::authorization, "Bearer " + token);
    http::write(*stream_, request);
  }
  std::string ReadUntil(const std::string& text) {
    std::string seen;
    char bytes[4096];
    beast::error_code error;
    while (seen.find(text) == std::string::npos && !error) {
      seen.append(bytes, stream_->read_some(asio::buffer(bytes), error));
    }
    return seen;
  }

 private:
  asio::io_context io_;
  asio::ssl::context tls_;
  std::unique_ptr<beast::ssl_stream<beast::tcp_stream>> stream_;
  beast::flat_buffer buffer_;
};

class ApiServerTest : public testing::Test {
 protected:
  ApiServerTest() {
    dir_ = testing::TempDir() + "/server.XXXXXX";
    EXPECT_NE(mkdtemp(dir_.data()), nullptr);
    server_ = Start();
  }
  std::unique_ptr<ApiServer> Start() {
    auto server = ApiServer::Start({.dir = dir_ + "/api"}, clock_, random_, nullptr);
    EXPECT_THAT(server, IsOk());
    return *std::move(server);
  }
  static int Mode(const std::string& path) {
    struct stat info = {};
    EXPECT_EQ(stat(path.c_str(), &info), 0) << path;
    return info.st_mode & 0777;
  }

  RealClock clock_;
  SystemRandom random_;
  std::string dir_;
  std::unique_ptr<ApiServer> server_;
};

TEST_F(ApiServerTest, OnlyWhoHasTheTokenIsAnswered) {
  Client client(*server_);
  EXPECT_EQ(client.Call(http::verb::get, "/version", "").result_int(), 401u);
  EXPECT_EQ(client.Call(http::verb::get, "/api/v1/pods", "wrong").result_int(), 401u);
  const auto reply = client.Call(http::verb::get, "/api/v1/namespaces/default", server_->token());
  EXPECT_EQ(reply.result_int(), 200u);
  EXPECT_THAT(reply.body(), HasSubstr("\"Namespace\""));
}

TEST_F(ApiServerTest, ItsTokenIsTheOneThatATokenReviewKnows) {
  Client client(*server_);
  const auto ask = [&](const std::string& token) {
    return client
        .Call(http::verb::post, "/apis/authentication.k8s.io/v1/tokenreviews", server_->token(),
              R"({"spec":{"token":")" + token + "\"}}")
        .body();
  };
  EXPECT_THAT(ask(server_->token()), HasSubstr("\"authenticated\":true"));
  EXPECT_THAT(ask(server_->token().substr(1)), HasSubstr("invalid bearer token"));
}

TEST_F(ApiServerTest, SecretsAreReadableByTheirOwnerOnly) {
  ASSERT_THAT(server_->WriteKubeconfig(dir_ + "/kubeconfig"), IsOk());
  EXPECT_EQ(Mode(dir_ + "/kubeconfig"), 0600);
  EXPECT_EQ(Mode(dir_ + "/api"), 0700);
  EXPECT_EQ(Mode(dir_ + "/api/token"), 0600);
  EXPECT_EQ(Mode(dir_ + "/api/tls.pem"), 0600);
}

TEST_F(ApiServerTest, AWatchStreamsChunksWhileItIsOpen) {
  Client watcher(*server_);
  watcher.Watch("/api/v1/namespaces?watch=1", server_->token());
  EXPECT_THAT(watcher.ReadUntil("kube-system"), HasSubstr("Transfer-Encoding: chunked"));
  Client client(*server_);
  EXPECT_EQ(client.Call(http::verb::post, "/api/v1/namespaces", server_->token(),
                        R"({"metadata":{"name":"fresh"}})")
                .result_int(),
            201u);
  EXPECT_THAT(watcher.ReadUntil("\"fresh\""), HasSubstr("ADDED"));
}

TEST_F(ApiServerTest, ABodyThatIsTooLargeIsRefused) {
  Client client(*server_);
  const std::string body((3 << 20) + 1, ' ');
  EXPECT_EQ(client.Call(http::verb::post, "/api/v1/namespaces", server_->token(), body)
                .result_int(),
            413u);
}

// An unknown field whose name has 70,000 characters came back in a header that the server could not
// write: one POST, by whoever may create jobs, ended the whole local cluster.
TEST_F(ApiServerTest, AnUnknownFieldOfAnyLengthIsAWarning) {
  const std::string body = R"({"apiVersion":"taas.dev/v1","kind":"TrainingJob",
      "metadata":{"name":"j"},"spec":{"suspend":true,"roles":{"worker":{"replicas":1}},
      "trainer":{"model":{"name":"softmax"},"strategy":{"type":"Local"},"maxSteps":10,
      "batchSize":10,"data":{"format":"idx","train":{"images":"/a","labels":"/b"}}},")" +
                           std::string(70'000, 'x') + R"(":1}})";
  Client client(*server_);
  const auto reply = client.Call(http::verb::post,
                                 "/apis/taas.dev/v1/namespaces/default/trainingjobs",
                                 server_->token(), body);
  EXPECT_EQ(reply.result_int(), 201u) << reply.body().substr(0, 500);
  EXPECT_THAT(std::string(reply["Warning"]), HasSubstr("unknown field \\\"spec.xxx"));
  EXPECT_EQ(client.Call(http::verb::get, "/version", server_->token()).result_int(), 200u);
}

TEST_F(ApiServerTest, ARestartKeepsObjectsTokenAndAuthority) {
  const std::string token = server_->token();
  const std::string ca = server_->ca_pem();
  server_->api().Handle({.method = "POST",
                         .target = "/api/v1/namespaces",
                         .body = R"({"metadata":{"name":"kept"}})"});
  server_.reset();
  server_ = Start();
  EXPECT_EQ(server_->token(), token);
  EXPECT_EQ(server_->ca_pem(), ca);
  Client client(*server_);
  EXPECT_EQ(client.Call(http::verb::get, "/api/v1/namespaces/kept", token).result_int(), 200u);
}

TEST_F(ApiServerTest, StoppingEndsOpenWatches) {
  Client watcher(*server_);
  watcher.Watch("/api/v1/pods?watch=1", server_->token());
  watcher.ReadUntil("\r\n\r\n");
  server_.reset();
  watcher.ReadUntil("never");  // Returns, because the connection has ended.
}

TEST_F(ApiServerTest, ATakenPortIsNamed) {
  const auto second = ApiServer::Start({.dir = dir_ + "/second", .port = server_->port()}, clock_,
                                       random_, nullptr);
  EXPECT_THAT(second, StatusIs(absl::StatusCode::kUnavailable,
                               HasSubstr(std::to_string(server_->port()))));
}

}  // namespace
}  // namespace taas::localkube
