#include "localkube/api/https_server.h"

#include <openssl/crypto.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "localkube/api/kube_status.h"

namespace taas::localkube {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using tcp = asio::ip::tcp;
using Error = boost::system::error_code;

class Server;

// One connection: requests one after the other, or one stream.
class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(Server* server, tcp::socket socket, asio::ssl::context& tls)
      : server_(server), stream_(std::move(socket), tls), tick_(stream_.get_executor()) {}
  ~Session();

  void Run();
  void Close();  // From any thread.

 private:
  using Request = http::request<http::string_body>;

  void Read();
  void OnRequest(Error error);
  bool IsAllowed(const Request& request) const;
  void Answer(ApiResponse response);
  void Send(ApiResponse response);
  void Discard();
  void StartStream(ApiResponse response);
  void Push(std::string chunk);
  void WriteNext();
  void WatchForEnd();
  void ScheduleTick();
  void CloseNow();

  Server* const server_;
  beast::ssl_stream<beast::tcp_stream> stream_;
  beast::flat_buffer buffer_{kHeaderBytesMax + kBodyBytesMax};
  std::optional<http::request_parser<http::string_body>> parser_;
  bool keep_alive_ = true;
  bool discard_ = false;  // The body was refused; it is still coming.
  size_t discarded_bytes_ = 0;
  std::shared_ptr<http::response<http::string_body>> response_;

  // A stream that is being sent.
  std::shared_ptr<http::response<http::empty_body>> head_;
  std::shared_ptr<http::response_serializer<http::empty_body>> head_serializer_;
  asio::steady_timer tick_;
  std::deque<std::string> unsent_;
  size_t unsent_bytes_ = 0;
  bool writing_ = false;
  bool ending_ = false;  // The last chunk follows what is unsent.
  bool closed_ = false;
  char byte_ = 0;
  std::unique_ptr<ApiStream> source_;
};

class Server : public HttpsServer {
 public:
  Server(Options options, Handler handler)
      : options_(std::move(options)),
        handler_(std::move(handler)),
        acceptor_(asio::make_strand(io_)) {}
  ~Server() override;

  absl::Status Listen();
  uint16_t port() const override { return port_; }
  const Handler& handler() const { return handler_; }
  const std::string& token() const { return options_.token; }
  void Forget(Session* session);

 private:
  void Accept();
  void OnAccept(tcp::socket socket);

  const Options options_;
  const Handler handler_;
  // Before io_, and so gone after it: sessions whose last handler never ran end with io_, and
  // Forget() is called then.
  std::mutex mutex_;
  std::map<Session*, std::weak_ptr<Session>> sessions_;
  asio::io_context io_;
  asio::ssl::context tls_{asio::ssl::context::tls_server};
  tcp::acceptor acceptor_;
  uint16_t port_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

Session::~Session() { server_->Forget(this); }

void Session::Run() {
  asio::dispatch(stream_.get_executor(), [self = shared_from_this()] {
    beast::get_lowest_layer(self->stream_).expires_after(kHandshakeTimeout);
    self->stream_.async_handshake(asio::ssl::stream_base::server, [self](Error error) {
      if (!error && !self->closed_) self->Read();
    });
  });
}

void Session::Close() {
  asio::post(stream_.get_executor(), [self = shared_from_this()] { self->CloseNow(); });
}

void Session::CloseNow() {
  if (std::exchange(closed_, true)) return;
  source_.reset();
  Error ignored;
  tick_.cancel(ignored);
  beast::get_lowest_layer(stream_).close();
}

void Session::Read() {
  parser_.emplace();
  parser_->body_limit(kBodyBytesMax);
  parser_->header_limit(kHeaderBytesMax);
  beast::get_lowest_layer(stream_).expires_after(kIdleTimeout);
  http::async_read(stream_, buffer_, *parser_,
                   [self = shared_from_this()](Error error, size_t) { self->OnRequest(error); });
}

bool Session::IsAllowed(const Request& request) const {
  const auto header = request[http::field::authorization];
  const std::string wanted = "Bearer " + server_->token();
  return header.size() == wanted.size() &&
         CRYPTO_memcmp(header.data(), wanted.data(), wanted.size()) == 0;
}

void Session::OnRequest(Error error) {
  if (closed_) return;
  if (error == http::error::body_limit) {
    keep_alive_ = false;
    discard_ = true;
    ApiResponse response;
    response.body = StatusBody(TooLarge(kBodyBytesMax), &response.code);
    Send(std::move(response));
    return;
  }
  if (error) {
    CloseNow();
    return;
  }
  Request request = parser_->release();
  keep_alive_ = request.keep_alive();
  if (!IsAllowed(request)) {
    ApiResponse response;
    response.body = StatusBody(Unauthorized(), &response.code);
    Send(std::move(response));
    return;
  }
  ApiRequest api_request{
      .method = std::string(request.method_string()),
      .target = std::string(request.target()),
      .body = std::move(request.body()),
      .content_type = std::string(request[http::field::content_type]),
      .accept = {}};
  for (auto it = request.equal_range(http::field::accept).first;
       it != request.equal_range(http::field::accept).second; ++it) {
    api_request.accept += (api_request.accept.empty() ? "" : ",") + std::string(it->value());
  }
  Answer(server_->handler()(api_request));
}

void Session::Answer(ApiResponse response) {
  if (response.stream != nullptr) {
    StartStream(std::move(response));
  } else {
    Send(std::move(response));
  }
}

void Session::Send(ApiResponse response) {
  response_ = std::make_shared<http::response<http::string_body>>();
  response_->version(11);
  response_->result(static_cast<unsigned>(response.code));
  response_->set(http::field::content_type, response.content_type);
  response_->set(http::field::cache_control, "no-cache, private");
  for (const auto& [name, value] : response.headers) response_->insert(name, value);
  response_->keep_alive(keep_alive_);
  response_->body() = std::move(response.body);
  response_->prepare_payload();
  beast::get_lowest_layer(stream_).expires_after(kIdleTimeout);
  http::async_write(stream_, *response_, [self = shared_from_this()](Error error, size_t) {
    self->response_.reset();
    if (!error && !self->closed_ && self->discard_) {
      self->Discard();
    } else if (error || self->closed_ || !self->keep_alive_) {
      self->CloseNow();
    } else {
      self->Read();
    }
  });
}

// A connection that is closed with bytes unread is reset, and the client never sees the answer.
void Session::Discard() {
  buffer_.consume(buffer_.size());
  stream_.async_read_some(
      buffer_.prepare(kBodyBytesMax / 8),
      [self = shared_from_this()](Error error, size_t count) {
        self->discarded_bytes_ += count;
        if (error || self->closed_ || self->discarded_bytes_ > kDiscardBytesMax) {
          self->CloseNow();
        } else {
          self->Discard();
        }
      });
}

void Session::StartStream(ApiResponse response) {
  source_ = std::move(response.stream);
  head_ = std::make_shared<http::response<http::empty_body>>();
  head_->version(11);
  head_->result(static_cast<unsigned>(response.code));
  head_->set(http::field::content_type, response.content_type);
  head_->set(http::field::cache_control, "no-cache, private");
  head_->keep_alive(false);
  head_->chunked(true);
  head_serializer_ = std::make_shared<http::response_serializer<http::empty_body>>(*head_);
  beast::get_lowest_layer(stream_).expires_never();
  writing_ = true;
  http::async_write_header(
      stream_, *head_serializer_, [self = shared_from_this()](Error error, size_t) {
        self->writing_ = false;
        if (error || self->closed_) {
          self->CloseNow();
          return;
        }
        // The source must not keep the session alive: it is the session's.
        const std::weak_ptr<Session> weak = self;
        const auto executor = self->stream_.get_executor();
        self->source_->Start({.data =
                                  [weak, executor](std::string chunk) {
                                    const auto session = weak.lock();
                                    if (session == nullptr) return;
                                    asio::post(executor, [session, chunk = std::move(chunk)] {
                                      session->Push(std::move(chunk));
                                    });
                                  },
                              .ended =
                                  [weak, executor] {
                                    const auto session = weak.lock();
                                    if (session == nullptr) return;
                                    asio::post(executor, [session] {
                                      session->ending_ = true;
                                      session->WriteNext();
                                    });
                                  }});
        self->ScheduleTick();
        self->WatchForEnd();
      });
}

void Session::ScheduleTick() {
  if (closed_ || ending_ || source_ == nullptr) return;
  tick_.expires_after(source_->tick_interval());
  tick_.async_wait([self = shared_from_this()](Error error) {
    if (error || self->closed_ || self->ending_) return;
    const bool taken = !self->writing_ && self->unsent_.empty();
    if (taken || !self->source_->HasMore()) self->source_->Tick();
    self->ScheduleTick();
  });
}

// A client that sends anything or goes away during a stream has had enough of it.
void Session::WatchForEnd() {
  stream_.async_read_some(asio::buffer(&byte_, 1), [self = shared_from_this()](Error, size_t) {
    self->CloseNow();
  });
}

void Session::Push(std::string chunk) {
  if (closed_ || chunk.empty()) return;
  unsent_bytes_ += chunk.size();
  if (unsent_bytes_ > kUnsentBytesMax) {
    CloseNow();
    return;
  }
  unsent_.push_back(std::move(chunk));
  WriteNext();
}

void Session::WriteNext() {
  if (writing_ || closed_) return;
  if (unsent_.empty()) {
    if (!ending_) {
      if (source_->HasMore()) source_->Tick();
      return;
    }
    writing_ = true;
    asio::async_write(stream_, http::make_chunk_last(),
                      [self = shared_from_this()](Error, size_t) { self->CloseNow(); });
    return;
  }
  writing_ = true;
  // All that waits goes out as one chunk: a burst of events costs one record of TLS, not hundreds.
  auto text = std::make_shared<std::string>();
  text->reserve(unsent_bytes_);
  for (const std::string& chunk : unsent_) *text += chunk;
  unsent_.clear();
  unsent_bytes_ = 0;
  asio::async_write(stream_, http::make_chunk(asio::buffer(*text)),
                    [self = shared_from_this(), text](Error error, size_t) {
                      self->writing_ = false;
                      if (error) {
                        self->CloseNow();
                      } else {
                        self->WriteNext();
                      }
                    });
}

Server::~Server() {
  std::vector<std::shared_ptr<Session>> sessions;
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    for (const auto& [pointer, weak] : sessions_) {
      if (auto session = weak.lock()) sessions.push_back(std::move(session));
    }
  }
  asio::post(acceptor_.get_executor(), [this] {
    Error ignored;
    acceptor_.close(ignored);
  });
  for (const auto& session : sessions) session->Close();
  sessions.clear();
  // Nothing is waited for any more, so the threads run out of work.
  for (std::thread& thread : threads_) thread.join();
}

absl::Status Server::Listen() {
  try {
    tls_.set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_tlsv1 |
                     asio::ssl::context::no_tlsv1_1);
    tls_.use_certificate_chain(asio::buffer(options_.certificate_pem));
    tls_.use_private_key(asio::buffer(options_.key_pem), asio::ssl::context::pem);
    const tcp::endpoint endpoint(asio::ip::address_v4::loopback(), options_.port);
    acceptor_.open(endpoint.protocol());
    acceptor_.set_option(asio::socket_base::reuse_address(true));
    acceptor_.bind(endpoint);
    acceptor_.listen(asio::socket_base::max_listen_connections);
    port_ = acceptor_.local_endpoint().port();
  } catch (const boost::system::system_error& error) {
    return absl::UnavailableError("listen on 127.0.0.1:" + std::to_string(options_.port) + ": " +
                                  error.what() +
                                  "; choose another port or end the program that has it");
  }
  Accept();
  for (int i = 0; i < kServerThreads; ++i) {
    threads_.emplace_back([this] { io_.run(); });
  }
  return absl::OkStatus();
}

void Server::Accept() {
  acceptor_.async_accept(asio::make_strand(io_), [this](Error error, tcp::socket socket) {
    if (error == asio::error::operation_aborted || !acceptor_.is_open()) return;
    if (!error) OnAccept(std::move(socket));
    Accept();
  });
}

void Server::OnAccept(tcp::socket socket) {
  Error ignored;
  socket.set_option(tcp::no_delay(true), ignored);
  auto session = std::make_shared<Session>(this, std::move(socket), tls_);
  {
    std::lock_guard lock(mutex_);
    if (stopping_ || sessions_.size() >= kConnectionsMax) return;
    sessions_[session.get()] = session;
  }
  session->Run();
}

void Server::Forget(Session* session) {
  std::lock_guard lock(mutex_);
  sessions_.erase(session);
}

}  // namespace

absl::StatusOr<std::unique_ptr<HttpsServer>> HttpsServer::Start(Options options,
                                                                Handler handler) {
  auto server = std::make_unique<Server>(std::move(options), std::move(handler));
  if (absl::Status status = server->Listen(); !status.ok()) return status;
  return std::unique_ptr<HttpsServer>(std::move(server));
}

}  // namespace taas::localkube
