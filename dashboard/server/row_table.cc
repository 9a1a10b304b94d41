#include "dashboard/server/row_table.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "third_party/json.h"

namespace taas::dashboard {
namespace {

void Append(std::string_view text, std::string* list) {
  if (!list->empty()) list->push_back(',');
  list->append(text);
}

}  // namespace

bool RowTable::Put(const std::string& key, Place place, const std::string& text) {
  const auto found = rows_.find(key);
  if (found != rows_.end() && found->second.place.uid != place.uid) {
    Remove(key);
  } else if (found != rows_.end() && found->second.text == text) {
    return false;
  }
  Row& row = rows_[key];
  if (row.number != 0) {
    by_number_.erase(row.number);
  } else if (++namespaces_[place.ns] == 1) {
    ++namespaces_version_;
  }
  row = {.place = std::move(place), .text = text, .number = ++last_};
  by_number_[row.number] = &row;
  return true;
}

void RowTable::Remove(const std::string& key) {
  const auto found = rows_.find(key);
  if (found == rows_.end()) return;
  by_number_.erase(found->second.number);
  const auto ns = namespaces_.find(found->second.place.ns);
  if (--ns->second == 0) namespaces_.erase(ns);
  tombs_.push_back({.place = std::move(found->second.place), .number = ++last_});
  rows_.erase(found);
  if (tombs_.size() <= kTombsMax) return;
  forgotten_ = tombs_.front().number;
  tombs_.pop_front();
}

uint64_t RowTable::NumberOf(std::string_view cursor) const {
  const std::string prefix = epoch_ + "-";
  if (cursor.substr(0, prefix.size()) != prefix) return 0;
  cursor.remove_prefix(prefix.size());
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(cursor.data(), cursor.data() + cursor.size(), number);
  const bool whole = error == std::errc() && end == cursor.data() + cursor.size();
  return whole && number <= last_ ? number : 0;
}

std::string RowTable::Since(uint64_t number, const Sight& sight) const {
  if (number == 0 || number < forgotten_) {
    return R"({"full":true,"rows":[)" + Rows(sight) + R"(],"gone":[]})";
  }
  std::string rows;
  for (auto at = by_number_.upper_bound(number); at != by_number_.end(); ++at) {
    const Place& place = at->second->place;
    if (sight.MaySee(place.kind, place.ns)) Append(at->second->text, &rows);
  }
  std::string gone;
  const auto first = std::partition_point(tombs_.begin(), tombs_.end(), [&](const Tomb& tomb) {
    return tomb.number <= number;
  });
  for (auto tomb = first; tomb != tombs_.end(); ++tomb) {
    if (!sight.MaySee(tomb->place.kind, tomb->place.ns)) continue;
    Append(nlohmann::json(tomb->place.uid).dump(), &gone);
  }
  if (rows.empty() && gone.empty()) return "";
  return R"({"full":false,"rows":[)" + rows + R"(],"gone":[)" + gone + "]}";
}

std::string RowTable::Rows(const Sight& sight) const {
  std::string rows;
  for (const auto& [key, row] : rows_) {
    if (sight.MaySee(row.place.kind, row.place.ns)) Append(row.text, &rows);
  }
  return rows;
}

std::string RowTable::All(const Sight& sight) const {
  return R"({"jobs":[)" + Rows(sight) + "]}";
}

}  // namespace taas::dashboard
