#include "operator/controller/http_pages.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <cstdint>
#include <exception>
#include <thread>

#include "operator/base/log.h"
#include "operator/base/status.h"

namespace taas {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;

// A scraper that takes longer than this has gone.
constexpr std::chrono::seconds kRequestTimeout{10};
// Prometheus and probes send a few hundred bytes.
constexpr size_t kRequestBytesMax = 16 << 10;
// Before accept is tried again when it fails, as it does while all descriptors are in use.
constexpr std::chrono::milliseconds kAcceptPause{100};

absl::StatusOr<asio::ip::tcp::endpoint> ParseAddress(const std::string& text) {
  const std::string what = "listen on \"" + text + "\": ";
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos) {
    return absl::InvalidArgumentError(what + "give it as host:port, such as 127.0.0.1:8080");
  }
  std::string host = text.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  if (host.empty()) host = "0.0.0.0";
  if (host == "localhost") host = "127.0.0.1";
  const std::string port = text.substr(colon + 1);
  const bool digits = !port.empty() && port.size() <= 5 &&
                      port.find_first_not_of("0123456789") == std::string::npos;
  if (!digits || std::stoi(port) > 65535) {
    return absl::InvalidArgumentError(what + "the port is no number from 0 to 65535");
  }
  boost::system::error_code error;
  const auto address = asio::ip::make_address(host, error);
  if (error) return absl::InvalidArgumentError(what + "the host is no IP address");
  return asio::ip::tcp::endpoint(address, static_cast<uint16_t>(std::stoi(port)));
}

class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(asio::ip::tcp::socket socket, const HttpPages::Make& make, const HostNames& names)
      : stream_(std::move(socket)), make_(make), names_(names) {}

  void Start() {
    stream_.expires_after(kRequestTimeout);
    http::async_read(stream_, buffer_, request_,
                     [self = shared_from_this()](beast::error_code failed, size_t) {
                       if (!failed) self->Answer();
                     });
  }

 private:
  void Answer() {
    HttpPage page{.code = 405, .text = "only GET and HEAD\n"};
    const bool head = request_.method() == http::verb::head;
    const auto host = request_[http::field::host];
    if (!IsOwnHost({host.data(), host.size()}, names_)) {
      page = {.code = 421, .text = std::string(kNotOurHost) + "\n"};
    } else if (head || request_.method() == http::verb::get) {
      const std::string target(request_.target());
      page = Made(target.substr(0, target.find('?')));
    }
    reply_.version(11);
    reply_.result(static_cast<unsigned>(page.code));
    reply_.set(http::field::content_type, "text/plain; version=0.0.4; charset=utf-8");
    reply_.keep_alive(false);
    reply_.content_length(page.text.size());
    if (!head) reply_.body() = std::move(page.text);
    http::async_write(stream_, reply_,
                      [self = shared_from_this()](beast::error_code, size_t) {
                        beast::error_code ignored;
                        self->stream_.socket().shutdown(asio::socket_base::shutdown_send, ignored);
                      });
  }

  // Memory that is not there ends this answer, not the operator.
  HttpPage Made(const std::string& path) const {
    try {
      return make_(path);
    } catch (const std::exception& error) {
      Log(LogLevel::kError, "a page could not be made", {{"path", path}, {"why", error.what()}});
      return {.code = 500, .text = "this page could not be made; the log says why\n"};
    }
  }

  beast::tcp_stream stream_;
  const HttpPages::Make& make_;
  const HostNames& names_;
  beast::flat_buffer buffer_{kRequestBytesMax};
  http::request<http::string_body> request_;
  http::response<http::string_body> reply_;
};

}  // namespace

class HttpPages::Server {
 public:
  Server(Make make, HostNames names) : make_(std::move(make)), names_(std::move(names)) {}
  ~Server() {
    context_.stop();
    if (thread_.joinable()) thread_.join();
  }

  absl::Status Listen(const std::string& address) {
    ASSIGN_OR_RETURN(const asio::ip::tcp::endpoint endpoint, ParseAddress(address));
    boost::system::error_code error;
    acceptor_.open(endpoint.protocol(), error);
    if (!error) acceptor_.set_option(asio::socket_base::reuse_address(true), error);
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
    if (error) return absl::UnavailableError("listen on " + address + ": " + error.message());
    port_ = acceptor_.local_endpoint(error).port();
    Accept();
    thread_ = std::thread([this] { context_.run(); });
    return absl::OkStatus();
  }
  int port() const { return port_; }

 private:
  void Accept() {
    acceptor_.async_accept([this](boost::system::error_code failed, asio::ip::tcp::socket socket) {
      if (failed == asio::error::operation_aborted) return;
      if (failed) return AcceptLater();
      std::make_shared<Session>(std::move(socket), make_, names_)->Start();
      Accept();
    });
  }

  void AcceptLater() {
    pause_.expires_after(kAcceptPause);
    pause_.async_wait([this](boost::system::error_code cancelled) {
      if (!cancelled) Accept();
    });
  }

  const Make make_;
  const HostNames names_;
  asio::io_context context_{1};
  asio::ip::tcp::acceptor acceptor_{context_};
  asio::steady_timer pause_{context_};
  int port_ = 0;
  std::thread thread_;
};

HttpPages::HttpPages(std::unique_ptr<Server> server) : server_(std::move(server)) {}
HttpPages::~HttpPages() = default;
int HttpPages::port() const { return server_->port(); }

absl::StatusOr<std::unique_ptr<HttpPages>> HttpPages::Start(const std::string& address, Make make,
                                                            HostNames names) {
  auto server = std::make_unique<Server>(std::move(make), std::move(names));
  RETURN_IF_ERROR(server->Listen(address));
  return std::unique_ptr<HttpPages>(new HttpPages(std::move(server)));
}

}  // namespace taas
