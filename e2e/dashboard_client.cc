#include "e2e/dashboard_client.h"

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <cctype>
#include <sys/socket.h>
#include <sys/time.h>

#include "gtest/gtest.h"

namespace taas {
namespace {

using boost::asio::ip::tcp;

// No answer takes that long, on however slow a machine.
constexpr time_t kPatienceSeconds = 60;

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::string HeadOf(const std::string& method, const std::string& target,
                   DashboardClient::Headers headers, uint16_t port) {
  headers.emplace("Host", "127.0.0.1:" + std::to_string(port));
  std::string text = method + " " + target + " HTTP/1.1\r\n";
  for (const auto& [name, value] : headers) text += name + ": " + value + "\r\n";
  return text;
}

}  // namespace

std::string WebAnswer::reason() const {
  const nlohmann::json answer = json();
  const auto pointer = "/error/reason"_json_pointer;
  return answer.is_object() && answer.contains(pointer) ? answer[pointer].get<std::string>() : "";
}

std::string DashboardClient::Exchange(const std::string& text, const std::string& end) const {
  boost::asio::io_context io;
  tcp::socket socket(io);
  boost::system::error_code error;
  socket.connect(tcp::endpoint(boost::asio::ip::address_v4::loopback(), port_), error);
  if (error) {
    ADD_FAILURE() << "connect: " << error.message();
    return "";
  }
  const timeval patience{.tv_sec = kPatienceSeconds, .tv_usec = 0};
  ::setsockopt(socket.native_handle(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  boost::asio::write(socket, boost::asio::buffer(text), error);
  std::string answer;
  char buffer[16384];
  while (end.empty() || answer.find(end) == std::string::npos) {
    const ssize_t count = ::recv(socket.native_handle(), buffer, sizeof buffer, 0);
    if (count <= 0) break;
    answer.append(buffer, static_cast<size_t>(count));
  }
  return answer;
}

std::string DashboardClient::Raw(const std::string& text) const { return Exchange(text, ""); }

std::string DashboardClient::Stream(const std::string& target, const Headers& headers,
                                    const std::string& end) const {
  return Exchange(HeadOf("GET", target, headers, port_) + "\r\n", end);
}

WebAnswer DashboardClient::Do(const std::string& method, const std::string& target,
                              const Headers& headers, const std::string& body) const {
  std::string text = HeadOf(method, target, headers, port_) + "Connection: close\r\n";
  if (!body.empty()) text += "Content-Length: " + std::to_string(body.size()) + "\r\n";
  const std::string raw = Exchange(text + "\r\n" + body, "");
  WebAnswer answer;
  const size_t head_end = raw.find("\r\n\r\n");
  if (raw.compare(0, 9, "HTTP/1.1 ") != 0 || head_end == std::string::npos) {
    ADD_FAILURE() << method << " " << target << ": no answer: " << raw;
    return answer;
  }
  answer.code = std::stoi(raw.substr(9, 3));
  answer.body = raw.substr(head_end + 4);
  for (size_t at = raw.find("\r\n"); at < head_end; at = raw.find("\r\n", at + 2)) {
    const std::string line = raw.substr(at + 2, raw.find("\r\n", at + 2) - at - 2);
    const size_t colon = line.find(": ");
    if (colon != std::string::npos) answer.headers[Lower(line.substr(0, colon))] =
        line.substr(colon + 2);
  }
  return answer;
}

}  // namespace taas
