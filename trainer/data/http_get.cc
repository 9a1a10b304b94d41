#include "trainer/data/http_get.h"

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <exception>
#include <string_view>
#include <utility>

#include "operator/base/status.h"

namespace taas {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace ssl = asio::ssl;
using Tcp = asio::ip::tcp;
using boost::system::error_code;

struct Url {
  bool tls = false;
  std::string host;
  std::string port;
  std::string target;
};

absl::StatusOr<Url> ParseUrl(const std::string& text) {
  Url url;
  std::string_view rest = text;
  for (const auto& [scheme, tls] : {std::pair{std::string_view("https://"), true},
                                    std::pair{std::string_view("http://"), false}}) {
    if (rest.substr(0, scheme.size()) != scheme) continue;
    rest.remove_prefix(scheme.size());
    url.tls = tls;
    const size_t slash = rest.find('/');
    url.target = slash == std::string_view::npos ? "/" : std::string(rest.substr(slash));
    rest = rest.substr(0, slash);
    const size_t colon = rest.find(':');
    url.host = std::string(rest.substr(0, colon));
    url.port = colon == std::string_view::npos ? (tls ? "443" : "80")
                                               : std::string(rest.substr(colon + 1));
    if (!url.host.empty()) return url;
  }
  return absl::InvalidArgumentError("get " + text + ": not an http or https URL");
}

// Beast's deadlines need asynchronous calls; nothing else runs meanwhile, so each is waited for.
class Request {
 public:
  Request(const std::string& text, Url url, const HttpGetOptions& options)
      : text_(text), url_(std::move(url)), options_(options) {}

  absl::StatusOr<std::string> Run() {
    Tcp::resolver resolver(io_);
    Tcp::resolver::results_type addresses;
    RETURN_IF_ERROR(Await("resolve the name", [&](auto done) {
      resolver.async_resolve(url_.host, url_.port,
                             [&, done](error_code error, Tcp::resolver::results_type found) {
                               addresses = std::move(found);
                               done(error);
                             });
    }));
    if (url_.tls) return RunTls(addresses);
    beast::tcp_stream stream(io_);
    RETURN_IF_ERROR(Connect(stream, addresses));
    return Exchange(stream, stream);
  }

 private:
  template <typename Start>
  absl::Status Await(const char* what, Start start) {
    error_code result = asio::error::operation_aborted;
    start([&result](error_code error, auto&&...) { result = error; });
    io_.restart();
    io_.run();
    if (!result) return absl::OkStatus();
    return absl::UnavailableError("get " + text_ + ": " + what + ": " + result.message());
  }

  absl::Status Connect(beast::tcp_stream& tcp, const Tcp::resolver::results_type& addresses) {
    tcp.expires_after(options_.connect_timeout);
    return Await("connect", [&](auto done) {
      tcp.async_connect(addresses, [done](error_code error, const auto&) { done(error); });
    });
  }

  absl::StatusOr<std::string> RunTls(const Tcp::resolver::results_type& addresses) {
    ssl::context context(ssl::context::tls_client);
    error_code error;
    if (options_.ca_file.empty()) {
      context.set_default_verify_paths(error);
    } else {
      context.load_verify_file(options_.ca_file, error);
    }
    if (error) {
      return absl::UnavailableError("get " + text_ + ": load the trusted certificates: " +
                                    error.message());
    }
    beast::ssl_stream<beast::tcp_stream> stream(io_, context);
    stream.set_verify_mode(ssl::verify_peer);
    stream.set_verify_callback(ssl::host_name_verification(url_.host));
    SSL_set_tlsext_host_name(stream.native_handle(), url_.host.c_str());
    RETURN_IF_ERROR(Connect(beast::get_lowest_layer(stream), addresses));
    beast::get_lowest_layer(stream).expires_after(options_.connect_timeout);
    RETURN_IF_ERROR(Await("TLS handshake", [&](auto done) {
      stream.async_handshake(ssl::stream_base::client, done);
    }));
    return Exchange(stream, beast::get_lowest_layer(stream));
  }

  template <typename Stream>
  absl::StatusOr<std::string> Exchange(Stream& stream, beast::tcp_stream& tcp) {
    http::request<http::empty_body> request(http::verb::get, url_.target, 11);
    request.set(http::field::host, url_.host);
    request.set(http::field::user_agent, "taas");
    request.set(http::field::connection, "close");
    tcp.expires_after(options_.idle_timeout);
    RETURN_IF_ERROR(Await("send the request", [&](auto done) {
      http::async_write(stream, request, done);
    }));
    beast::flat_buffer buffer;
    http::response_parser<http::string_body> parser;
    parser.body_limit(options_.bytes_max);
    while (!parser.is_done()) {
      error_code error;
      tcp.expires_after(options_.idle_timeout);
      const absl::Status status = Await("read the answer", [&](auto done) {
        http::async_read_some(stream, buffer, parser, [&, done](error_code result, size_t) {
          error = result;
          done(result);
        });
      });
      if (error == http::error::body_limit) {
        return absl::ResourceExhaustedError("get " + text_ + ": the answer is longer than " +
                                            std::to_string(options_.bytes_max) + " bytes");
      }
      RETURN_IF_ERROR(status);
    }
    if (parser.get().result() != http::status::ok) {
      return absl::UnavailableError("get " + text_ + ": the server answered " +
                                    std::to_string(parser.get().result_int()));
    }
    return std::move(parser.get().body());
  }

  const std::string& text_;
  const Url url_;
  const HttpGetOptions& options_;
  asio::io_context io_;
};

}  // namespace

absl::StatusOr<std::string> HttpGet(const std::string& url, const HttpGetOptions& options) {
  ASSIGN_OR_RETURN(Url parsed, ParseUrl(url));
  try {
    return Request(url, std::move(parsed), options).Run();
  } catch (const std::exception& error) {
    return absl::UnavailableError("get " + url + ": " + error.what());
  }
}

}  // namespace taas
