#include "dashboard/events/curve_routes.h"

#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <variant>

#include "dashboard/events/json_text.h"

namespace taas::dashboard {
namespace {

void AppendPoints(const Series::Scalars& scalars, std::string* out) {
  *out += '[';
  const Scalar* last = nullptr;
  for (const Scalar& point : scalars.points()) {
    if (!std::isfinite(point.value) || !std::isfinite(point.wall)) continue;
    if (last != nullptr && point.step <= last->step) continue;
    *out += last == nullptr ? "[" : ",[";
    AppendJson(point.step, out);
    *out += ',';
    AppendJson(point.wall, out);
    *out += ',';
    AppendJson(point.value, out);
    *out += ']';
    last = &point;
  }
  *out += ']';
}

void AppendCurves(const Run* run, std::string* out) {
  std::map<std::string_view, const Series::Scalars*> curves;
  if (run != nullptr) {
    for (const auto& [tag, series] : run->series()) {
      const auto* const scalars = std::get_if<Series::Scalars>(&series.points);
      if (scalars != nullptr && series.has_values) curves[tag] = scalars;
      if (curves.size() == kCurveTagsMax) break;
    }
  }
  *out += '{';
  bool is_first = true;
  for (const auto& [tag, scalars] : curves) {
    if (!is_first) *out += ',';
    is_first = false;
    AppendJson(tag, out);
    *out += ':';
    AppendPoints(*scalars, out);
  }
  *out += '}';
}

}  // namespace

Answer AnswerCurves(const RunSet& runs) {
  std::string out = "{\"series\":";
  AppendCurves(runs.Find("."), &out);
  out += ",\"evaluator\":";
  AppendCurves(runs.Find("eval"), &out);
  return Answer::Json(out + '}');
}

}  // namespace taas::dashboard
