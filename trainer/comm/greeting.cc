#include "trainer/comm/greeting.h"

#include <algorithm>

namespace taas::comm {

std::string GreetingText(const Greeting& greeting) {
  return greeting.token.empty() ? greeting.job : greeting.job + "\n" + greeting.token;
}

Greeting ParseGreeting(std::string_view text) {
  const size_t end = std::min(text.find('\n'), text.size());
  return {.job = std::string(text.substr(0, end)),
          .token = std::string(text.substr(std::min(end + 1, text.size())))};
}

bool IsWelcome(const Greeting& own, const Greeting& caller) {
  if (own.job.empty()) return true;
  return own.job == caller.job && (own.token.empty() || IsSameSecret(own.token, caller.token));
}

bool IsSameSecret(std::string_view own, std::string_view said) {
  if (own.size() != said.size()) return false;
  // No compiler may leave the loop early: what it computes is written to memory each time.
  volatile unsigned char different = 0;
  for (size_t i = 0; i < own.size(); ++i) {
    different = static_cast<unsigned char>(different | (own[i] ^ said[i]));
  }
  return different == 0;
}

bool IsToken(std::string_view text) {
  return !text.empty() && text.size() <= kTokenBytesMax &&
         std::ranges::all_of(text, [](char c) { return c > ' ' && c < '\x7f'; });
}

}  // namespace taas::comm
