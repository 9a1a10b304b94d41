#include "dashboard/history/history_usage.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "operator/api/json_field.h"
#include "operator/api/json_member.h"
#include "third_party/json.h"

namespace taas::dashboard {
namespace {

using Json = nlohmann::json;

// A first thinning puts together what was measured within so many seconds.
constexpr double kEveryFirst = 10;
// What is worth a byte: thousandths of a core, MiB, hundredths of a GPU.
constexpr std::array<double, 4> kSteps = {1'000, 1, 100, 1};

struct Point {
  double at = 0;
  std::array<std::optional<double>, 4> values;
};
using Line = std::vector<Point>;
struct Usage {
  double every = 0;  // Seconds; 0: all that was measured.
  std::map<std::string, Line> lines;
};

Line ReadLine(const Json& rows) {
  Line line;
  if (!rows.is_array()) return line;
  for (const Json& row : rows) {
    if (!row.is_array() || row.empty() || !row[0].is_number()) continue;
    Point point{.at = row[0].get<double>(), .values = {}};
    for (size_t i = 0; i < point.values.size() && i + 1 < row.size(); ++i) {
      if (row[i + 1].is_number()) point.values[i] = row[i + 1].get<double>();
    }
    line.push_back(point);
  }
  return line;
}

Usage ReadUsage(std::string_view text) {
  const Json read = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  Usage usage;
  if (!read.is_object()) return usage;
  const Json& every = Member(read, "every");
  if (every.is_number()) usage.every = every.get<double>();
  const Json& replicas = Member(read, "replicas");
  if (!replicas.is_object()) return usage;
  for (const auto& [name, rows] : replicas.items()) usage.lines[name] = ReadLine(rows);
  return usage;
}

Json RowOf(const Point& point) {
  Json row = {std::round(point.at)};
  size_t known = 0;
  for (size_t i = 0; i < point.values.size(); ++i) {
    const std::optional<double>& value = point.values[i];
    row.push_back(value ? Json(std::round(*value * kSteps[i]) / kSteps[i]) : Json());
    if (value) known = i + 1;
  }
  while (row.size() > known + 1) row.erase(row.size() - 1);
  return row;
}

// The mean of what lies in one span of `every` seconds.
Point MeanOf(Line::const_iterator begin, Line::const_iterator end) {
  Point mean;
  for (auto point = begin; point != end; ++point) mean.at += point->at;
  mean.at /= static_cast<double>(end - begin);
  for (size_t i = 0; i < mean.values.size(); ++i) {
    double sum = 0;
    int count = 0;
    for (auto point = begin; point != end; ++point) {
      if (!point->values[i]) continue;
      sum += *point->values[i];
      ++count;
    }
    if (count > 0) mean.values[i] = sum / count;
  }
  return mean;
}

Line Thinned(const Line& line, double every) {
  const auto span_of = [every](const Point& point) { return std::floor(point.at / every); };
  Line out;
  for (auto begin = line.begin(); begin != line.end();) {
    const auto end = std::find_if(begin, line.end(), [&](const Point& point) {
      return span_of(point) != span_of(*begin);
    });
    out.push_back(MeanOf(begin, end));
    begin = end;
  }
  return out;
}

size_t LongestOf(const Usage& usage) {
  size_t longest = 0;
  for (const auto& [name, line] : usage.lines) longest = std::max(longest, line.size());
  return longest;
}

}  // namespace

std::string JoinUsage(std::string_view before, const UsageSample& sample) {
  Usage usage = ReadUsage(before);
  for (const auto& [name, use] : sample.replicas) {
    const bool known = usage.lines.count(name) > 0;
    if (!use.any() || (!known && usage.lines.size() >= kUsageReplicasMax)) continue;
    Line& line = usage.lines[name];
    // A clock that was set back: a line goes on in time.
    if (!line.empty() && sample.at <= line.back().at) continue;
    line.push_back({sample.at, {use.cpu, use.memory_mib, use.gpu, use.gpu_memory_mib}});
  }
  const size_t share = kUsageValuesMax / std::max<size_t>(usage.lines.size(), 1);
  const size_t most = std::min(kUsageTimesMax, share);
  const auto thin = [&usage] {
    for (auto& [name, line] : usage.lines) line = Thinned(line, usage.every);
  };
  // The newest ones stand singly: they are put together before the spans become longer.
  if (LongestOf(usage) > most && usage.every > 0) thin();
  while (LongestOf(usage) > most) {
    usage.every = std::max(kEveryFirst, 2 * usage.every);
    thin();
  }
  Json out = {{"every", usage.every}, {"replicas", Json::object()}};
  for (const auto& [name, line] : usage.lines) {
    Json& rows = out["replicas"][name] = Json::array();
    for (const Point& point : line) rows.push_back(RowOf(point));
  }
  return usage.lines.empty() ? "" : DumpJson(out);
}

}  // namespace taas::dashboard
