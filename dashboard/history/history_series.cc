#include "dashboard/history/history_series.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

#include "operator/api/json_field.h"
#include "third_party/json.h"

namespace taas::dashboard {
namespace {

using Json = nlohmann::json;
using Curves = std::map<std::string, Curve>;

constexpr const char* kParts[] = {"series", "evaluator"};

// Steps that do not rise belong to no curve that a page could draw.
Curve ReadCurve(const Json& points) {
  Curve curve;
  if (!points.is_array()) return curve;
  curve.reserve(points.size());
  for (const Json& point : points) {
    if (!point.is_array() || point.size() != 3) continue;
    if (!point[0].is_number() || !point[1].is_number() || !point[2].is_number()) continue;
    const double step = point[0].get<double>();
    const CurvePoint read{.step = std::abs(step) < 9e18 ? static_cast<int64_t>(step) : 0,
                          .time = point[1].get<double>(),
                          .value = point[2].get<double>()};
    if (!std::isfinite(read.time) || !std::isfinite(read.value)) continue;
    if (curve.empty() || read.step > curve.back().step) curve.push_back(read);
  }
  return curve;
}

Curves ReadCurves(const Json& answer, const char* part) {
  Curves curves;
  const auto found = answer.find(part);
  if (found == answer.end() || !found->is_object()) return curves;
  for (const auto& [name, points] : found->items()) {
    if (name.size() > kCurveNameBytes) continue;
    Curve curve = ReadCurve(points);
    if (!curve.empty()) curves[name] = std::move(curve);
  }
  return curves;
}

Json ReadAnswer(std::string_view text) {
  if (text.size() > kSeriesAnswerBytes) return Json::object();
  auto answer = ParseJsonObject(text);
  return answer.ok() ? *std::move(answer) : Json::object();
}

Json ToJson(const Curve& curve) {
  Json points = Json::array();
  for (const CurvePoint& point : curve) {
    points.push_back(Json::array({point.step, point.time, point.value}));
  }
  return points;
}

// Where both have a point, the written one counts: it knows of a training that went back.
Curve Filled(const Curve& curve, const Curve& written) {
  Curve out;
  out.reserve(curve.size() + written.size());
  const auto by_step = [](const CurvePoint& a, const CurvePoint& b) { return a.step < b.step; };
  std::set_union(written.begin(), written.end(), curve.begin(), curve.end(),
                 std::back_inserter(out), by_step);
  return out;
}

}  // namespace

Curve ThinOut(const Curve& curve, size_t points_max) {
  if (curve.size() <= points_max || points_max < 4) return curve;
  const size_t pieces = (points_max - 2) / 2;
  const size_t inner = curve.size() - 2;
  Curve out;
  out.reserve(points_max);
  out.push_back(curve.front());
  const auto by_value = [](const CurvePoint& a, const CurvePoint& b) { return a.value < b.value; };
  for (size_t i = 0; i < pieces; ++i) {
    const auto begin = curve.begin() + 1 + static_cast<ptrdiff_t>(i * inner / pieces);
    const auto end = curve.begin() + 1 + static_cast<ptrdiff_t>((i + 1) * inner / pieces);
    auto [low, high] = std::minmax_element(begin, end, by_value);
    if (high < low) std::swap(low, high);
    out.push_back(*low);
    if (high != low) out.push_back(*high);
  }
  out.push_back(curve.back());
  return out;
}

Curve JoinCurve(const Curve& old, const Curve& fresh) {
  if (fresh.empty()) return old;
  Curve out;
  for (const CurvePoint& point : old) {
    if (point.step >= fresh.front().step) break;
    out.push_back(point);
  }
  out.insert(out.end(), fresh.begin(), fresh.end());
  return out;
}

std::string JoinCurves(std::string_view old, std::string_view answer) {
  const Json before = ReadAnswer(old), now = ReadAnswer(answer);
  Json out = {{"series", Json::object()}};
  size_t room = kCurvesMax;
  for (const char* part : kParts) {
    Curves curves = ReadCurves(before, part);
    for (const auto& [name, fresh] : ReadCurves(now, part)) {
      Curve& curve = curves[name];
      curve = JoinCurve(curve, fresh);
    }
    for (const auto& [name, curve] : curves) {
      if (room == 0) break;
      out[part][name] = ToJson(ThinOut(curve, kCurvePointsMax));
      --room;
    }
  }
  return room == kCurvesMax ? "" : DumpJson(out);
}

LastPoints LastPointsOf(const WatchedJob& job, Clock::WallTime now) {
  const JobStatus& status = job.status;
  LastPoints last;
  if (!status.progress.has_value()) return last;
  const Progress& progress = *status.progress;
  const std::chrono::duration<double> since =
      status.completion_time.value_or(now).time_since_epoch();
  const double at = since.count();
  if (progress.loss.has_value() && progress.step > 0) {
    last.loss = CurvePoint{progress.step, at, *progress.loss};
  }
  if (!progress.evaluation.has_value() || progress.evaluation->step <= 0) return last;
  const Evaluation& evaluation = *progress.evaluation;
  if (evaluation.loss.has_value()) {
    last.test_loss = CurvePoint{evaluation.step, at, *evaluation.loss};
  }
  // A model without classes has no accuracy; of an earlier release its status has 0.
  if (evaluation.accuracy.value_or(0) != 0) {
    last.test_accuracy = CurvePoint{evaluation.step, at, *evaluation.accuracy};
  }
  if (const std::optional<double> perplexity = job.perplexity()) {
    last.test_perplexity = CurvePoint{evaluation.step, at, *perplexity};
  }
  return last;
}

std::string WithLastPoints(std::string_view curves, const LastPoints& last) {
  Json out = ReadAnswer(curves);
  bool changed = false;
  const auto add = [&](const char* part, const char* name, const std::optional<CurvePoint>& point) {
    if (!point.has_value() || !std::isfinite(point->value)) return;
    Json& of_part = out[part];
    if (!of_part.is_object()) of_part = Json::object();
    Curve curve = of_part.contains(name) ? ReadCurve(of_part[name]) : Curve{};
    if (!curve.empty() && curve.back().step >= point->step) return;
    curve.push_back(*point);
    of_part[name] = ToJson(curve);
    changed = true;
  };
  add("series", "loss", last.loss);
  add("evaluator", "loss", last.test_loss);
  add("evaluator", "accuracy", last.test_accuracy);
  add("evaluator", "perplexity", last.test_perplexity);
  if (!changed) return std::string(curves);
  if (!out.contains("series")) out["series"] = Json::object();
  return DumpJson(out);
}

std::string FilledCurves(std::string_view curves, std::string_view files, double until) {
  Json out = ReadAnswer(curves);
  const Json written = ReadAnswer(files);
  if (!out.contains("series")) out["series"] = Json::object();
  size_t room = kCurvesMax;
  for (const char* part : kParts) {
    Curves merged = ReadCurves(out, part);
    for (auto& [name, curve] : ReadCurves(written, part)) {
      std::erase_if(curve, [until](const CurvePoint& point) { return point.time > until; });
      if (!curve.empty()) merged[name] = Filled(merged[name], curve);
    }
    for (const auto& [name, curve] : merged) {
      if (room == 0) break;
      out[part][name] = ToJson(ThinOut(curve, kCurvePointsMax));
      --room;
    }
  }
  return room == kCurvesMax ? std::string(curves) : DumpJson(out);
}

std::string ArchivedAnswer(const std::string& curves) {
  std::string text = curves.empty() ? "{\"series\":{}}" : curves;
  text.back() = ',';
  return text + "\"archived\":true}";
}

}  // namespace taas::dashboard
