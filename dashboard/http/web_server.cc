#include "dashboard/http/web_server.h"

#include <sys/resource.h>

#include <algorithm>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "dashboard/http/web_connection.h"
#include "operator/base/log.h"
#include "operator/base/status.h"

namespace taas::dashboard {
namespace {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;
using Error = boost::system::error_code;

// They parse, compress and copy; decisions are made on the dashboard's own thread.
constexpr int kThreads = 2;
// When there are no descriptors left, until some may be free again.
constexpr std::chrono::milliseconds kAcceptAgain{100};

absl::StatusOr<tcp::endpoint> ParseAddress(const std::string& address) {
  const size_t colon = address.rfind(':');
  const std::string port_text = colon == std::string::npos ? "" : address.substr(colon + 1);
  const bool digits = !port_text.empty() && port_text.size() <= 5 &&
                      port_text.find_first_not_of("0123456789") == std::string::npos;
  const int port = digits ? std::stoi(port_text) : -1;
  std::string host = colon == std::string::npos ? "" : address.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  if (host == "localhost") host = "127.0.0.1";
  Error error;
  const auto ip = asio::ip::make_address(host, error);
  if (port < 0 || port > 65535 || error) {
    return absl::InvalidArgumentError("listen on \"" + address +
                                      "\": not HOST:PORT with a numeric host");
  }
  return tcp::endpoint(ip, static_cast<uint16_t>(port));
}

int DescriptorsMax() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return kWebConnectionsMax;
  return static_cast<int>(std::min<rlim_t>(limit.rlim_cur, 1 << 20));
}

class Server : public WebServer {
 public:
  Server(Options options, WebHandler handler)
      : shared_(std::make_shared<ConnectionsShared>()),
        acceptor_(asio::make_strand(shared_->io)),
        again_(acceptor_.get_executor()) {
    shared_->handler = std::move(handler);
    shared_->options = std::move(options);
    shared_->unsent = std::make_shared<UnsentBudget>(
        UnsentBudget::Limits{.of_one = shared_->options.unsent_bytes_max,
                             .of_all = shared_->options.all_unsent_bytes_max});
    int& places = shared_->options.connections_max;
    places = std::max(1, std::min(places, DescriptorsMax() / 2));
  }

  ~Server() override {
    std::vector<std::shared_ptr<WebConnection>> open;
    {
      std::lock_guard lock(shared_->mutex);
      stopping_ = true;
      for (const auto& [number, weak] : shared_->open) {
        if (auto connection = weak.lock()) open.push_back(std::move(connection));
      }
    }
    // Before the acceptor, without which there may be no work left: a connection whose handler has
    // its request waits for nothing, and threads that ran out of work would not close it.
    for (const auto& connection : open) connection->Close();
    open.clear();
    asio::post(acceptor_.get_executor(), [this] {
      Error ignored;
      acceptor_.close(ignored);
      again_.cancel(ignored);
    });
    // Nothing is waited for any more, so the threads run out of work.
    for (std::thread& thread : threads_) thread.join();
  }

  absl::Status Listen() {
    const std::string& address = shared_->options.address;
    ASSIGN_OR_RETURN(const tcp::endpoint endpoint, ParseAddress(address));
    try {
      acceptor_.open(endpoint.protocol());
      acceptor_.set_option(asio::socket_base::reuse_address(true));
      acceptor_.bind(endpoint);
      acceptor_.listen(asio::socket_base::max_listen_connections);
      port_ = acceptor_.local_endpoint().port();
    } catch (const boost::system::system_error& error) {
      return absl::UnavailableError("listen on " + address + ": " + error.what() +
                                    "; choose another port or end the program that has it");
    }
    Accept();
    for (int i = 0; i < kThreads; ++i) {
      threads_.emplace_back([this] { Work(); });
    }
    return absl::OkStatus();
  }

  uint16_t port() const override { return port_; }
  int connections() const override {
    std::lock_guard lock(shared_->mutex);
    return static_cast<int>(shared_->open.size());
  }

 private:
  // A connection whose handler throws is gone with what it was doing; the others go on.
  void Work() {
    for (bool more = true; more;) {
      try {
        shared_->io.run();
        more = false;
      } catch (const std::exception& error) {
        Log(LogLevel::kError, "a connection of the dashboard failed", {{"why", error.what()}});
      }
    }
  }

  void Accept() {
    acceptor_.async_accept(asio::make_strand(shared_->io), [this](Error error, tcp::socket socket) {
      if (error == asio::error::operation_aborted) return;
      if (!error) return Begin(std::move(socket));
      Log(LogLevel::kWarning, "the dashboard cannot accept a connection",
          {{"why", error.message()}});
      DropOldestStranger();
      again_.expires_after(kAcceptAgain);
      again_.async_wait([this](Error stopped) {
        if (!stopped) Accept();
      });
    });
  }

  void Begin(tcp::socket socket) {
    Error ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    std::shared_ptr<WebConnection> connection, dropped;
    {
      std::lock_guard lock(shared_->mutex);
      if (stopping_) return;
      const size_t known = shared_->open.size() - shared_->strangers.size();
      const auto places = static_cast<size_t>(shared_->options.connections_max);
      const bool probes_only = known >= places;
      const size_t for_strangers = probes_only ? kWebProbesMax : places - known;
      if (shared_->strangers.size() >= for_strangers) dropped = TakeOldestStranger();
      const uint64_t number = next_++;
      connection = WebConnection::Make(std::move(socket), shared_,
                                       {.number = number, .probes_only = probes_only});
      shared_->open[number] = connection;
      shared_->strangers.insert(number);
    }
    if (dropped != nullptr) dropped->Close();
    connection->Run();
    Accept();
  }

  // Under the mutex.
  std::shared_ptr<WebConnection> TakeOldestStranger() {
    const uint64_t number = *shared_->strangers.begin();
    shared_->strangers.erase(number);
    const auto found = shared_->open.find(number);
    if (found == shared_->open.end()) return nullptr;
    std::shared_ptr<WebConnection> connection = found->second.lock();
    shared_->open.erase(found);
    return connection;
  }

  // No descriptor is left for a new connection: one of those that have shown no token gives its.
  void DropOldestStranger() {
    std::shared_ptr<WebConnection> dropped;
    {
      std::lock_guard lock(shared_->mutex);
      if (!shared_->strangers.empty()) dropped = TakeOldestStranger();
    }
    if (dropped != nullptr) dropped->Close();
  }

  const std::shared_ptr<ConnectionsShared> shared_;
  bool stopping_ = false;
  uint64_t next_ = 1;
  tcp::acceptor acceptor_;
  asio::steady_timer again_;
  uint16_t port_ = 0;
  std::vector<std::thread> threads_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<WebServer>> WebServer::Start(Options options, WebHandler handler) {
  auto server = std::make_unique<Server>(std::move(options), std::move(handler));
  RETURN_IF_ERROR(server->Listen());
  return std::unique_ptr<WebServer>(std::move(server));
}

}  // namespace taas::dashboard
