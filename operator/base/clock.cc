#include "operator/base/clock.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <ctime>

namespace taas {
namespace {

std::chrono::nanoseconds ReadClock(clockid_t id) {
  timespec spec{};
  clock_gettime(id, &spec);
  return std::chrono::seconds(spec.tv_sec) + std::chrono::nanoseconds(spec.tv_nsec);
}

// Reads exactly `digits` digits at the front of `text` and removes them.
bool TakeNumber(std::string_view* text, int digits, int* value) {
  if (text->size() < static_cast<size_t>(digits)) return false;
  *value = 0;
  for (int i = 0; i < digits; ++i) {
    const char c = (*text)[i];
    if (c < '0' || c > '9') return false;
    *value = *value * 10 + (c - '0');
  }
  text->remove_prefix(digits);
  return true;
}

bool TakeChar(std::string_view* text, char want) {
  if (text->empty() || text->front() != want) return false;
  text->remove_prefix(1);
  return true;
}

std::string FormatSeconds(Clock::WallTime time) {
  const std::time_t seconds =
      std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[80];  // Room for any int in each field.
  std::snprintf(text, sizeof(text), "%04d-%02d-%02dT%02d:%02d:%02d", parts.tm_year + 1900,
                parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
  return text;
}

}  // namespace

Clock::Time RealClock::Now() const { return Time(ReadClock(CLOCK_BOOTTIME)); }

Clock::WallTime RealClock::WallNow() const { return WallTime(ReadClock(CLOCK_REALTIME)); }

void RealClock::SleepUntil(Time when) const {
  const auto total = when.time_since_epoch();
  const auto seconds = std::chrono::floor<std::chrono::seconds>(total);
  const timespec spec{seconds.count(),
                      static_cast<long>(std::chrono::nanoseconds(total - seconds).count())};
  while (clock_nanosleep(CLOCK_BOOTTIME, TIMER_ABSTIME, &spec, nullptr) == EINTR) {
  }
}

std::string FormatRfc3339(Clock::WallTime time) { return FormatSeconds(time) + "Z"; }

std::string FormatRfc3339Micro(Clock::WallTime time) {
  const auto fraction = time - std::chrono::floor<std::chrono::seconds>(time);
  char text[24];
  std::snprintf(text, sizeof(text), ".%06ldZ",
                static_cast<long>(
                    std::chrono::duration_cast<std::chrono::microseconds>(fraction).count()));
  return FormatSeconds(time) + text;
}

bool ParseRfc3339(std::string_view text, Clock::WallTime* time) {
  std::tm parts{};
  if (!TakeNumber(&text, 4, &parts.tm_year) || !TakeChar(&text, '-') ||
      !TakeNumber(&text, 2, &parts.tm_mon) || !TakeChar(&text, '-') ||
      !TakeNumber(&text, 2, &parts.tm_mday) || !(TakeChar(&text, 'T') || TakeChar(&text, 't')) ||
      !TakeNumber(&text, 2, &parts.tm_hour) || !TakeChar(&text, ':') ||
      !TakeNumber(&text, 2, &parts.tm_min) || !TakeChar(&text, ':') ||
      !TakeNumber(&text, 2, &parts.tm_sec)) {
    return false;
  }
  if (parts.tm_mon < 1 || parts.tm_mon > 12 || parts.tm_mday < 1 || parts.tm_mday > 31 ||
      parts.tm_hour > 23 || parts.tm_min > 59 || parts.tm_sec > 60) {
    return false;
  }
  std::chrono::nanoseconds fraction{0};
  if (TakeChar(&text, '.')) {
    int64_t unit = 1'000'000'000;
    bool any = false;
    while (!text.empty() && std::isdigit(static_cast<unsigned char>(text.front()))) {
      unit /= 10;
      fraction += std::chrono::nanoseconds((text.front() - '0') * unit);
      text.remove_prefix(1);
      any = true;
    }
    if (!any) return false;
  }
  std::chrono::minutes offset{0};
  if (!TakeChar(&text, 'Z') && !TakeChar(&text, 'z')) {
    const bool east = !text.empty() && text.front() == '+';
    if (!TakeChar(&text, '+') && !TakeChar(&text, '-')) return false;
    int hours = 0, minutes = 0;
    if (!TakeNumber(&text, 2, &hours) || !TakeChar(&text, ':') || !TakeNumber(&text, 2, &minutes)) {
      return false;
    }
    offset = std::chrono::minutes((hours * 60 + minutes) * (east ? 1 : -1));
  }
  if (!text.empty()) return false;
  parts.tm_year -= 1900;
  parts.tm_mon -= 1;
  // Years 1764 to 2175: a clock in nanoseconds ends in 2262, and callers add up to 68 years.
  constexpr std::chrono::seconds kFarthest{6'500'000'000};
  const std::chrono::seconds whole =
      std::clamp(std::chrono::seconds(timegm(&parts)), -kFarthest, kFarthest);
  *time = Clock::WallTime(whole + fraction - offset);
  return true;
}

}  // namespace taas
