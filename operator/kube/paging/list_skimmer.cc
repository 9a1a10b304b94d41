#include "operator/kube/paging/list_skimmer.h"

#include "operator/base/status.h"
#include "operator/kube/json_slice.h"

namespace taas {
namespace {

// A list's own metadata are a version and a token.
constexpr size_t kMetadataBytesMax = 64 << 10;
// Names come before what is long: an API server writes members in the order of the alphabet.
constexpr size_t kHeadBytesMax = 64 << 10;
// No list has a member of a longer name.
constexpr size_t kKeyBytesMax = 64;

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

}  // namespace

absl::Status ListSkimmer::Add(std::string_view chunk) {
  for (const char c : chunk) RETURN_IF_ERROR(AddByte(c));
  bytes_ += chunk.size();
  return absl::OkStatus();
}

absl::Status ListSkimmer::AddByte(char c) {
  if (in_text_) {
    if (escaped_) {
      escaped_ = false;
    } else if (c == '\\') {
      escaped_ = true;
    } else if (c == '"') {
      in_text_ = false;
    }
    if (in_value_) return Keep(c);
    if (in_text_ && key_.size() < kKeyBytesMax) key_ += c;
    return absl::OkStatus();
  }
  if (IsSpace(c)) return absl::OkStatus();
  if (ended_ || (depth_ == 0 && c != '{')) {
    return absl::InvalidArgumentError("the reply is no list: it is no JSON object");
  }
  return TakeOutside(c) ? Keep(c) : absl::OkStatus();
}

bool ListSkimmer::TakeOutside(char c) {
  if (c == '"') {
    in_text_ = true;
    if (!in_value_) key_.clear();
    return in_value_;
  }
  if (c == '{' || c == '[') return ++depth_ > 1;
  if (c == '}' || c == ']') {
    ended_ = --depth_ == 0;
    return !ended_;
  }
  if (depth_ > 1) return true;
  if (c == ':') in_value_ = true;
  if (c == ',') in_value_ = false;
  return in_value_ && c != ':';
}

absl::Status ListSkimmer::Keep(char c) {
  if (key_ == "items" && head_.size() < kHeadBytesMax) head_ += c;
  if (key_ != "metadata") return absl::OkStatus();
  if (metadata_.size() >= kMetadataBytesMax) {
    return absl::InvalidArgumentError("the metadata of the list are longer than " +
                                      std::to_string(kMetadataBytesMax) + " bytes");
  }
  metadata_ += c;
  return absl::OkStatus();
}

absl::StatusOr<ListPage> ListSkimmer::Finish() const {
  if (!ended_ || head_.empty()) return absl::InvalidArgumentError("the list is cut");
  return ReadListPage(R"({"items":[],"metadata":)" + metadata_ + "}",
                      [](std::string_view) { return absl::OkStatus(); });
}

ListSkimmer::Name ListSkimmer::object() const {
  Name out;
  const std::string_view head = head_;
  const size_t key = head.find(R"("metadata":{)");
  if (key == std::string_view::npos) return out;
  // Of what is cut the members that are whole come first, and then an error.
  (void)ForEachMember(head.substr(head.find('{', key)),
                      [&out](std::string_view name, std::string_view value) {
                        absl::StatusOr<std::string> text = StringOf(value);
                        if (name == "name" && text.ok()) out.name = *std::move(text);
                        if (name == "namespace" && text.ok()) out.ns = *std::move(text);
                        return absl::OkStatus();
                      });
  return out;
}

}  // namespace taas
