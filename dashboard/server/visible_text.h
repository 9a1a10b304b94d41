// Texts of tenants' programs and manifests, made safe to stand beside others' on a page: what would
// not show, or would turn what is around it, is named instead.
//
// Ownership: values. Threads: any. Errors: none; what is no UTF-8 is left to whoever writes JSON.
//
//   VisibleText("done\x1b[2K\xe2\x80\xaegnp")   // "done␛[2K⟨202E⟩gnp"

#ifndef DASHBOARD_SERVER_VISIBLE_TEXT_H_
#define DASHBOARD_SERVER_VISIBLE_TEXT_H_

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace taas::dashboard {

// Control characters but line ends and tabs become Unicode's pictures of them, or, as those that
// change the direction of a text and ends of lines that are none, their number.
std::string VisibleText(std::string_view text);
// All texts in it; keys stay as they are.
void MakeTextsVisible(nlohmann::json* value);

}  // namespace taas::dashboard

#endif  // DASHBOARD_SERVER_VISIBLE_TEXT_H_
