// One TLS connection to a server on this machine, for tests of what comes over one: it sends what
// it is given, request or not, and verifies nothing.
//
// Ownership: owns its connection. Threads: one. Errors: an answer with code 0, or the bytes that
// came before the end.
//
//   TestClient client(server->port());
//   EXPECT_EQ(client.Call("GET", "/version", token).code, 200);

#ifndef LOCALKUBE_API_SERVE_TEST_CLIENT_H_
#define LOCALKUBE_API_SERVE_TEST_CLIENT_H_

#include <algorithm>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <cstdint>
#include <map>
#include <string>

namespace taas::localkube {

struct TestAnswer {
  int code = 0;  // 0: the connection ended.
  std::string body;
  std::multimap<std::string, std::string> headers;
};

class TestClient {
 public:
  explicit TestClient(uint16_t port) : stream_(io_, tls_) {
    boost::system::error_code error;
    boost::beast::get_lowest_layer(stream_).connect({boost::asio::ip::address_v4::loopback(), port},
                                                    error);
    if (!error) stream_.handshake(boost::asio::ssl::stream_base::client, error);
    connected_ = !error;
  }

  bool connected() const { return connected_; }

  static std::string Request(const std::string& method, const std::string& target,
                             const std::string& token, const std::string& body = "",
                             const std::string& more_headers = "") {
    return method + " " + target + " HTTP/1.1\r\nHost: 127.0.0.1\r\n" +
           (token.empty() ? "" : "Authorization: Bearer " + token + "\r\n") + more_headers +
           (body.empty() ? "" : "Content-Length: " + std::to_string(body.size()) + "\r\n") +
           "\r\n" + body;
  }

  // False: the connection has ended.
  bool Send(const std::string& bytes) {
    boost::system::error_code error;
    boost::asio::write(stream_, boost::asio::buffer(bytes), error);
    return !error;
  }

  TestAnswer ReadAnswer() {
    namespace http = boost::beast::http;
    http::response_parser<http::string_body> parser;
    parser.body_limit(kBodyMax);
    parser.header_limit(kHeadersMax);
    boost::system::error_code error;
    http::read(stream_, buffer_, parser, error);
    if (error) return {};
    const auto& response = parser.get();
    TestAnswer answer{.code = static_cast<int>(response.result_int()),
                      .body = response.body(),
                      .headers = {}};
    for (const auto& field : response) {
      answer.headers.emplace(std::string(field.name_string()), std::string(field.value()));
    }
    return answer;
  }

  TestAnswer Call(const std::string& method, const std::string& target, const std::string& token,
                  const std::string& body = "", const std::string& more_headers = "") {
    if (!Send(Request(method, target, token, body, more_headers))) return {};
    return ReadAnswer();
  }

  // What comes until `text` does, or the end.
  std::string ReadUntil(const std::string& text) {
    std::string seen;
    std::string piece(kPieceBytes, '\0');
    boost::system::error_code error;
    size_t searched = 0;
    while (!error && seen.find(text, searched) == std::string::npos) {
      searched = seen.size() - std::min(seen.size(), text.size());
      const size_t count = stream_.read_some(boost::asio::buffer(piece), error);
      seen.append(piece, 0, count);
    }
    return seen;
  }
  std::string ReadToEnd() { return ReadUntil(std::string(1, '\0') + "never"); }

 private:
  static constexpr size_t kBodyMax = 256 << 20;
  static constexpr size_t kHeadersMax = 1 << 20;
  static constexpr size_t kPieceBytes = 64 << 10;

  boost::asio::io_context io_;
  boost::asio::ssl::context tls_{boost::asio::ssl::context::tls_client};
  boost::beast::ssl_stream<boost::beast::tcp_stream> stream_;
  boost::beast::flat_buffer buffer_;
  bool connected_ = false;
};

}  // namespace taas::localkube

#endif  // LOCALKUBE_API_SERVE_TEST_CLIENT_H_
