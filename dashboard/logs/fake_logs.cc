#include "dashboard/logs/fake_logs.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace taas::dashboard {
namespace {

std::string Decoded(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    out += static_cast<char>(std::strtol(text.substr(i + 1, 2).c_str(), nullptr, 16));
    i += 2;
  }
  return out;
}

std::string QueryOf(const std::string& path, const std::string& key) {
  const size_t at = path.find(key + "=");
  if (at == std::string::npos) return "";
  const size_t begin = at + key.size() + 1;
  return Decoded(path.substr(begin, path.find('&', begin) - begin));
}

std::string PodOf(const std::string& path) {
  const size_t begin = path.find("/pods/") + 6;
  return path.substr(begin, path.find('/', begin) - begin);
}

bool IsSince(const std::string& line, const std::string& since) {
  return since.empty() || line.substr(0, 19) >= since.substr(0, 19);
}

}  // namespace

class FakeLogs::Handle : public KubeTransport::StreamHandle {
 public:
  explicit Handle(FakeLogs& logs, std::shared_ptr<Open> open)
      : logs_(logs), open_(std::move(open)) {}
  ~Handle() override {
    if (!open_->over && !open_->follow) --logs_.windows_at_once_;
    open_->over = true;
    std::erase(logs_.open_, open_);
  }

 private:
  FakeLogs& logs_;
  const std::shared_ptr<Open> open_;
};

void FakeLogs::Post(const std::shared_ptr<Open>& open, std::function<void()> call) {
  executor_.Post([open, call = std::move(call)] {
    if (!open->over) call();
  });
}

void FakeLogs::Send(const std::shared_ptr<Open>& open, std::string text) {
  for (size_t at = 0; at < text.size(); at += chunk_bytes) {
    Post(open, [open, chunk = text.substr(at, chunk_bytes)] { open->calls.data(chunk); });
  }
}

void FakeLogs::End(const std::shared_ptr<Open>& open, const absl::Status& status) {
  Post(open, [this, open, status] {
    open->over = true;
    if (!open->follow) --windows_at_once_;
    std::erase(open_, open);
    open->calls.ended(status);
  });
}

void FakeLogs::Write(const std::string& pod, const std::string& line) {
  logs_[pod].lines.push_back(line);
  for (const auto& open : open_) {
    const bool wants = open->pod == pod && open->follow && IsSince(line, open->since);
    if (wants) Send(open, line + "\n");
  }
}

void FakeLogs::EndContainer(const std::string& pod) {
  logs_[pod].ended = true;
  for (const auto& open : open_) {
    if (open->pod == pod && open->follow) End(open, absl::OkStatus());
  }
}

void FakeLogs::Refuse(const std::string& pod, int code, const std::string& message) {
  logs_[pod].code = code;
  logs_[pod].message = message;
}

void FakeLogs::CutFollowing(const std::string& pod, const absl::Status& why) {
  for (const auto& open : open_) {
    if (open->pod == pod && open->follow) End(open, why);
  }
}

int FakeLogs::following(const std::string& pod) const {
  return static_cast<int>(std::count_if(open_.begin(), open_.end(), [&](const auto& open) {
    return open->pod == pod && open->follow;
  }));
}

void FakeLogs::Do(HttpRequest, OnReply) { std::abort(); }

std::unique_ptr<KubeTransport::StreamHandle> FakeLogs::Stream(HttpRequest request,
                                                              StreamCalls calls) {
  const std::string path = request.path;
  requests_.push_back(std::move(request));
  auto open = std::make_shared<Open>();
  open->pod = PodOf(path);
  open->calls = std::move(calls);
  open->follow = QueryOf(path, "follow") == "true";
  open->since = QueryOf(path, "sinceTime");
  open_.push_back(open);
  if (!open->follow) {
    ++windows_;
    windows_at_once_max_ = std::max(windows_at_once_max_, ++windows_at_once_);
  }
  const Log& log = logs_[open->pod];
  Post(open, [open, code = log.code] { open->calls.opened(code); });
  if (log.code != 200) {
    Send(open, R"({"kind":"Status","reason":"R","message":")" + log.message + R"("})");
    End(open, absl::OkStatus());
    return std::make_unique<Handle>(*this, open);
  }
  std::vector<std::string> lines = log.lines;
  const std::string tail = QueryOf(path, "tailLines");
  const size_t count = tail.empty() ? lines.size() : std::stoul(tail);
  if (lines.size() > count) lines.erase(lines.begin(), lines.end() - static_cast<long>(count));
  std::string text;
  for (const std::string& line : lines) {
    if (IsSince(line, open->since)) text += line + "\n";
  }
  const std::string limit = QueryOf(path, "limitBytes");
  if (!limit.empty()) text.resize(std::min(text.size(), std::stoul(limit)));
  Send(open, text);
  if (!open->follow || log.ended) End(open, absl::OkStatus());
  return std::make_unique<Handle>(*this, open);
}

bool FakeSink::Write(SharedText chunk) {
  if (gone) return false;
  text += *chunk;
  if (slow) unsent_ += chunk->size();
  unsent_max = std::max(unsent_max, unsent_);
  return true;
}

}  // namespace taas::dashboard
