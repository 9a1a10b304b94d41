// One connection of the HTTPS server: requests one after the other, or one stream.
//
// Every handler of an operation is guarded: what the API, a stream of it or the library throws
// there is logged with the request's line and answered with 500, or ends this connection alone.
//
// Ownership: keeps itself alive while an operation is under way; what it shares outlives it.
// Threads: Run once, Close from any thread; all else on the connection's strand. Errors: of the
// client: an answer, or the end of the connection.
//
//   auto session = std::make_shared<HttpsSession>(shared, std::move(socket), tls);
//   session->Run(places.Take(session));

#ifndef LOCALKUBE_API_HTTPS_SESSION_H_
#define LOCALKUBE_API_HTTPS_SESSION_H_

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "localkube/api/api_stream.h"
#include "localkube/api/https_server.h"
#include "localkube/api/serve/connection_places.h"
#include "localkube/api/serve/stream_budget.h"

namespace taas::localkube {

class HttpsSession : public std::enable_shared_from_this<HttpsSession> {
 public:
  using Places = ConnectionPlaces<HttpsSession>;
  // What all sessions of a server share; outlives them.
  struct Shared {
    const HttpsServer::Options& options;
    const HttpsServer::Handler& handler;
    Places& places;
    StreamBudget& budget;
  };

  HttpsSession(const Shared& shared, boost::asio::ip::tcp::socket socket,
               boost::asio::ssl::context& tls)
      : shared_(shared), stream_(std::move(socket), tls), tick_(stream_.get_executor()) {}
  ~HttpsSession();

  void Run(Places::Place place);
  void Close();  // From any thread.

 private:
  using Error = boost::system::error_code;
  using Text = boost::beast::http::string_body;
  using Head = boost::beast::http::empty_body;
  using Request = boost::beast::http::request<Text>;

  // `work` as the handler of an operation: what it throws is the failure of this connection alone.
  template <typename Work>
  auto Guarded(Work work) {
    return [self = shared_from_this(), work = std::move(work)](auto&&... arguments) mutable {
      try {
        work(std::forward<decltype(arguments)>(arguments)...);
      } catch (const std::exception& error) {
        self->Fail(error.what());
      }
    };
  }
  // Answers 500 if nothing was answered yet.
  void Fail(const char* cause) noexcept;

  void Read();
  void OnHeader(Error error);
  void OnBody(Error error);
  bool IsAllowed(const Request& request) const;
  void LetIn();
  void AnswerProbe();
  void Refuse(const absl::Status& status);
  void Answer(ApiResponse response);
  void Send(ApiResponse response);
  void AfterSending(Error error);
  void Discard();
  void StartStream(ApiResponse response);
  ApiStream::Calls MakeCalls();
  void Push(std::string chunk);
  void WriteNext();
  void OnWritten(Error error, size_t bytes);
  void WatchForEnd();
  void ScheduleTick();
  void WaitForClient();
  void CloseNow();

  const Shared shared_;
  boost::beast::ssl_stream<boost::beast::tcp_stream> stream_;
  boost::beast::flat_buffer buffer_{kHeaderBytesMax + kBodyBytesMax};
  Places::Place place_;
  bool trusted_ = false;  // Has shown the token.
  boost::asio::steady_timer::time_point stranger_until_;
  std::optional<boost::beast::http::request_parser<Text>> parser_;
  std::string line_;       // Of the request that is being answered.
  bool answered_ = false;  // A part of an answer was sent.
  bool keep_alive_ = true;
  bool discard_ = false;  // The body is not wanted; it is still coming.
  size_t discarded_bytes_ = 0;
  std::shared_ptr<boost::beast::http::response<Text>> response_;

  // A stream that is being sent.
  std::shared_ptr<boost::beast::http::response<Head>> head_;
  std::shared_ptr<boost::beast::http::response_serializer<Head>> head_serializer_;
  boost::asio::steady_timer tick_;
  std::shared_ptr<StreamBudget::Account> account_;
  std::deque<std::string> unsent_;
  bool writing_ = false;
  bool ending_ = false;  // The last chunk follows what is unsent.
  bool closed_ = false;
  char byte_ = 0;
  std::unique_ptr<ApiStream> source_;
};

}  // namespace taas::localkube

#endif  // LOCALKUBE_API_HTTPS_SESSION_H_
