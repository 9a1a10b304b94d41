#include "dashboard/events/run.h"

#include <utility>

#include "dashboard/events/tensor.h"
#include "operator/base/utf8.h"

namespace taas::dashboard {
namespace {

constexpr std::string_view kScalarsPlugin = "scalars";
constexpr std::string_view kHistogramsPlugin = "histograms";

std::string Quoted(std::string_view tag) { return "tag \"" + WithValidUtf8(tag) + "\""; }

bool IsValidUtf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = Utf8Length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

// Metadata as TensorBoard completes them: values of the old kind are given some, and the plugins'
// own class of data is set where the writer left it out.
MetadataView CompletedMetadata(const ValueView& value, MetadataView metadata) {
  const bool is_old = value.what == ValueView::What::kSimple ||
                      value.what == ValueView::What::kHisto;
  if (is_old) {
    metadata.plugin =
        value.what == ValueView::What::kSimple ? kScalarsPlugin : kHistogramsPlugin;
    if (metadata.display_name.empty()) metadata.display_name = value.tag;
    metadata.data_class = kUnknownDataClass;
    metadata.plugin_version = 0;
  }
  if (metadata.data_class == kUnknownDataClass) {
    if (metadata.plugin == kScalarsPlugin) metadata.data_class = kScalarDataClass;
    if (metadata.plugin == kHistogramsPlugin) metadata.data_class = kTensorDataClass;
  }
  return metadata;
}

void SetMetadata(const MetadataView& metadata, Series* series) {
  series->has_metadata = true;
  series->is_known_version = metadata.plugin_version == 0;
  series->display_name = WithValidUtf8(metadata.display_name);
  series->description = WithValidUtf8(metadata.description);
  if (metadata.plugin == kScalarsPlugin && metadata.data_class == kScalarDataClass) {
    series->points.emplace<Series::Scalars>(kScalarsMax);
  }
  if (metadata.plugin == kHistogramsPlugin && metadata.data_class == kTensorDataClass) {
    series->points.emplace<Series::Histograms>(kHistogramsMax);
  }
}

}  // namespace

const Series* Run::Find(std::string_view tag) const {
  const auto found = series_.find(tag);
  return found == series_.end() ? nullptr : &found->second;
}

std::string Run::Add(std::string_view record) {
  const std::optional<EventView> event = ParseEvent(record);
  if (!event) return "the record holds no event; its checksum is right, so it was written so";
  const bool is_summary = event->what == EventView::What::kSummary;
  if (is_summary && !ParseValues(event->content, &values_)) {
    return "the event at step " + std::to_string(event->step) + " holds no summary";
  }
  if (!first_wall_) first_wall_ = event->wall;
  if (event->what == EventView::What::kFileVersion) {
    file_version_ = ParseFileVersion(event->content);
  }
  PurgeBeforeSummaryOrStart(*event);
  std::string problem;
  if (is_summary) {
    for (const ValueView& value : values_) {
      std::string more = AddValue(*event, value);
      if (problem.empty()) problem = std::move(more);
    }
  }
  return problem;
}

void Run::PurgeBeforeSummaryOrStart(const EventView& event) {
  constexpr double kVersionWithMarks = 2;
  if (file_version_ >= kVersionWithMarks) {
    // The first mark is that of the first start, from which nothing is obsolete.
    if (event.what == EventView::What::kSessionStart && std::exchange(has_started_, true)) {
      for (auto& [tag, series] : series_) Purge(event.step, &series);
    }
  } else if (event.what == EventView::What::kSummary && event.step < newest_step_) {
    for (const ValueView& value : values_) {
      const auto found = series_.find(value.tag);
      if (found != series_.end()) Purge(event.step, &found->second);
    }
  }
  if (event.what == EventView::What::kSummary) newest_step_ = event.step;
}

void Run::Purge(int64_t step, Series* series) {
  const auto is_before = [step](const auto& point) { return point.step < step; };
  if (auto* scalars = std::get_if<Series::Scalars>(&series->points)) {
    const size_t before = scalars->points().size();
    scalars->Keep(is_before);
    Account(0, (before - scalars->points().size()) * sizeof(Scalar));
  }
  if (auto* histograms = std::get_if<Series::Histograms>(&series->points)) {
    uint64_t lost = 0;
    for (const Histogram& point : histograms->points()) {
      if (!is_before(point)) lost += point.bytes();
    }
    histograms->Keep(is_before);
    Account(0, lost);
  }
}

std::string Run::AddValue(const EventView& event, const ValueView& value) {
  std::string problem;
  Series* const series = FindOrMake(value.tag, &problem);
  if (series == nullptr) return problem;
  const bool is_old = value.what == ValueView::What::kSimple ||
                      value.what == ValueView::What::kHisto;
  if (!series->has_metadata && (value.has_metadata || is_old)) {
    const std::optional<MetadataView> metadata = ParseMetadata(value.metadata);
    if (!metadata) return "the metadata of " + Quoted(value.tag) + " cannot be read";
    SetMetadata(CompletedMetadata(value, *metadata), series);
  }
  if (auto* scalars = std::get_if<Series::Scalars>(&series->points)) {
    problem = AddScalar(event, value, scalars);
    series->has_values = series->has_values || !scalars->points().empty();
  } else if (auto* histograms = std::get_if<Series::Histograms>(&series->points)) {
    problem = AddHistogram(event, value, histograms);
    series->has_values = series->has_values || !histograms->points().empty();
  }
  return problem;
}

std::string Run::AddScalar(const EventView& event, const ValueView& value,
                           Series::Scalars* points) {
  Scalar scalar{.wall = event.wall, .step = event.step};
  if (value.what == ValueView::What::kSimple) {
    scalar.value = static_cast<double>(value.simple);
  } else if (value.what == ValueView::What::kTensor) {
    const std::optional<Tensor> tensor = ParseTensor(value.content, 1);
    if (!tensor || tensor->values.empty()) {
      return Quoted(value.tag) + " is a curve, but its value at step " +
             std::to_string(event.step) + " is not one number";
    }
    scalar.value = tensor->values[0];
  } else {
    return "";
  }
  if (!HasRoomFor(sizeof(Scalar))) return NoRoom(event.step);
  const bool grows = !points->Add(scalar).has_value();
  Account(grows ? sizeof(Scalar) : 0, 0);
  return "";
}

std::string Run::AddHistogram(const EventView& event, const ValueView& value,
                              Series::Histograms* points) {
  std::optional<Histogram> histogram;
  if (value.what == ValueView::What::kHisto) {
    histogram = ParseHisto(value.content);
  } else if (value.what == ValueView::What::kTensor) {
    histogram = ParseHistogramTensor(value.content);
  } else {
    return "";
  }
  if (!histogram) {
    return "the histogram of " + Quoted(value.tag) + " at step " + std::to_string(event.step) +
           " cannot be read, or has more than " + std::to_string(kBinsMax) + " bins";
  }
  histogram->wall = event.wall;
  histogram->step = event.step;
  const uint64_t bytes = histogram->bytes();
  if (!HasRoomFor(bytes)) return NoRoom(event.step);
  const std::optional<Histogram> gone = points->Add(*std::move(histogram));
  Account(bytes, gone ? gone->bytes() : 0);
  return "";
}

Series* Run::FindOrMake(std::string_view tag, std::string* problem) {
  const auto found = series_.find(tag);
  if (found != series_.end()) return &found->second;
  if (series_.size() >= kTagsMax) {
    *problem = "there are more than " + std::to_string(kTagsMax) + " tags; further ones are left "
               "out (does the program make a new tag for each step?)";
    return nullptr;
  }
  if (tag.size() > kTagBytesMax) {
    *problem = "a tag has " + std::to_string(tag.size()) + " bytes and is left out";
    return nullptr;
  }
  if (!IsValidUtf8(tag)) {
    *problem = Quoted(tag) + " is no UTF-8 and is left out";
    return nullptr;
  }
  return &series_.try_emplace(std::string(tag)).first->second;
}

bool Run::HasRoomFor(uint64_t bytes) const {
  return bytes <= budget_.most && budget_.used <= budget_.most - bytes;
}

std::string Run::NoRoom(int64_t step) const {
  return "values are left out from step " + std::to_string(step) + " on: those of all runs " +
         "together take " + std::to_string(budget_.most >> 20) + " MiB, which is all they may";
}

void Run::Account(uint64_t gained, uint64_t lost) {
  used_ = used_ + gained - lost;
  budget_.used = budget_.used + gained - lost;
}

}  // namespace taas::dashboard
