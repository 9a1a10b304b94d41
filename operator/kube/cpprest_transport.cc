#include "operator/kube/cpprest_transport.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "boost/asio/ssl.hpp"
#include "cpprest/http_client.h"
#include "operator/base/log.h"
#include "operator/base/status.h"
#include "operator/kube/cpprest_io.h"
#include "operator/kube/credentials.h"
#include "operator/kube/machine_roots.h"

namespace taas {
namespace {

// What one read takes at most.
constexpr size_t kChunkBytesMax = 64 << 10;
// A timer that is so late tells that this process stood still; what came meanwhile goes first.
constexpr std::chrono::seconds kStoodStill{1};
// cpprest's own timer must never fire before ours, which know what they time.
constexpr std::chrono::hours kLibraryTimeout{24};

using Client = web::http::client::http_client;

web::http::method MethodOf(Verb verb) {
  switch (verb) {
    case Verb::kGet:
      return web::http::methods::GET;
    case Verb::kPost:
      return web::http::methods::POST;
    case Verb::kPut:
      return web::http::methods::PUT;
    case Verb::kPatch:
      return web::http::methods::PATCH;
    case Verb::kDelete:
      return web::http::methods::DEL;
  }
  return "";
}

// Throws boost::system::system_error.
void Configure(boost::asio::ssl::context& context, const TlsMaterial& material) {
  SSL_CTX_set_min_proto_version(context.native_handle(), TLS1_2_VERSION);
  if (!material.ca.empty()) {
    // Only the cluster's own authority counts, whatever the library has loaded.
    SSL_CTX_set_cert_store(context.native_handle(), X509_STORE_new());
    context.add_certificate_authority(boost::asio::buffer(material.ca));
  }
  if (!material.client_certificate.empty()) {
    context.use_certificate_chain(boost::asio::buffer(material.client_certificate));
    context.use_private_key(boost::asio::buffer(material.client_key),
                            boost::asio::ssl::context::pem);
  }
}

absl::Status CheckTls(const TlsMaterial& material) {
  try {
    boost::asio::ssl::context context(boost::asio::ssl::context::tls_client);
    Configure(context, material);
    return absl::OkStatus();
  } catch (const boost::system::system_error& e) {
    return absl::InvalidArgumentError(
        std::string("no valid PEM, or certificate and key do not belong together: ") + e.what());
  }
}

bool StartsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

// True for failures that come before the first byte of the request.
bool NothingSent(std::string_view what) {
  return StartsWith(what, "Failed to connect") || StartsWith(what, "Error resolving") ||
         StartsWith(what, "Error in SSL handshake");
}

}  // namespace

// What outlives the transport as long as the library works on a request.
class CpprestTransport::Core : public std::enable_shared_from_this<CpprestTransport::Core> {
 public:
  Core(const ClusterAccess& access, FileSystem& files, Executor& executor, Options options)
      : options(std::move(options)),
        credentials(access, files, executor.clock(), CheckTls),
        executor_(executor) {
    if (access.ca.empty() && !access.insecure_skip_tls_verify) roots_.emplace();
  }

  class Exchange;

  const Options options;
  Credentials credentials;

  absl::StatusOr<std::shared_ptr<Client>> ClientFor(Verb verb);

  // After Close nothing is posted and nothing that was posted runs.
  void Post(std::function<void()> call) {
    std::lock_guard lock(mutex_);
    if (closed_) return;
    executor_.Post([self = shared_from_this(), call = std::move(call)] {
      if (!self->closed_) call();
    });
  }
  Executor::TimerId PostAfter(Clock::Duration delay, std::function<void()> call) {
    std::lock_guard lock(mutex_);
    if (closed_) return 0;
    return executor_.PostAfter(delay, [self = shared_from_this(), call = std::move(call)] {
      if (!self->closed_) call();
    });
  }
  void CancelTimer(Executor::TimerId id) {
    std::lock_guard lock(mutex_);
    if (!closed_ && id != 0) executor_.Cancel(id);
  }
  // After Close the clock may be gone, and nobody asks for the time any more.
  Clock::Time Now() {
    std::lock_guard lock(mutex_);
    return closed_ ? Clock::Time() : executor_.clock().Now();
  }

  // Nobody asks the gate after Close: it may be gone, while the library still works on a request.
  absl::StatusOr<WriteGate::Pass> EnterGate() {
    if (options.gate == nullptr) return WriteGate::Pass();
    std::lock_guard lock(mutex_);
    if (closed_) return absl::AbortedError("the transport is closed");
    return options.gate->Enter();
  }
  absl::Status CheckGate() {
    std::lock_guard lock(mutex_);
    if (closed_) return absl::AbortedError("the transport is closed");
    return options.gate->Check();
  }

  // Starts a write when there is room for it. Called where nothing is locked.
  void StartWrite(std::shared_ptr<Exchange> exchange);
  void EndWrite();

  void Enter(const std::shared_ptr<Exchange>& exchange) {
    std::lock_guard lock(mutex_);
    exchanges_.insert(exchange);
  }
  void Leave(const std::shared_ptr<Exchange>& exchange) {
    std::lock_guard lock(mutex_);
    exchanges_.erase(exchange);
  }
  void Close();

  // Of an Exchange's life.
  void Made() {
    std::lock_guard lock(living_mutex_);
    ++living_;
  }
  void Gone() {
    std::lock_guard lock(living_mutex_);
    if (--living_ == 0) none_lives_.notify_all();
  }
  bool AwaitAllGone(std::chrono::milliseconds limit) {
    std::unique_lock lock(living_mutex_);
    return none_lives_.wait_for(lock, limit, [this] { return living_ == 0; });
  }

 private:
  Executor& executor_;
  std::optional<WantedMachineRoots> roots_;  // Where no authority is named.
  std::mutex mutex_;
  std::atomic<bool> closed_{false};
  std::set<std::shared_ptr<Exchange>> exchanges_;
  // The last to go may be one that mutex_ is held for.
  std::mutex living_mutex_;
  std::condition_variable none_lives_;
  int living_ = 0;
  int writes_under_way_ = 0;
  std::map<Order, std::deque<std::shared_ptr<Exchange>>> waiting_writes_;
  uint64_t generation_ = 0;
  std::shared_ptr<Client> reads_;
  std::shared_ptr<Client> writes_;
};

// One request and its reply, whole or as a stream.
class CpprestTransport::Core::Exchange
    : public std::enable_shared_from_this<CpprestTransport::Core::Exchange> {
 public:
  // Exactly one of `done` and `calls` is set.
  Exchange(std::shared_ptr<Core> core, HttpRequest request, OnReply done, StreamCalls calls)
      : core_(std::move(core)),
        request_(std::move(request)),
        done_(std::move(done)),
        calls_(std::move(calls)),
        streaming_(done_ == nullptr) {}

  void Start() {
    core_->Enter(shared_from_this());
    heard_ = core_->Now();
    Watch(request_.timeout);
    const absl::Status open = EnterGate();
    open.ok() ? Send() : Finish(Annotate(open, What()));
  }
  Order order() const { return request_.order; }
  // No callback after this, if called on the executor.
  void Abandon() {
    finished_ = true;
    Release();
  }

 private:
  bool read() const { return request_.verb == Verb::kGet; }
  std::string What() const {
    return MethodOf(request_.verb) + " " + core_->credentials.access().server + request_.path;
  }

  // A timer of our own: the library's counts from each byte and covers neither connecting nor the
  // whole.
  void Watch(Clock::Duration delay) {
    const Executor::TimerId timer =
        core_->PostAfter(delay, [self = shared_from_this()] { self->OnTimer(); });
    std::lock_guard lock(mutex_);
    timer_ = timer;
    timer_due_ = core_->Now() + delay;
  }
  void OnTimer() {
    if (finished_) return;
    const Clock::Time now = core_->Now();
    Clock::Time heard, due;
    {
      std::lock_guard lock(mutex_);
      heard = heard_;
      due = timer_due_;
    }
    if (now - due > kStoodStill) return Watch(kStoodStill);
    const Clock::Duration left = heard + request_.timeout - now;
    if (streaming_ && left > Clock::Duration::zero()) return Watch(left);
    const std::string limit = std::to_string(request_.timeout.count()) + " ms";
    const std::string text =
        What() + (streaming_ ? ": not a byte for " : ": no reply within ") + limit;
    Finish(read() ? absl::DeadlineExceededError(text) : absl::UnknownError(text));
  }

  absl::Status EnterGate() {
    if (read()) return absl::OkStatus();
    ASSIGN_OR_RETURN(WriteGate::Pass pass, core_->EnterGate());
    std::lock_guard lock(mutex_);
    pass_ = std::move(pass);
    return absl::OkStatus();
  }

  // Asks the gate again where the library is about to send (a part of) the body, which is after
  // connecting and greeting and after any time that this process stood still meanwhile. A request
  // whose body does not arrive is not carried out.
  void GuardBody(web::http::http_request& message) {
    if (core_->options.gate == nullptr || read()) return;
    message.set_progress_handler([self = shared_from_this()](
                                     web::http::message_direction::direction direction,
                                     utility::size64_t sent) {
      const bool sending = direction == web::http::message_direction::upload &&
                           sent < self->request_.body.size();
      if (!sending) return;
      const absl::Status open = self->core_->CheckGate();
      if (open.ok()) return;
      self->Finish(Annotate(open, self->What()));
      self->cancel_.cancel();  // Half a request is on this connection: it is of no more use.
      throw std::runtime_error("the write gate is shut");  // The library takes it from here.
    });
  }

  void Send() {
    try {
      const absl::StatusOr<std::shared_ptr<Client>> client = core_->ClientFor(request_.verb);
      if (!client.ok()) return Finish(client.status());
      token_ = core_->credentials.token();
      web::http::http_request message(MethodOf(request_.verb));
      message.set_request_uri(web::uri(request_.path));
      message.headers().add("User-Agent", core_->options.user_agent);
      message.headers().add("Accept",
                            request_.accept.empty() ? "application/json" : request_.accept);
      const std::string& token =
          request_.bearer_token.empty() ? token_.text : request_.bearer_token;
      if (!token.empty()) message.headers().add("Authorization", "Bearer " + token);
      if (!request_.body.empty()) {
        message.set_body(request_.body, request_.content_type.empty() ? "application/json"
                                                                      : request_.content_type);
      }
      GuardBody(message);
      (*client)
          ->request(message, cancel_.get_token())
          .then([self = shared_from_this()](pplx::task<web::http::http_response> task) {
            self->Guarded([&] { self->OnHeaders(task.get()); });
          });
    } catch (const std::exception& e) {  // Such as a path that is no URI.
      Finish(absl::InvalidArgumentError(What() + ": " + e.what()));
    }
  }

  // Runs `call`, in which the library may throw. Also when nobody waits any more: the library ends
  // the process for a failed task whose error was never looked at.
  template <typename F>
  void Guarded(F call) {
    try {
      call();
    } catch (const std::exception& e) {
      Fail(e.what());
    }
  }

  void Fail(const std::string& cause) {
    std::string text = What() + ": " + cause;
    const bool nothing_sent = !answered_ && NothingSent(cause);
    if (StartsWith(cause, "Error in SSL handshake")) {
      core_->credentials.ExpireTls();
      text += " (is the server's certificate signed by the authority named in " +
              core_->credentials.access().source + " and valid for this address?)";
    }
    Finish(read() || nothing_sent ? absl::UnavailableError(text) : absl::UnknownError(text));
  }

  void OnHeaders(const web::http::http_response& response) {
    if (finished_) return;
    Heard();
    const bool own_token = request_.bearer_token.empty();
    if (response.status_code() == 401 && own_token && !retried_ &&
        core_->credentials.DropToken(token_) &&
        core_->credentials.token().text != token_.text) {
      retried_ = true;
      return Send();
    }
    answered_ = true;
    reply_.code = response.status_code();
    const auto& headers = response.headers();
    if (const auto found = headers.find("Warning"); found != headers.end()) {
      reply_.warning = found->second;
    }
    if (const auto found = headers.find("Retry-After"); found != headers.end()) {
      reply_.retry_after = std::chrono::seconds(std::atoi(found->second.c_str()));
    }
    if (streaming_) {
      core_->Post([self = shared_from_this()] {
        if (!self->finished_) self->calls_.opened(self->reply_.code);
      });
    }
    body_ = response.body().streambuf();
    ReadMore();
  }

  using NextByte = pplx::task<concurrency::streams::streambuf<uint8_t>::int_type>;

  // Takes what is there, and waits for a byte when there is nothing. Each wait is a task of the
  // library's thread; most replies have come whole.
  void ReadMore() {
    while (true) {
      const NextByte next = body_.getc();
      if (!next.is_done()) {
        next.then([self = shared_from_this()](NextByte arrived) {
          self->Guarded([&] {
            if (self->Take(arrived)) self->ReadMore();
          });
        });
        return;
      }
      if (!Take(next)) return;
    }
  }
  // False: nothing is to be read now.
  bool Take(const NextByte& next) {
    if (next.get() == concurrency::streams::streambuf<uint8_t>::traits::eof()) {
      OnEnd();
      return false;
    }
    if (finished_) return false;
    chunk_.resize(std::clamp<size_t>(body_.in_avail(), 1, kChunkBytesMax));
    // No more than is there, so this does not wait.
    chunk_.resize(body_.getn(reinterpret_cast<uint8_t*>(chunk_.data()), chunk_.size()).get());
    Heard();
    if (streaming_) {
      // The next read starts when this chunk has been dealt with.
      core_->Post([self = shared_from_this()] {
        if (!self->finished_) self->calls_.data(self->chunk_);
        if (!self->finished_) self->Guarded([&] { self->ReadMore(); });
      });
      return false;
    }
    reply_.body += chunk_;
    const size_t limit =
        request_.body_bytes_max > 0 ? request_.body_bytes_max : core_->options.body_bytes_max;
    if (reply_.body.size() <= limit) return true;
    const std::string text =
        What() + ": the reply is longer than " + std::to_string(limit) + " bytes";
    Finish(read() ? absl::ResourceExhaustedError(text) : absl::UnknownError(text));
    return false;
  }
  void OnEnd() { streaming_ ? Finish(absl::OkStatus()) : FinishWith(std::move(reply_)); }
  void Finish(absl::Status status) { FinishWith(std::move(status)); }

  // Exactly one result is delivered, however many things go wrong at once.
  void FinishWith(absl::StatusOr<HttpReply> result) {
    if (ending_.exchange(true)) return;
    core_->Post([self = shared_from_this(), result = std::move(result)]() mutable {
      if (self->finished_.exchange(true)) return;
      self->Release();
      if (self->streaming_) {
        self->calls_.ended(std::move(result).status());
      } else {
        self->done_(std::move(result));
      }
    });
  }
  // An OK Status stands for the end of a stream, which has no HttpReply.
  void FinishWith(absl::Status status) {
    status.ok() ? FinishWith(absl::StatusOr<HttpReply>(HttpReply{}))
                : FinishWith(absl::StatusOr<HttpReply>(std::move(status)));
  }

  void Release() {
    cancel_.cancel();
    Executor::TimerId timer;
    WriteGate::Pass pass;  // Destroyed after the lock.
    {
      std::lock_guard lock(mutex_);
      timer = timer_;
      pass = std::move(pass_);
    }
    core_->CancelTimer(timer);
    core_->Leave(shared_from_this());
    if (!read()) core_->EndWrite();
  }
  void Heard() {
    std::lock_guard lock(mutex_);
    heard_ = core_->Now();
  }

  // Before all that is of the request, so that this has gone when the exchange counts as gone.
  struct Life {
    explicit Life(Core& core) : core(core) { core.Made(); }
    ~Life() { core.Gone(); }
    Core& core;
  };

  const std::shared_ptr<Core> core_;
  const Life life_{*core_};
  const HttpRequest request_;
  const OnReply done_;
  const StreamCalls calls_;
  const bool streaming_;

  pplx::cancellation_token_source cancel_;
  std::atomic<bool> ending_{false};    // A result is on its way to the executor.
  std::atomic<bool> finished_{false};  // It has arrived, or nobody waits for it.

  std::mutex mutex_;
  Executor::TimerId timer_ = 0;
  Clock::Time timer_due_{};
  Clock::Time heard_{};
  WriteGate::Pass pass_;

  // The rest is used by one library task at a time.
  Credentials::Token token_;
  bool retried_ = false;
  bool answered_ = false;
  concurrency::streams::streambuf<uint8_t> body_;
  std::string chunk_;
  HttpReply reply_;
};

absl::StatusOr<std::shared_ptr<Client>> CpprestTransport::Core::ClientFor(Verb verb) {
  const Credentials::Tls tls = credentials.tls();
  std::lock_guard lock(mutex_);
  // A kept connection goes on with the certificates that it was made with, so both clients are new.
  if (generation_ != tls.generation) {
    web::http::client::http_client_config config;
    config.set_timeout(kLibraryTimeout);
    config.set_max_redirects(0);  // A token is for one server only.
    config.set_validate_certificates(!credentials.access().insecure_skip_tls_verify);
    config.set_ssl_context_callback([material = tls.material](boost::asio::ssl::context& context) {
      Configure(context, material);
    });
    try {
      const web::uri server(credentials.access().server);
      reads_ = std::make_shared<Client>(server, config);
      writes_ = std::make_shared<Client>(server, config);
    } catch (const std::exception& e) {
      return absl::InvalidArgumentError("server " + credentials.access().server + " of " +
                                        credentials.access().source + ": " + e.what());
    }
    generation_ = tls.generation;
  }
  return verb == Verb::kGet ? reads_ : writes_;
}

void CpprestTransport::Core::StartWrite(std::shared_ptr<Exchange> exchange) {
  {
    std::lock_guard lock(mutex_);
    if (closed_) return;
    if (writes_under_way_ >= options.writes_max) {
      waiting_writes_[exchange->order()].push_back(std::move(exchange));
      return;
    }
    ++writes_under_way_;
  }
  exchange->Start();
}

void CpprestTransport::Core::EndWrite() {
  std::shared_ptr<Exchange> next;
  {
    std::lock_guard lock(mutex_);
    for (auto& [order, waiting] : waiting_writes_) {
      if (waiting.empty()) continue;
      next = std::move(waiting.front());
      waiting.pop_front();
      break;
    }
    if (next == nullptr) {
      --writes_under_way_;
      return;
    }
  }
  next->Start();
}

void CpprestTransport::Core::Close() {
  std::set<std::shared_ptr<Exchange>> exchanges;
  decltype(waiting_writes_) waiting;  // They were never begun; they just go.
  {
    std::lock_guard lock(mutex_);
    closed_ = true;
    exchanges.swap(exchanges_);
    waiting.swap(waiting_writes_);
  }
  for (const std::shared_ptr<Exchange>& exchange : exchanges) exchange->Abandon();
}

absl::StatusOr<std::unique_ptr<CpprestTransport>> CpprestTransport::Create(
    const ClusterAccess& access, FileSystem& files, Executor& executor, Options options) {
  CpprestIo();  // Before the library makes threads by itself.
  auto core = std::make_shared<Core>(access, files, executor, std::move(options));
  RETURN_IF_ERROR(core->credentials.Load());
  RETURN_IF_ERROR(core->ClientFor(Verb::kGet).status());
  if (access.insecure_skip_tls_verify) {
    Log(LogLevel::kWarning, "the API server's certificate is not verified",
        {{"source", access.source}, {"field", "insecure-skip-tls-verify"}});
  }
  return std::unique_ptr<CpprestTransport>(new CpprestTransport(std::move(core)));
}

CpprestTransport::CpprestTransport(std::shared_ptr<Core> core) : core_(std::move(core)) {}

CpprestTransport::~CpprestTransport() { core_->Close(); }

bool CpprestTransport::Close(std::chrono::milliseconds limit) {
  core_->Close();
  return core_->AwaitAllGone(limit);
}

void CpprestTransport::Do(HttpRequest request, OnReply done) {
  const bool read = request.verb == Verb::kGet;
  auto exchange = std::make_shared<Core::Exchange>(core_, std::move(request), std::move(done),
                                                   StreamCalls{});
  read ? exchange->Start() : core_->StartWrite(std::move(exchange));
}

std::unique_ptr<KubeTransport::StreamHandle> CpprestTransport::Stream(HttpRequest request,
                                                                      StreamCalls calls) {
  class Handle : public StreamHandle {
   public:
    explicit Handle(std::shared_ptr<Core::Exchange> exchange) : exchange_(std::move(exchange)) {}
    ~Handle() override { exchange_->Abandon(); }

   private:
    const std::shared_ptr<Core::Exchange> exchange_;
  };
  auto exchange =
      std::make_shared<Core::Exchange>(core_, std::move(request), nullptr, std::move(calls));
  exchange->Start();
  return std::make_unique<Handle>(std::move(exchange));
}

}  // namespace taas
