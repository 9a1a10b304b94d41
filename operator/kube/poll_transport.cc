#include "operator/kube/poll_transport.h"

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

namespace taas {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;

// Less than the time between two polls.
constexpr std::chrono::seconds kPollTimeout{3};
// Of one read: a body goes through here on its way.
constexpr size_t kReadBytesMax = 64 << 10;

// For what all answers hold together.
class Room {
 public:
  explicit Room(size_t bytes_max) : bytes_max_(bytes_max) {}
  bool Take(size_t bytes) {
    if (taken_.fetch_add(bytes) + bytes <= bytes_max_) return true;
    Give(bytes);
    return false;
  }
  void Give(size_t bytes) { taken_.fetch_sub(bytes); }

 private:
  const size_t bytes_max_;
  std::atomic<size_t> taken_{0};
};

// What one answer holds of it, for as long as there is that answer.
class Share {
 public:
  explicit Share(std::shared_ptr<Room> room) : room_(std::move(room)) {}
  ~Share() { room_->Give(taken_); }
  Share(const Share&) = delete;
  Share& operator=(const Share&) = delete;

  bool GrowTo(size_t bytes) {
    const size_t wanted = bytes > kSmallAnswer ? bytes - kSmallAnswer : 0;
    if (wanted <= taken_) return true;
    if (!room_->Take(wanted - taken_)) return false;
    taken_ = wanted;
    return true;
  }

 private:
  const std::shared_ptr<Room> room_;
  size_t taken_ = 0;
};

class Poll : public std::enable_shared_from_this<Poll> {
 public:
  Poll(asio::io_context& context, Executor& executor, size_t body_bytes_max,
       std::shared_ptr<Room> room, PollTransport::Done done)
      : stream_(context),
        executor_(executor),
        body_bytes_max_(body_bytes_max),
        share_(std::make_shared<Share>(std::move(room))),
        done_(std::move(done)) {}

  void Start(const std::string& host, int32_t port, const std::string& path) {
    what_ = "GET http://" + host + ":" + std::to_string(port) + path;
    boost::system::error_code error;
    const auto address = asio::ip::make_address(host, error);
    if (error) return Fail(error.message());
    request_.version(11);
    request_.method(http::verb::get);
    request_.target(path);
    request_.set(http::field::host, host);
    request_.set(http::field::connection, "close");
    parser_.body_limit(body_bytes_max_);
    stream_.expires_after(kPollTimeout);
    stream_.async_connect(
        asio::ip::tcp::endpoint(address, static_cast<uint16_t>(port)),
        [self = shared_from_this()](beast::error_code failed) {
          if (failed) return self->Fail(failed.message());
          self->Write();
        });
  }

 private:
  void Write() {
    http::async_write(stream_, request_,
                      [self = shared_from_this()](beast::error_code failed, size_t) {
                        if (failed) return self->Fail(failed.message());
                        self->Read();
                      });
  }
  // In pieces: what has come is counted before more is taken.
  void Read() {
    http::async_read_some(stream_, buffer_, parser_,
                          [self = shared_from_this()](beast::error_code failed, size_t) {
                            if (failed) return self->Fail(failed.message());
                            self->OnRead();
                          });
  }
  void OnRead() {
    if (!share_->GrowTo(parser_.get().body().size())) {
      return Fail("too many long answers are being read at once to take this one");
    }
    parser_.is_done() ? Finish() : Read();
  }
  void Finish() {
    auto& reply = parser_.get();
    if (reply.result_int() != 200) return Fail("HTTP " + std::to_string(reply.result_int()));
    executor_.Post([done = std::move(done_), body = std::move(reply.body()),
                    share = std::move(share_)]() mutable { done(std::move(body)); });
  }
  void Fail(const std::string& cause) {
    executor_.Post([done = std::move(done_), text = what_ + ": " + cause] {
      done(absl::UnavailableError(text));
    });
  }

  beast::tcp_stream stream_;
  Executor& executor_;
  const size_t body_bytes_max_;
  std::shared_ptr<Share> share_;
  PollTransport::Done done_;
  std::string what_;
  http::request<http::empty_body> request_;
  beast::flat_buffer buffer_{kReadBytesMax};
  http::response_parser<http::string_body> parser_;
};

}  // namespace

struct TcpPollTransport::Io {
  explicit Io(size_t together_bytes_max) : room(std::make_shared<Room>(together_bytes_max)) {}

  const std::shared_ptr<Room> room;
  asio::io_context context{1};
  std::optional<asio::executor_work_guard<asio::io_context::executor_type>> work{
      context.get_executor()};
  std::thread thread{[this] { context.run(); }};
};

TcpPollTransport::TcpPollTransport(Executor& executor, PollLimits limits)
    : executor_(executor),
      limits_(limits),
      io_(std::make_unique<Io>(limits.together_bytes_max)) {}

TcpPollTransport::~TcpPollTransport() {
  io_->context.stop();
  io_->thread.join();
}

void TcpPollTransport::Get(const std::string& host, int32_t port, const std::string& path,
                           Done done) {
  auto poll = std::make_shared<Poll>(io_->context, executor_, limits_.body_bytes_max, io_->room,
                                     std::move(done));
  asio::post(io_->context, [poll, host, port, path] { poll->Start(host, port, path); });
}

}  // namespace taas
