#include "dashboard/logs/log_text.h"

#include <algorithm>

#include "operator/base/utf8.h"

namespace taas::dashboard {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

std::string_view NameOf(LogNote note) {
  switch (note) {
    case LogNote::kBegin:
      return "begin";
    case LogNote::kEnd:
      return "end";
    case LogNote::kLive:
      return "live";
    default:
      return "error";
  }
}

// As long as it has to be: "2026-11-21T05:54:17.25Z".
void AppendTime(std::string_view time, std::string* out) {
  if (time.empty()) return;
  while (time.back() == '0') time.remove_suffix(1);
  if (time.back() == '.') time.remove_suffix(1);
  out->append(time).push_back('Z');
}

void AppendEscaped(unsigned char c, std::string* out) {
  constexpr char kDigits[] = "0123456789abcdef";
  if (c == '"' || c == '\\') {
    out->push_back('\\');
    out->push_back(static_cast<char>(c));
  } else if (c == '\t') {
    out->append("\\t");
  } else {
    out->append("\\u00");
    out->push_back(kDigits[c >> 4]);
    out->push_back(kDigits[c & 15]);
  }
}

}  // namespace

void AppendJsonText(std::string_view text, std::string* out) {
  out->push_back('"');
  size_t done = 0;
  for (size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    const size_t length = c < 0x80 ? 1 : Utf8Length(text.substr(i));
    const bool plain = c >= 0x20 && c != '"' && c != '\\' && length > 0;
    if (plain) {
      i += length;
      continue;
    }
    out->append(text.substr(done, i - done));
    length == 0 ? void(out->append(kReplacement)) : AppendEscaped(c, out);
    done = ++i;
  }
  out->append(text.substr(done)).push_back('"');
}

void AppendLogRecord(const LogRecord& record, std::string* out) {
  const LogEntry& entry = record.entry;
  if (entry.note == LogNote::kNone) {
    out->append("{\"t\":\"");
    AppendTime(entry.line.time, out);
    out->append("\",\"r\":");
    AppendJsonText(record.replica, out);
    out->append(",\"l\":");
    AppendJsonText(entry.line.text, out);
    out->append("}\n");
    return;
  }
  out->append("{\"r\":");
  AppendJsonText(record.replica, out);
  out->append(",\"note\":\"").append(NameOf(entry.note)).push_back('"');
  if (!record.replica.empty()) {
    out->append(",\"podNumber\":").append(std::to_string(record.pod_number));
  }
  if (!entry.line.text.empty()) {
    out->append(",\"message\":");
    AppendJsonText(entry.line.text, out);
  }
  out->append("}\n");
}

void AppendLogText(const LogRecord& record, std::string* out) {
  const LogEntry& entry = record.entry;
  if (entry.note == LogNote::kNone) {
    AppendTime(entry.line.time, out);
    out->append(" ").append(record.replica).append(" ");
  } else {
    out->append("# ").append(record.replica).append(record.replica.empty() ? "" : " ");
    out->append(NameOf(entry.note)).append(entry.line.text.empty() ? "" : ": ");
  }
  out->append(WithValidUtf8(entry.line.text)).push_back('\n');
}

std::string SafeFileName(std::string_view name) {
  std::string out(name);
  std::replace_if(
      out.begin(), out.end(),
      [](unsigned char c) {
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        return !letter && !(c >= '0' && c <= '9') && c != '-' && c != '_' && c != '.';
      },
      '_');
  return out;
}

}  // namespace taas::dashboard
