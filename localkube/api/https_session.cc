#include "localkube/api/https_session.h"

#include <openssl/crypto.h>

#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <string_view>

#include "localkube/api/kube_status.h"
#include "operator/base/log.h"

namespace taas::localkube {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;

namespace {

// Of a request's line in the log.
constexpr size_t kLineBytesMax = 200;

// For the log: a client may write what it likes, and a terminal shows it.
std::string LineOf(const http::request<http::string_body>& request) {
  std::string line(request.method_string());
  line += " " + std::string(request.target().substr(0, kLineBytesMax));
  for (char& c : line) {
    if (c < ' ' || c > '~') c = '?';
  }
  return line;
}

bool IsProbe(const http::request<http::string_body>& request) {
  const auto path = request.target().substr(0, request.target().find('?'));
  return request.method() == http::verb::get &&
         (path == "/healthz" || path == "/readyz" || path == "/livez");
}

}  // namespace

HttpsSession::~HttpsSession() { shared_.places.Leave(place_.id); }

void HttpsSession::Run(Places::Place place) {
  place_ = std::move(place);
  if (const auto dropped = std::exchange(place_.dropped, nullptr)) dropped->Close();
  stranger_until_ = asio::steady_timer::clock_type::now() + shared_.options.stranger_timeout;
  asio::dispatch(stream_.get_executor(), Guarded([this] {
                   WaitForClient();
                   stream_.async_handshake(asio::ssl::stream_base::server,
                                           Guarded([this](Error error) {
                                             if (!error && !closed_) Read();
                                           }));
                 }));
}

void HttpsSession::Close() {
  asio::post(stream_.get_executor(), [self = shared_from_this()] { self->CloseNow(); });
}

void HttpsSession::CloseNow() {
  if (std::exchange(closed_, true)) return;
  source_.reset();
  account_.reset();
  Error ignored;
  tick_.cancel(ignored);
  beast::get_lowest_layer(stream_).close();
}

void HttpsSession::Fail(const char* cause) noexcept {
  try {
    Log(LogLevel::kError, "a request failed in the API server; the others go on",
        {{"request", line_}, {"cause", cause}});
    if (!answered_ && !closed_) {
      keep_alive_ = false;
      Refuse(absl::InternalError(cause));
      return;
    }
  } catch (const std::exception&) {
    // No memory even for that.
  }
  CloseNow();
}

void HttpsSession::WaitForClient() {
  auto& socket = beast::get_lowest_layer(stream_);
  if (trusted_) {
    socket.expires_after(kIdleTimeout);
  } else {
    socket.expires_at(stranger_until_);
  }
}

void HttpsSession::Read() {
  parser_.emplace();
  parser_->body_limit(kBodyBytesMax);
  parser_->header_limit(kHeaderBytesMax);
  line_.clear();
  answered_ = false;
  WaitForClient();
  http::async_read_header(stream_, buffer_, *parser_,
                          Guarded([this](Error error, size_t) { OnHeader(error); }));
}

bool HttpsSession::IsAllowed(const Request& request) const {
  const auto header = request[http::field::authorization];
  const std::string wanted = "Bearer " + shared_.options.token;
  return header.size() == wanted.size() &&
         CRYPTO_memcmp(header.data(), wanted.data(), wanted.size()) == 0;
}

// Of who has not shown the token no body is read.
void HttpsSession::OnHeader(Error error) {
  if (closed_) return;
  const bool too_large = error == http::error::body_limit;
  if (error && !too_large) {
    CloseNow();
    return;
  }
  const Request& request = parser_->get();
  line_ = LineOf(request);
  keep_alive_ = request.keep_alive();
  if (too_large || !parser_->is_done()) discard_ = true;  // Until it is known to be wanted.
  if (!discard_ && IsProbe(request)) {
    AnswerProbe();
  } else if (!IsAllowed(request)) {
    Refuse(Unauthorized());
  } else if (place_.spare) {
    keep_alive_ = false;
    Refuse(TooManyConnections(shared_.options.connections_max));
  } else {
    LetIn();
    if (too_large) {
      Refuse(TooLarge(kBodyBytesMax));
    } else if (!discard_) {
      OnBody({});
    } else {
      discard_ = false;
      WaitForClient();
      http::async_read(stream_, buffer_, *parser_,
                       Guarded([this](Error failed, size_t) { OnBody(failed); }));
    }
  }
}

void HttpsSession::LetIn() {
  if (std::exchange(trusted_, true)) return;
  shared_.places.Trust(place_.id);
}

// As of a kube-apiserver: whoever asks. Nothing of the request goes further.
void HttpsSession::AnswerProbe() {
  const auto target = parser_->get().target();
  Answer(shared_.handler({.method = "GET",
                             .target = std::string(target.substr(0, target.find('?'))),
                             .body = {},
                             .content_type = {},
                             .accept = {}}));
}

void HttpsSession::OnBody(Error error) {
  if (closed_) return;
  if (error == http::error::body_limit) {
    discard_ = true;
    Refuse(TooLarge(kBodyBytesMax));
    return;
  }
  if (error) {
    CloseNow();
    return;
  }
  Request request = parser_->release();
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
  Answer(shared_.handler(api_request));
}

void HttpsSession::Refuse(const absl::Status& status) {
  if (discard_) keep_alive_ = false;
  ApiResponse response;
  response.body = StatusBody(status, &response.code);
  Send(std::move(response));
}

void HttpsSession::Answer(ApiResponse response) {
  if (response.stream != nullptr) {
    StartStream(std::move(response));
  } else {
    Send(std::move(response));
  }
}

void HttpsSession::Send(ApiResponse response) {
  response_ = std::make_shared<http::response<http::string_body>>();
  response_->version(11);
  response_->result(static_cast<unsigned>(response.code));
  response_->set(http::field::content_type, response.content_type);
  response_->set(http::field::cache_control, "no-cache, private");
  for (const auto& [name, value] : response.headers) response_->insert(name, value);
  response_->keep_alive(keep_alive_);
  response_->body() = std::move(response.body);
  response_->prepare_payload();
  WaitForClient();
  answered_ = true;
  http::async_write(stream_, *response_,
                    Guarded([this](Error error, size_t) { AfterSending(error); }));
}

void HttpsSession::AfterSending(Error error) {
  response_.reset();
  if (!error && !closed_ && discard_) {
    Discard();
  } else if (error || closed_ || !keep_alive_) {
    CloseNow();
  } else {
    Read();
  }
}

// A connection that is closed with bytes unread is reset, and the client never sees the answer.
void HttpsSession::Discard() {
  buffer_.consume(buffer_.size());
  stream_.async_read_some(buffer_.prepare(kBodyBytesMax / 8),
                          Guarded([this](Error error, size_t count) {
                            discarded_bytes_ += count;
                            if (error || closed_ || discarded_bytes_ > kDiscardBytesMax) {
                              CloseNow();
                            } else {
                              Discard();
                            }
                          }));
}

void HttpsSession::StartStream(ApiResponse response) {
  source_ = std::move(response.stream);
  // The budget's call must not keep the session alive: its account is the session's.
  account_ = shared_.budget.Open([weak = weak_from_this()] {
    if (const auto session = weak.lock()) session->Close();
  });
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
  answered_ = true;
  http::async_write_header(stream_, *head_serializer_, Guarded([this](Error error, size_t) {
                             writing_ = false;
                             if (error || closed_) {
                               CloseNow();
                               return;
                             }
                             source_->Start(MakeCalls());
                             ScheduleTick();
                             WatchForEnd();
                           }));
}

// They come from any thread. The source must not keep the session alive: it is the session's.
ApiStream::Calls HttpsSession::MakeCalls() {
  const std::weak_ptr<HttpsSession> weak = weak_from_this();
  const auto executor = stream_.get_executor();
  return {.data =
              [weak, executor, account = account_](std::string chunk) {
                if (chunk.empty() || !account->Add(chunk.size())) return;
                const auto session = weak.lock();
                if (session == nullptr) return;
                asio::post(executor,
                           session->Guarded([self = session.get(),
                                             chunk = std::move(chunk)]() mutable {
                             self->Push(std::move(chunk));
                           }));
              },
          .ended =
              [weak, executor] {
                const auto session = weak.lock();
                if (session == nullptr) return;
                asio::post(executor, session->Guarded([self = session.get()] {
                  self->ending_ = true;
                  self->WriteNext();
                }));
              },
          .ready = [account = account_] { return account->IsReady(); }};
}

void HttpsSession::ScheduleTick() {
  if (closed_ || ending_ || source_ == nullptr) return;
  tick_.expires_after(source_->tick_interval());
  tick_.async_wait(Guarded([this](Error error) {
    if (error || closed_ || ending_) return;
    const bool taken = !writing_ && unsent_.empty();
    if (taken || !source_->HasMore()) source_->Tick();
    ScheduleTick();
  }));
}

// A client that sends anything or goes away during a stream has had enough of it.
void HttpsSession::WatchForEnd() {
  stream_.async_read_some(asio::buffer(&byte_, 1),
                          Guarded([this](Error, size_t) { CloseNow(); }));
}

void HttpsSession::Push(std::string chunk) {
  if (closed_) return;
  unsent_.push_back(std::move(chunk));
  WriteNext();
}

void HttpsSession::WriteNext() {
  if (writing_ || closed_) return;
  if (unsent_.empty()) {
    if (!ending_) {
      if (source_->HasMore()) source_->Tick();
      return;
    }
    writing_ = true;
    asio::async_write(stream_, http::make_chunk_last(),
                      Guarded([this](Error, size_t) { CloseNow(); }));
    return;
  }
  writing_ = true;
  // All that waits goes out as one chunk: a burst of events costs one record of TLS, not hundreds.
  size_t bytes = 0;
  for (const std::string& chunk : unsent_) bytes += chunk.size();
  auto text = std::make_shared<std::string>();
  text->reserve(bytes);
  for (const std::string& chunk : unsent_) *text += chunk;
  unsent_.clear();
  asio::async_write(
      stream_, http::make_chunk(asio::buffer(*text)),
      Guarded([this, text](Error error, size_t) { OnWritten(error, text->size()); }));
}

void HttpsSession::OnWritten(Error error, size_t bytes) {
  writing_ = false;
  if (error || closed_) {
    CloseNow();
    return;
  }
  if (account_->Take(bytes)) source_->Resume();
  WriteNext();
}

}  // namespace taas::localkube
