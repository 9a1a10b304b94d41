#include "trainer/status/status_server.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <list>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "boost/asio/executor_work_guard.hpp"
#include "boost/asio/ip/tcp.hpp"
#include "boost/asio/post.hpp"
#include "boost/asio/steady_timer.hpp"
#include "boost/beast/core.hpp"
#include "boost/beast/http.hpp"
#include "operator/base/status.h"
#include "third_party/json.h"
#include "trainer/comm/listener.h"

namespace taas {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using Tcp = asio::ip::tcp;

// A client that is slower than this holds up nobody but itself.
constexpr std::chrono::seconds kPatience{5};
// Request line and headers; there is no body.
constexpr uint32_t kHeaderBytesMax = 8 << 10;
// The operator, the chief and a person or two.
constexpr int kConnectionsMax = 32;
// With those that have given way and whose end is still to be handled.
constexpr int kPlacesMax = 2 * kConnectionsMax;
// Questions that wait for a disk: while it does not answer, the other connections are for the pages
// that need none.
constexpr int kDiskWaitersMax = 8;
// Before accept is tried again when it fails, as it does while all descriptors are in use.
constexpr std::chrono::milliseconds kAcceptPause{100};

}  // namespace

struct StatusServer::State {
  State(Pages pages_in, HostNames names_in)
      : pages(std::move(pages_in)),
        names(std::move(names_in)),
        acceptor(context),
        pause(context) {}

  const Pages pages;
  const HostNames names;
  // Of connections that may give way, those first that read or write for longest. Their sessions
  // end with `context`.
  std::list<Tcp::socket*> in_turn;
  asio::io_context context{1};
  // What is asked of the disk; it ends before `context`, whose sockets it has.
  asio::io_context disk{1};
  Tcp::acceptor acceptor;
  asio::steady_timer pause;
  int port = 0;
  int connections = 0;
  int disk_waiters = 0;
  std::thread thread;
  std::thread disk_thread;
};

namespace {

// One connection; kept alive by its handlers.
template <typename State>
class Session : public std::enable_shared_from_this<Session<State>> {
 public:
  Session(State& state, Tcp::socket socket) : state_(state), stream_(std::move(socket)) {
    ++state_.connections;
  }
  ~Session() {
    LeaveTurn();
    --state_.connections;
  }

  void Read() {
    parser_.emplace();
    parser_->header_limit(kHeaderBytesMax);
    parser_->body_limit(0);
    TakeTurn();
    http::async_read(stream_, buffer_, *parser_,
                     [self = this->shared_from_this()](beast::error_code error, size_t) {
                       if (!error) self->Answer();
                     });
  }

 private:
  // Reading and writing are for clients that are at work on it.
  void TakeTurn() {
    LeaveTurn();
    turn_ = state_.in_turn.insert(state_.in_turn.end(), &stream_.socket());
    stream_.expires_after(kPatience);
  }
  void LeaveTurn() {
    if (turn_) state_.in_turn.erase(*turn_);
    turn_.reset();
  }

  void Answer() {
    const auto& request = parser_->get();
    response_ = {};
    response_.version(request.version());
    response_.keep_alive(request.keep_alive());
    response_.set(http::field::content_type, "application/json");
    const std::string target(request.target());
    const size_t mark = std::min(target.find('?'), target.size());
    const auto page = state_.pages.find(target.substr(0, mark));
    const auto host = request[http::field::host];
    if (!IsOwnHost({host.data(), host.size()}, state_.names)) {
      Refuse(http::status::misdirected_request, std::string(kNotOurHost));
    } else if (request.method() != http::verb::get) {
      Refuse(http::status::method_not_allowed, "only GET is served here");
    } else if (page == state_.pages.end()) {
      std::string known;
      for (const auto& [path, unused] : state_.pages) known += (known.empty() ? "" : ", ") + path;
      Refuse(http::status::not_found, "served here are " + known);
    } else if (const std::string query = target.substr(std::min(mark + 1, target.size()));
               !page->second.reads_disk) {
      Fill(page->second, BodyOf(page->second, query));
    } else if (state_.disk_waiters >= kDiskWaitersMax) {
      Refuse(http::status::service_unavailable, "the disk does not answer");
    } else {
      return AskDisk(page->second, query);
    }
    Write();
  }

  // Memory that is not there ends this answer, not the training.
  template <typename Page>
  static absl::StatusOr<std::string> BodyOf(const Page& page, const std::string& query) {
    try {
      return page.body(query);
    } catch (const std::exception& error) {
      return absl::InternalError(std::string("this page could not be made: ") + error.what());
    }
  }

  template <typename Page>
  void AskDisk(const Page& page, std::string query) {
    ++state_.disk_waiters;
    LeaveTurn();
    asio::post(state_.disk, [self = this->shared_from_this(), &page,
                             query = std::move(query)]() mutable {
      auto body = BodyOf(page, query);
      // Moved: kept here, too, it could be what ends this connection, on the thread of the disk.
      State& state = self->state_;
      asio::post(state.context, [self = std::move(self), &page, body = std::move(body)] {
        --self->state_.disk_waiters;
        self->Fill(page, body);
        self->Write();
      });
    });
  }

  template <typename Page>
  void Fill(const Page& page, absl::StatusOr<std::string> body) {
    if (!body.ok()) {
      return Refuse(absl::IsInternal(body.status()) ? http::status::internal_server_error
                                                    : http::status::bad_request,
                    std::string(body.status().message()));
    }
    response_.set(http::field::content_type, page.content_type);
    response_.body() = *std::move(body);
  }

  void Write() {
    response_.prepare_payload();
    TakeTurn();
    http::async_write(stream_, response_,
                      [self = this->shared_from_this()](beast::error_code error, size_t) {
                        if (!error && self->response_.keep_alive()) self->Read();
                      });
  }

  void Refuse(http::status status, const std::string& message) {
    response_.result(status);
    response_.body() = nlohmann::json{{"message", message}}.dump(
        -1, ' ', false, nlohmann::json::error_handler_t::replace);
  }

  State& state_;
  beast::tcp_stream stream_;
  std::optional<std::list<Tcp::socket*>::iterator> turn_;  // In state_.in_turn.
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::empty_body>> parser_;
  http::response<http::string_body> response_;
};

template <typename State>
void Accept(State& state) {
  state.acceptor.async_accept([&state](beast::error_code error, Tcp::socket socket) {
    if (error == asio::error::operation_aborted) return;
    if (error) {
      state.pause.expires_after(kAcceptPause);
      state.pause.async_wait([&state](beast::error_code cancelled) {
        if (!cancelled) Accept(state);
      });
      return;
    }
    if (state.connections >= kConnectionsMax && !state.in_turn.empty()) {
      // Its operation ends, and with it the connection.
      beast::error_code ignored;
      state.in_turn.front()->close(ignored);
      state.in_turn.splice(state.in_turn.end(), state.in_turn, state.in_turn.begin());
    }
    if (state.connections < kPlacesMax) {
      std::make_shared<Session<State>>(state, std::move(socket))->Read();
    }
    Accept(state);
  });
}

}  // namespace

StatusServer::StatusServer(std::unique_ptr<State> state) : state_(std::move(state)) {}

StatusServer::~StatusServer() {
  state_->context.stop();
  state_->disk.stop();
  state_->thread.join();
  state_->disk_thread.join();
}

int StatusServer::port() const { return state_->port; }

absl::StatusOr<std::unique_ptr<StatusServer>> StatusServer::Start(const std::string& host,
                                                                  int port, Pages pages,
                                                                  HostNames names) {
  ASSIGN_OR_RETURN(const int fd, comm::OpenListeningSocket(host, port));
  auto state = std::make_unique<State>(std::move(pages), std::move(names));
  ASSIGN_OR_RETURN(state->port, comm::PortOfSocket(fd));
  beast::error_code error;
  state->acceptor.assign(comm::IsIpv6(fd) ? Tcp::v6() : Tcp::v4(), fd, error);
  if (error) return absl::UnavailableError("serve the status page: " + error.message());
  Accept(*state);
  state->thread = std::thread([raw = state.get()] { raw->context.run(); });
  state->disk_thread = std::thread([raw = state.get()] {
    const auto until_stopped = asio::make_work_guard(raw->disk);
    raw->disk.run();
  });
  return std::unique_ptr<StatusServer>(new StatusServer(std::move(state)));
}

}  // namespace taas
