#include "cli/output_format.hpp"

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

namespace autopack::cli {

namespace {

const nlohmann::json* look_up(const nlohmann::json& object, const std::string& key) {
  const nlohmann::json* at = &object;
  for (const auto& part : split(key, '.')) {
    if (!at->is_object() || !at->contains(part)) {
      return nullptr;
    }
    at = &at->at(part);
  }
  return at;
}

std::string value_text(const nlohmann::json& result, const std::string& key) {
  for (const auto* prefix : {"", "job.", "image."}) {
    const auto* found = look_up(result, prefix + key);
    if (found != nullptr && !found->is_null()) {
      return found->is_string() ? found->get<std::string>() : found->dump();
    }
  }
  return {};
}

}  // namespace

OutputFormat OutputFormat::parse(const std::string& text) {
  if (text.empty() || text == "text") {
    return {};
  }
  if (text == "json") {
    return {.kind = Kind::json};
  }
  if (text.starts_with("value(") && text.ends_with(")") && text.size() > 7) {
    OutputFormat format{.kind = Kind::value};
    for (const auto& key : split(text.substr(6, text.size() - 7), ',')) {
      format.keys.emplace_back(trim(key));
    }
    return format;
  }
  throw Error(ErrorKind::usage, fmt::format("`{}` is no value of `--format`", printable(text)))
      .hint("the values are `json` and `value(KEY)`, for example `--format='value(name)'`");
}

std::string render(const OutputFormat& format,
                   const nlohmann::json& result,
                   const std::string& text) {
  switch (format.kind) {
    case OutputFormat::Kind::json: return print_json(result, 2) + "\n";
    case OutputFormat::Kind::value: {
      std::vector<std::string> values;
      for (const auto& key : format.keys) {
        values.push_back(value_text(result, key));
      }
      return join(values, "\t") + "\n";
    }
    case OutputFormat::Kind::text: break;
  }
  return text.empty() || text.ends_with('\n') ? text : text + "\n";
}

}  // namespace autopack::cli
