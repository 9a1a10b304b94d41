#include "dashboard/http/web_connection.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/chunk_encode.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cctype>
#include <deque>
#include <exception>
#include <optional>
#include <utility>

#include "dashboard/http/gzip.h"
#include "dashboard/http/problem.h"
#include "dashboard/http/web_target.h"
#include "operator/base/log.h"

namespace taas::dashboard {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using tcp = asio::ip::tcp;
using Error = boost::system::error_code;

// Of a body that was refused: read and thrown away, so that the client gets to reading why.
constexpr size_t kDiscardBytesMax = 64 << 20;
// What waits for the client of a stream goes out in chunks of so many texts.
constexpr size_t kTextsPerChunk = 64;

// Such a value could end its line and begin another header, or the body.
bool HasControls(std::string_view value) {
  return std::any_of(value.begin(), value.end(),
                     [](unsigned char c) { return (c < 0x20 && c != '\t') || c == 0x7f; });
}

std::string HeadOf(const WebResponse& response, bool keep_alive) {
  const auto reason = http::obsolete_reason(static_cast<http::status>(response.code));
  std::string head = "HTTP/1.1 " + std::to_string(response.code) + " " + std::string(reason) +
                     "\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n";
  const auto add = [&head](std::string_view name, std::string_view value) {
    if (!HasControls(value)) head.append(name).append(": ").append(value).append("\r\n");
  };
  if (!response.content_type.empty()) add("Content-Type", response.content_type);
  if (!response.content_encoding.empty()) add("Content-Encoding", response.content_encoding);
  for (const auto& [name, value] : response.headers) add(name, value);
  if (!keep_alive) add("Connection", "close");
  return head;
}

bool MayCompress(const WebResponse& response) {
  const std::string& type = response.content_type;
  return response.content_encoding.empty() && response.body != nullptr &&
         response.body->size() >= kCompressBytesMin &&
         (type.rfind("text/", 0) == 0 || type.rfind("application/json", 0) == 0);
}

class Connection;

// Where a handler writes a stream; outlives the connection if the handler keeps it.
class Sink : public StreamSink {
 public:
  Sink(std::weak_ptr<Connection> connection, std::shared_ptr<UnsentBudget> budget,
       uint64_t stream)
      : connection_(std::move(connection)), budget_(std::move(budget)), stream_(stream) {}
  bool Write(SharedText chunk) override;
  void End() override;
  void Abort() override;
  size_t unsent() const override { return budget_->unsent(stream_); }

 private:
  friend class Connection;
  const std::weak_ptr<Connection> connection_;
  const std::shared_ptr<UnsentBudget> budget_;
  const uint64_t stream_;  // Of the budget.
  std::atomic<bool> open_ = true;
};

// Where a handler answers. When it has let go of all copies and has not answered, nobody else will.
class Answer {
 public:
  explicit Answer(std::weak_ptr<Connection> connection) : connection_(std::move(connection)) {}
  Answer(const Answer&) = delete;
  Answer& operator=(const Answer&) = delete;
  ~Answer();
  void Give(WebResponse response);

 private:
  const std::weak_ptr<Connection> connection_;
  std::atomic<bool> given_ = false;
};

class Connection : public WebConnection, public std::enable_shared_from_this<Connection> {
 public:
  Connection(tcp::socket socket, std::shared_ptr<ConnectionsShared> shared, const Place& place)
      : shared_(std::move(shared)), place_(place), stream_(std::move(socket)) {
    Error error;
    const auto peer = stream_.socket().remote_endpoint(error);
    if (!error) peer_ = peer.address().to_string();
  }
  ~Connection() override {
    TellClosed();
    ReleaseRoom();
    std::lock_guard lock(shared_->mutex);
    shared_->open.erase(place_.number);
    shared_->strangers.erase(place_.number);
  }

  void Run() override {
    asio::dispatch(stream_.get_executor(), [self = shared_from_this()] { self->AwaitRequest(); });
  }
  void Close() override {
    asio::post(stream_.get_executor(), [self = shared_from_this()] { self->CloseNow(); });
  }
  auto executor() { return stream_.get_executor(); }

  // On the strand.
  void Respond(WebResponse response);
  void Push(SharedText chunk) {
    if (closed_) return;
    unsent_.push_back(std::move(chunk));
    WriteNext();
  }
  void EndStream() {
    ending_ = true;
    WriteNext();
  }
  void CloseNow() {
    if (std::exchange(closed_, true)) return;
    const auto self = std::exchange(answering_, nullptr);
    unsent_.clear();
    TellClosed();
    stream_.close();
  }

 private:
  using Parser = http::request_parser<http::string_body>;

  void AwaitRequest();
  void ReadRequest();
  void OnRequestHead(Error error);
  bool TakeRoom();
  void ReleaseRoom();
  bool IsProbe(const WebRequest& request) const;
  void BecomeKnown();
  void OnRequest(Error error);
  absl::StatusOr<WebRequest> TakeRequest();
  void Refuse(WebResponse response);
  void Send(WebResponse response);
  void OnSent(Error error);
  void Discard();
  void StartStream(WebResponse response);
  void OnStreamHead(Error error);
  void WatchForEnd();
  void WriteNext();
  void OnChunkSent(Error error);
  void TellClosed();

  const std::shared_ptr<ConnectionsShared> shared_;  // First: gone after all that runs on it.
  const Place place_;
  std::shared_ptr<Connection> answering_;  // This one, while its handler has a request.
  beast::tcp_stream stream_;
  std::string peer_;
  beast::flat_buffer buffer_{kWebHeaderBytesMax + kWebBodyBytesMax};
  std::optional<Parser> parser_;
  size_t room_bytes_ = 0;  // That its body takes of what all large ones may.
  bool known_ = false;     // It has shown a good token.
  bool keep_alive_ = true;
  bool head_only_ = false;
  bool takes_gzip_ = false;
  bool discard_ = false;  // The body was refused; it is still coming.
  size_t discarded_bytes_ = 0;
  bool closed_ = false;

  std::string head_;
  SharedText body_;

  // A stream that is being sent.
  StreamCalls calls_;
  std::shared_ptr<Sink> sink_;
  std::deque<SharedText> unsent_;
  std::vector<SharedText> sending_;
  bool chunked_ = true;  // Else the head says how long it is.
  bool writing_ = false;
  bool ending_ = false;  // The end follows what is unsent: with chunks, the last one.
  char byte_ = 0;
};

bool Sink::Write(SharedText chunk) {
  const auto connection = connection_.lock();
  if (connection == nullptr || !open_) return false;
  if (chunk->empty()) return true;
  if (!budget_->Add(stream_, chunk)) {
    open_ = false;
    return false;
  }
  asio::post(connection->executor(), [connection, chunk = std::move(chunk)]() mutable {
    connection->Push(std::move(chunk));
  });
  return true;
}

void Sink::End() {
  const auto connection = connection_.lock();
  if (connection == nullptr || !open_.exchange(false)) return;
  asio::post(connection->executor(), [connection] { connection->EndStream(); });
}

void Sink::Abort() {
  const auto connection = connection_.lock();
  if (connection == nullptr || !open_.exchange(false)) return;
  asio::post(connection->executor(), [connection] { connection->CloseNow(); });
}

void Answer::Give(WebResponse response) {
  given_ = true;
  const auto connection = connection_.lock();
  if (connection == nullptr) {
    if (response.stream.closed) response.stream.closed();
    return;
  }
  asio::post(connection->executor(), [connection, response = std::move(response)]() mutable {
    connection->Respond(std::move(response));
  });
}

Answer::~Answer() {
  const auto connection = given_ ? nullptr : connection_.lock();
  if (connection == nullptr) return;
  asio::post(connection->executor(), [connection] {
    connection->Respond(ProblemResponse(500, "Internal",
                                        "the dashboard could not work on this; its log says why"));
  });
}

// Between two requests a client may be silent for longer than within one.
void Connection::AwaitRequest() {
  if (closed_) return;
  if (buffer_.size() > 0) return ReadRequest();
  stream_.expires_after(known_ ? shared_->options.idle_timeout
                               : shared_->options.stranger_timeout);
  constexpr size_t kFirstBytes = 4 << 10;
  stream_.async_read_some(buffer_.prepare(kFirstBytes),
                          [self = shared_from_this()](Error error, size_t count) {
                            if (error) return self->CloseNow();
                            self->buffer_.commit(count);
                            self->ReadRequest();
                          });
}

void Connection::ReadRequest() {
  parser_.emplace();
  parser_->body_limit(kWebBodyBytesMax);
  parser_->header_limit(kWebHeaderBytesMax);
  stream_.expires_after(shared_->options.request_timeout);
  http::async_read_header(stream_, buffer_, *parser_,
                          [self = shared_from_this()](Error error, size_t) {
                            self->OnRequestHead(error);
                          });
}

void Connection::OnRequestHead(Error error) {
  if (error || closed_) return OnRequest(error);
  if (!TakeRoom()) {
    discard_ = true;
    return Refuse(ProblemResponse(503, "Unavailable",
                                  "read the request: too many large ones come at present; try "
                                  "again in some seconds"));
  }
  http::async_read(stream_, buffer_, *parser_,
                   [self = shared_from_this()](Error error, size_t) { self->OnRequest(error); });
}

// Nobody knows yet who sends the body: what all of them take in memory is bounded.
bool Connection::TakeRoom() {
  const size_t bytes = parser_->chunked() ? kWebBodyBytesMax
                                          : parser_->content_length().value_or(0);
  if (bytes <= kWebSmallBodyBytes) return true;
  if (shared_->large_bodies_bytes.fetch_add(bytes) + bytes >
      shared_->options.large_bodies_bytes_max) {
    shared_->large_bodies_bytes -= bytes;
    return false;
  }
  room_bytes_ = bytes;
  return true;
}

void Connection::ReleaseRoom() {
  shared_->large_bodies_bytes -= std::exchange(room_bytes_, 0);
}

void Connection::OnRequest(Error error) {
  if (closed_) return;
  if (error == http::error::body_limit) {
    discard_ = true;
    return Refuse(ProblemResponse(413, "TooLarge",
                                  "read the request: its body is larger than " +
                                      std::to_string(kWebBodyBytesMax) + " bytes"));
  }
  if (error == http::error::header_limit || error == http::error::buffer_overflow) {
    return Refuse(ProblemResponse(431, "TooLarge",
                                  "read the request: its headers are larger than " +
                                      std::to_string(kWebHeaderBytesMax) + " bytes"));
  }
  if (error.category() == make_error_code(http::error::bad_method).category() &&
      error != http::error::end_of_stream && error != http::error::partial_message) {
    return Refuse(ProblemResponse(400, "BadRequest", "this is no HTTP request: " +
                                                         error.message()));
  }
  if (error) return CloseNow();
  absl::StatusOr<WebRequest> request = TakeRequest();
  stream_.expires_never();  // How long an answer takes is its handler's business.
  if (!request.ok()) {
    return Send(ProblemResponse(400, "BadRequest", std::string(request.status().message())));
  }
  if (place_.probes_only && !IsProbe(*request)) {
    return Refuse(ProblemResponse(503, "Unavailable",
                                  "too many connections are open; close some pages and try again"));
  }
  answering_ = shared_from_this();
  auto respond = [answer = std::make_shared<Answer>(weak_from_this())](WebResponse response) {
    answer->Give(std::move(response));
  };
  try {
    shared_->handler(*std::move(request), std::move(respond));
  } catch (const std::exception& thrown) {
    Log(LogLevel::kError, "a request of the dashboard failed", {{"why", thrown.what()}});
    CloseNow();
  }
}

absl::StatusOr<WebRequest> Connection::TakeRequest() {
  auto message = parser_->release();
  keep_alive_ = message.keep_alive();
  WebRequest request{.method = std::string(message.method_string()), .peer = peer_};
  head_only_ = request.method == "HEAD";
  if (head_only_) request.method = "GET";
  for (const auto& field : message) {
    std::string name(field.name_string());
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    std::string& value = request.headers[name];
    // The pairs of several cookie fields belong together, as the values of other lists do.
    if (!value.empty()) value += name == "cookie" ? "; " : ",";
    value += std::string(field.value());
  }
  takes_gzip_ = request.Header("accept-encoding").find("gzip") != std::string_view::npos;
  const std::string target(message.target());
  absl::StatusOr<WebTarget> parsed = ParseWebTarget(target, shared_->options.base_path);
  if (!parsed.ok()) return parsed.status();
  request.segments = std::move(parsed->segments);
  request.ends_with_slash = parsed->ends_with_slash;
  request.query = std::move(parsed->query);
  request.body = std::move(message.body());
  return request;
}

bool Connection::IsProbe(const WebRequest& request) const {
  const auto& probes = shared_->options.probes;
  return request.segments.size() == 1 &&
         std::find(probes.begin(), probes.end(), request.segments[0]) != probes.end();
}

void Connection::BecomeKnown() {
  known_ = true;
  std::lock_guard lock(shared_->mutex);
  shared_->strangers.erase(place_.number);
}

void Connection::Refuse(WebResponse response) {
  keep_alive_ = false;
  Send(std::move(response));
}

void Connection::Respond(WebResponse response) {
  answering_.reset();
  ReleaseRoom();
  if (response.known_caller && !known_ && !closed_) BecomeKnown();
  if (closed_) {
    if (response.stream.closed) response.stream.closed();
    return;
  }
  if (response.stream.opened && !head_only_) return StartStream(std::move(response));
  if (response.stream.closed) response.stream.closed();
  Send(std::move(response));
}

void Connection::Send(WebResponse response) {
  if (takes_gzip_ && MayCompress(response)) {
    response.body = Shared(Gzip(*response.body));
    response.content_encoding = "gzip";
    response.headers.emplace_back("Vary", "Accept-Encoding");
  }
  head_ = HeadOf(response, keep_alive_);
  body_ = response.body != nullptr ? std::move(response.body) : Shared("");
  head_ += "Content-Length: " + std::to_string(body_->size()) + "\r\n\r\n";
  stream_.expires_after(shared_->options.write_timeout);
  const std::array<asio::const_buffer, 2> buffers = {
      asio::buffer(head_), head_only_ ? asio::const_buffer() : asio::buffer(*body_)};
  asio::async_write(stream_, buffers, [self = shared_from_this()](Error error, size_t) {
    self->OnSent(error);
  });
}

void Connection::OnSent(Error error) {
  body_.reset();
  if (error || closed_) return CloseNow();
  if (discard_) {
    // The client sees the answer's end at once, and we what it still sends.
    Error ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    return Discard();
  }
  keep_alive_ ? AwaitRequest() : CloseNow();
}

// A connection that is closed with bytes unread is reset, and the client never sees the answer.
void Connection::Discard() {
  buffer_.consume(buffer_.size());
  stream_.expires_after(shared_->options.request_timeout);
  stream_.async_read_some(buffer_.prepare(kWebHeaderBytesMax),
                          [self = shared_from_this()](Error error, size_t count) {
                            self->discarded_bytes_ += count;
                            if (error || self->discarded_bytes_ > kDiscardBytesMax) {
                              return self->CloseNow();
                            }
                            self->Discard();
                          });
}

void Connection::StartStream(WebResponse response) {
  keep_alive_ = false;
  chunked_ = !response.stream.bytes.has_value();
  head_ = HeadOf(response, false) +
          (chunked_ ? "Transfer-Encoding: chunked"
                    : "Content-Length: " + std::to_string(*response.stream.bytes)) +
          "\r\n\r\n";
  calls_ = std::move(response.stream);
  stream_.expires_after(shared_->options.write_timeout);
  writing_ = true;
  asio::async_write(stream_, asio::buffer(head_), [self = shared_from_this()](Error error, size_t) {
    self->OnStreamHead(error);
  });
}

void Connection::OnStreamHead(Error error) {
  writing_ = false;
  if (error || closed_) return CloseNow();
  stream_.expires_never();
  const uint64_t stream = shared_->unsent->Open([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->Close();
  });
  sink_ = std::make_shared<Sink>(weak_from_this(), shared_->unsent, stream);
  WatchForEnd();
  try {
    calls_.opened(sink_);
  } catch (const std::exception& thrown) {
    Log(LogLevel::kError, "a stream of the dashboard failed", {{"why", thrown.what()}});
    CloseNow();
  }
}

// A client that sends anything or goes away during a stream has had enough of it. This keeps the
// connection alive for as long as the stream is.
void Connection::WatchForEnd() {
  stream_.socket().async_read_some(asio::buffer(&byte_, 1),
                                   [self = shared_from_this()](Error, size_t) {
                                     self->CloseNow();
                                   });
}

void Connection::WriteNext() {
  if (writing_ || closed_) return;
  if (unsent_.empty() && !ending_) return;
  if (unsent_.empty() && !chunked_) return CloseNow();
  writing_ = true;
  stream_.expires_after(shared_->options.write_timeout);
  if (unsent_.empty()) {
    asio::async_write(stream_, http::make_chunk_last(),
                      [self = shared_from_this()](Error, size_t) { self->CloseNow(); });
    return;
  }
  std::vector<asio::const_buffer> buffers;
  while (!unsent_.empty() && sending_.size() < kTextsPerChunk) {
    sending_.push_back(std::move(unsent_.front()));
    unsent_.pop_front();
    buffers.push_back(asio::buffer(*sending_.back()));
  }
  auto sent = [self = shared_from_this()](Error error, size_t) { self->OnChunkSent(error); };
  if (!chunked_) return asio::async_write(stream_, std::move(buffers), std::move(sent));
  asio::async_write(stream_, http::make_chunk(std::move(buffers)), std::move(sent));
}

void Connection::OnChunkSent(Error error) {
  writing_ = false;
  shared_->unsent->Sent(sink_->stream_, sending_.size());
  sending_.clear();
  if (error) return CloseNow();
  stream_.expires_never();
  WriteNext();
}

void Connection::TellClosed() {
  if (sink_ != nullptr) {
    sink_->open_ = false;
    shared_->unsent->End(sink_->stream_);
  }
  if (calls_.closed) std::exchange(calls_.closed, nullptr)();
}

}  // namespace

std::shared_ptr<WebConnection> WebConnection::Make(tcp::socket socket,
                                                   std::shared_ptr<ConnectionsShared> shared,
                                                   const Place& place) {
  return std::make_shared<Connection>(std::move(socket), std::move(shared), place);
}

}  // namespace taas::dashboard
