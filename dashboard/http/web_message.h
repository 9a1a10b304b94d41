// What a browser asks and what it gets, as values: the seam between HTTP and the dashboard.
//
// Ownership: values; a body is shared, so that what many tabs get is kept once. Threads: values;
// StreamSink from any thread. Errors: none.
//
//   WebHandler handler = [](WebRequest request, WebRespond respond) {
//     respond({.code = 200, .body = Shared("{}")});
//   };

#ifndef DASHBOARD_HTTP_WEB_MESSAGE_H_
#define DASHBOARD_HTTP_WEB_MESSAGE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace taas::dashboard {

using SharedText = std::shared_ptr<const std::string>;
inline SharedText Shared(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

struct WebRequest {
  std::string method;                 // "GET", …
  std::vector<std::string> segments;  // Of the path below the base, decoded; never "." or "..".
  bool ends_with_slash = false;
  std::vector<std::pair<std::string, std::string>> query;  // Decoded.
  std::map<std::string, std::string, std::less<>> headers;  // Names in lower case.
  std::string body;
  std::string peer;  // The address that the connection comes from.

  // Empty: there is none.
  std::string_view Header(std::string_view name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? std::string_view() : std::string_view(found->second);
  }
  std::string_view Query(std::string_view name) const {
    for (const auto& [key, value] : query) {
      if (key == name) return value;
    }
    return {};
  }
  bool Is(std::string_view name) const { return Query(name) == "1" || Query(name) == "true"; }
};

// Where the rest of an answer goes that comes bit by bit.
class StreamSink {
 public:
  virtual ~StreamSink() = default;
  // False: nobody reads any more, or reads so slowly that the stream was ended.
  virtual bool Write(SharedText chunk) = 0;
  // After what was written. Idempotent.
  virtual void End() = 0;
  // At once, and so that the client sees that something is missing. Idempotent.
  virtual void Abort() = 0;
  // Bytes that the client has not taken yet.
  virtual size_t unsent() const = 0;
};

// Of one stream: called once when the head was sent, and once when it is over for whatever reason,
// both on a thread of the server.
struct StreamCalls {
  std::function<void(std::shared_ptr<StreamSink>)> opened;
  std::function<void()> closed;
  // All that will be written until End. Nothing: it is not known, and the answer has chunks.
  std::optional<uint64_t> bytes = std::nullopt;
};

struct WebResponse {
  int code = 200;
  std::string content_type = "application/json";
  SharedText body;
  std::string content_encoding;  // The body already is in it; empty: the server may compress.
  // One with control characters in its value is not sent.
  std::vector<std::pair<std::string, std::string>> headers;
  StreamCalls stream;  // With `opened`: the body comes from there.
  // To somebody whose token is good: her connection is kept longer, and not dropped for others'.
  bool known_caller = false;
};

// May be called from any thread, once.
using WebRespond = std::function<void(WebResponse)>;
// Called on several threads at once.
using WebHandler = std::function<void(WebRequest request, WebRespond respond)>;

}  // namespace taas::dashboard

#endif  // DASHBOARD_HTTP_WEB_MESSAGE_H_
