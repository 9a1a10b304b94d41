#include "operator/kube/test_server.h"

#include <sys/socket.h>

#include <atomic>
#include <mutex>
#include <thread>
#include <utility>

#include "boost/asio/ip/tcp.hpp"
#include "boost/asio/ssl.hpp"
#include "boost/beast/core.hpp"
#include "boost/beast/http.hpp"
#include "boost/beast/ssl.hpp"

namespace taas {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;

constexpr int kLongestPage = 16 << 20;

}  // namespace

struct TestServer::State {
  Handler handler;
  std::optional<Tls> tls;
  asio::io_context io;
  std::optional<asio::ssl::context> context;
  tcp::acceptor acceptor{io, tcp::endpoint(asio::ip::address_v4::loopback(), 0)};
  std::thread accepting;

  mutable std::mutex mutex;
  bool closing = false;
  std::vector<int> sockets;  // That are open.
  std::vector<std::thread> threads;
  std::vector<Request> requests;
  int connections = 0;

  void Accept();
  void Serve(tcp::socket socket, int connection);
  template <typename Stream>
  void ServeOn(Stream& stream, const std::string& client, int connection);
};

namespace {

template <typename Stream>
class StreamConnection : public TestServer::Connection {
 public:
  explicit StreamConnection(Stream& stream) : stream_(stream) {}
  bool Write(std::string_view raw) override {
    boost::system::error_code error;
    asio::write(stream_, asio::buffer(raw.data(), raw.size()), error);
    return !error;
  }
  bool WaitForClose() override {
    boost::system::error_code error;
    char byte = 0;
    while (!error) stream_.read_some(asio::buffer(&byte, 1), error);
    return false;
  }

 private:
  Stream& stream_;
};

std::string CommonName(SSL* ssl) {
  X509* const certificate = SSL_get1_peer_certificate(ssl);
  if (certificate == nullptr) return "";
  char name[256] = {};
  X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, name, sizeof(name));
  X509_free(certificate);
  return name;
}

std::string TextOf(boost::beast::string_view text) { return {text.data(), text.size()}; }

}  // namespace

template <typename Stream>
void TestServer::State::ServeOn(Stream& stream, const std::string& client, int connection) {
  boost::beast::flat_buffer buffer;
  for (;;) {
    http::request_parser<http::string_body> parser;
    parser.body_limit(kLongestPage);
    boost::system::error_code error;
    http::read(stream, buffer, parser, error);
    if (error) return;
    const auto& message = parser.get();
    Request request{.method = TextOf(message.method_string()),
                    .target = TextOf(message.target()),
                    .body = message.body(),
                    .authorization = TextOf(message[http::field::authorization]),
                    .user_agent = TextOf(message[http::field::user_agent]),
                    .content_type = TextOf(message[http::field::content_type]),
                    .client = client,
                    .connection = connection};
    {
      std::lock_guard lock(mutex);
      request.number = static_cast<int>(requests.size()) + 1;
      requests.push_back(request);
    }
    StreamConnection<Stream> to(stream);
    if (!handler(request, to)) return;
  }
}

void TestServer::State::Serve(tcp::socket socket, int connection) {
  const int descriptor = socket.native_handle();
  if (!context.has_value()) {
    ServeOn(socket, "", connection);
  } else {
    asio::ssl::stream<tcp::socket&> stream(socket, *context);
    boost::system::error_code error;
    stream.handshake(asio::ssl::stream_base::server, error);
    if (!error) ServeOn(stream, CommonName(stream.native_handle()), connection);
  }
  std::lock_guard lock(mutex);
  std::erase(sockets, descriptor);
  boost::system::error_code ignored;
  socket.close(ignored);
}

void TestServer::State::Accept() {
  for (;;) {
    boost::system::error_code error;
    tcp::socket socket = acceptor.accept(error);
    std::lock_guard lock(mutex);
    if (error || closing) return;
    sockets.push_back(socket.native_handle());
    threads.emplace_back([this, socket = std::move(socket), number = ++connections]() mutable {
      Serve(std::move(socket), number);
    });
  }
}

TestServer::TestServer(Handler handler, std::optional<Tls> tls)
    : state_(std::make_shared<State>()) {
  state_->handler = std::move(handler);
  state_->tls = std::move(tls);
  if (state_->tls.has_value()) {
    auto& context = state_->context.emplace(asio::ssl::context::tls_server);
    context.use_certificate_chain(asio::buffer(state_->tls->certificate));
    context.use_private_key(asio::buffer(state_->tls->key), asio::ssl::context::pem);
    if (!state_->tls->client_ca.empty()) {
      context.add_certificate_authority(asio::buffer(state_->tls->client_ca));
      context.set_verify_mode(asio::ssl::verify_peer | asio::ssl::verify_fail_if_no_peer_cert);
    }
  }
  state_->accepting = std::thread([state = state_.get()] { state->Accept(); });
}

TestServer::~TestServer() {
  {
    std::lock_guard lock(state_->mutex);
    state_->closing = true;
    shutdown(state_->acceptor.native_handle(), SHUT_RDWR);
    for (const int socket : state_->sockets) shutdown(socket, SHUT_RDWR);
  }
  state_->accepting.join();
  for (std::thread& thread : state_->threads) thread.join();
}

int TestServer::port() const { return state_->acceptor.local_endpoint().port(); }

std::string TestServer::url() const {
  return (state_->tls.has_value() ? "https" : "http") + std::string("://127.0.0.1:") +
         std::to_string(port());
}

std::vector<TestServer::Request> TestServer::requests() const {
  std::lock_guard lock(state_->mutex);
  return state_->requests;
}

bool TestServer::Connection::Reply(int code, std::string_view body, std::string_view headers) {
  return Write("HTTP/1.1 " + std::to_string(code) + " X\r\nContent-Type: application/json\r\n" +
               std::string(headers) + "Content-Length: " + std::to_string(body.size()) +
               "\r\n\r\n" + std::string(body));
}

bool TestServer::Connection::StartChunks(int code) {
  return Write("HTTP/1.1 " + std::to_string(code) +
               " X\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n");
}

bool TestServer::Connection::Chunk(std::string_view text) {
  char size[32];
  snprintf(size, sizeof(size), "%zx\r\n", text.size());
  return Write(size + std::string(text) + "\r\n");
}

}  // namespace taas
