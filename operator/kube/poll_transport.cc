#include "operator/kube/poll_transport.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <optional>
#include <thread>

namespace taas {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;

// Less than the time between two polls.
constexpr std::chrono::seconds kPollTimeout{3};
// A report is 1 KB, the chief's with a thousand peers 200 KB, and with eight GPUs of each 1.2 MB.
constexpr size_t kPollBytesMax = 4 << 20;

class Poll : public std::enable_shared_from_this<Poll> {
 public:
  Poll(asio::io_context& context, Executor& executor, PollTransport::Done done)
      : stream_(context), executor_(executor), done_(std::move(done)) {}

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
    parser_.body_limit(kPollBytesMax);
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
  void Read() {
    http::async_read(stream_, buffer_, parser_,
                     [self = shared_from_this()](beast::error_code failed, size_t) {
                       if (failed) return self->Fail(failed.message());
                       self->Finish();
                     });
  }
  void Finish() {
    const auto& reply = parser_.get();
    if (reply.result_int() != 200) return Fail("HTTP " + std::to_string(reply.result_int()));
    executor_.Post([done = std::move(done_), body = reply.body()] { done(body); });
  }
  void Fail(const std::string& cause) {
    executor_.Post([done = std::move(done_), text = what_ + ": " + cause] {
      done(absl::UnavailableError(text));
    });
  }

  beast::tcp_stream stream_;
  Executor& executor_;
  PollTransport::Done done_;
  std::string what_;
  http::request<http::empty_body> request_;
  beast::flat_buffer buffer_{kPollBytesMax};
  http::response_parser<http::string_body> parser_;
};

}  // namespace

struct TcpPollTransport::Io {
  asio::io_context context{1};
  std::optional<asio::executor_work_guard<asio::io_context::executor_type>> work{
      context.get_executor()};
  std::thread thread{[this] { context.run(); }};
};

TcpPollTransport::TcpPollTransport(Executor& executor)
    : executor_(executor), io_(std::make_unique<Io>()) {}

TcpPollTransport::~TcpPollTransport() {
  io_->context.stop();
  io_->thread.join();
}

void TcpPollTransport::Get(const std::string& host, int32_t port, const std::string& path,
                           Done done) {
  auto poll = std::make_shared<Poll>(io_->context, executor_, std::move(done));
  asio::post(io_->context, [poll, host, port, path] { poll->Start(host, port, path); });
}

}  // namespace taas
