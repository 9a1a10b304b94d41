#include "localkube/api/https_server.h"

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <exception>
#include <thread>
#include <utility>
#include <vector>

#include "localkube/api/https_session.h"
#include "operator/base/log.h"

namespace taas::localkube {
namespace {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;
using Error = boost::system::error_code;

class Server : public HttpsServer {
 public:
  Server(Options options, Handler handler)
      : options_(std::move(options)),
        handler_(std::move(handler)),
        places_({.all_max = options_.connections_max,
                 .probes_max = static_cast<size_t>(kProbeConnectionsMax)}),
        budget_(options_.streams),
        shared_{options_, handler_, places_, budget_},
        acceptor_(asio::make_strand(io_)),
        pause_(acceptor_.get_executor()) {}
  ~Server() override;

  absl::Status Listen();
  uint16_t port() const override { return port_; }

 private:
  void Accept();
  void AcceptLater();
  void OnAccept(tcp::socket socket);
  void RunThread();

  const Options options_;
  const Handler handler_;
  // Before io_, and so gone after it: sessions whose last handler never ran end with io_, and leave
  // their places then.
  HttpsSession::Places places_;
  StreamBudget budget_;
  const HttpsSession::Shared shared_;
  std::atomic<bool> stopping_ = false;
  asio::io_context io_;
  asio::ssl::context tls_{asio::ssl::context::tls_server};
  tcp::acceptor acceptor_;
  asio::steady_timer pause_;
  uint16_t port_ = 0;
  std::vector<std::thread> threads_;
};

Server::~Server() {
  stopping_ = true;
  asio::post(acceptor_.get_executor(), [this] {
    Error ignored;
    acceptor_.close(ignored);
    pause_.cancel(ignored);
  });
  for (const auto& session : places_.All()) session->Close();
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
                                  "; choose another --port or end the program that has it");
  }
  Accept();
  for (int i = 0; i < kServerThreads; ++i) {
    threads_.emplace_back([this] { RunThread(); });
  }
  return absl::OkStatus();
}

// What a session does not guard is the library's own: the operation it was about is lost, and with
// it its connection; the server goes on.
void Server::RunThread() {
  for (;;) {
    try {
      io_.run();
      return;
    } catch (const std::exception& error) {
      Log(LogLevel::kError, "a connection of the API server failed; the others go on",
          {{"cause", error.what()}});
    }
  }
}

void Server::Accept() {
  acceptor_.async_accept(asio::make_strand(io_), [this](Error error, tcp::socket socket) {
    if (error == asio::error::operation_aborted || !acceptor_.is_open()) return;
    if (error) return AcceptLater();
    try {
      OnAccept(std::move(socket));
    } catch (const std::exception& failure) {
      Log(LogLevel::kWarning, "the API server cannot take a connection",
          {{"cause", failure.what()}});
    }
    Accept();
  });
}

// Descriptors are what it lacks; there are some again when a connection or a file is closed.
void Server::AcceptLater() {
  pause_.expires_after(kAcceptPause);
  pause_.async_wait([this](Error cancelled) {
    if (!cancelled) Accept();
  });
}

void Server::OnAccept(tcp::socket socket) {
  Error ignored;
  socket.set_option(tcp::no_delay(true), ignored);
  auto session = std::make_shared<HttpsSession>(shared_, std::move(socket), tls_);
  auto place = places_.Take(session);
  if (stopping_) return;
  session->Run(std::move(place));
}

}  // namespace

absl::StatusOr<std::unique_ptr<HttpsServer>> HttpsServer::Start(Options options,
                                                                Handler handler) {
  auto server = std::make_unique<Server>(std::move(options), std::move(handler));
  if (absl::Status status = server->Listen(); !status.ok()) return status;
  return std::unique_ptr<HttpsServer>(std::move(server));
}

}  // namespace taas::localkube
