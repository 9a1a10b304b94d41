#include "e2e/http_client.h"

#include <chrono>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>

namespace taas {

namespace beast = boost::beast;
namespace http = boost::beast::http;
namespace ssl = boost::asio::ssl;
using boost::asio::ip::tcp;

struct HttpClient::Connection {
  boost::asio::io_context io;
  ssl::context tls{ssl::context::tls_client};
  std::unique_ptr<beast::ssl_stream<beast::tcp_stream>> stream;
  beast::flat_buffer buffer;
};

HttpClient::HttpClient(Options options) : options_(std::move(options)) {}

HttpClient::~HttpClient() = default;

absl::StatusOr<HttpAnswer> HttpClient::Exchange(const std::string& method,
                                                const std::string& target, const std::string& body,
                                                const std::string& content_type,
                                                std::string_view accept) {
  if (connection_ == nullptr) {
    auto fresh = std::make_unique<Connection>();
    fresh->tls.load_verify_file(options_.ca_file);
    fresh->tls.set_verify_mode(ssl::verify_peer);
    fresh->stream =
        std::make_unique<beast::ssl_stream<beast::tcp_stream>>(fresh->io, fresh->tls);
    fresh->stream->set_verify_callback(ssl::host_name_verification("127.0.0.1"));
    beast::get_lowest_layer(*fresh->stream)
        .connect(tcp::endpoint(boost::asio::ip::address_v4::loopback(), options_.port));
    fresh->stream->handshake(ssl::stream_base::client);
    connection_ = std::move(fresh);
  }
  http::request<http::string_body> request(http::string_to_verb(method), target, 11);
  request.set(http::field::host, "127.0.0.1");
  request.set(http::field::authorization, "Bearer " + options_.token);
  request.set(http::field::accept, beast::string_view(accept.data(), accept.size()));
  if (!body.empty()) request.set(http::field::content_type, content_type);
  request.body() = body;
  request.prepare_payload();
  http::write(*connection_->stream, request);
  http::response<http::string_body> response;
  http::read(*connection_->stream, connection_->buffer, response);
  HttpAnswer answer{static_cast<int>(response.result_int()), std::move(response.body())};
  if (!response.keep_alive()) connection_.reset();
  return answer;
}

absl::StatusOr<HttpAnswer> HttpClient::Do(const std::string& method, const std::string& target,
                                          const std::string& body,
                                          const std::string& content_type,
                                          std::string_view accept) {
  try {
    return Exchange(method, target, body, content_type, accept);
  } catch (const boost::system::system_error& error) {
    connection_.reset();
    return absl::UnavailableError(method + " " + target + " on port " +
                                  std::to_string(options_.port) + ": " + error.what());
  }
}

}  // namespace taas
