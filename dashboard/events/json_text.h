// JSON written as text piece by piece, for answers of megabytes of numbers, with the conventions of
// TensorBoard: what JSON has no number for is the text "NaN", "Infinity" or "-Infinity".
//
// Numbers are the shortest decimals that give the same double, as Python writes them.
//
// Ownership: appends to the caller's string. Threads: one at a time. Errors: none; texts are given
// valid UTF-8.
//
//   std::string out = "[";
//   AppendJson(0.1, &out);        // [0.1
//   AppendJson("a\"b", &out);     // [0.1"a\"b"

#ifndef DASHBOARD_EVENTS_JSON_TEXT_H_
#define DASHBOARD_EVENTS_JSON_TEXT_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace taas::dashboard {

void AppendJson(double number, std::string* out);
void AppendJson(int64_t number, std::string* out);
void AppendJson(uint64_t number, std::string* out);
void AppendJson(std::string_view text, std::string* out);

// `repr` of a float of Python: "0.1", "1e-05", "nan".
void AppendPythonFloat(double number, std::string* out);
// `repr` of a text of Python: 'it', "it's".
std::string PythonQuoted(std::string_view text);

// Writes all items with commas between them.
template <typename Items, typename AppendItem>
void AppendJsonList(const Items& items, const AppendItem& append_item, std::string* out) {
  *out += '[';
  bool is_first = true;
  for (const auto& item : items) {
    if (!is_first) *out += ',';
    is_first = false;
    append_item(item);
  }
  *out += ']';
}

}  // namespace taas::dashboard

#endif  // DASHBOARD_EVENTS_JSON_TEXT_H_
