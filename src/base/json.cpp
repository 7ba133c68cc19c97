#include "base/json.hpp"

#include "base/error.hpp"
#include "base/misleading.hpp"

template class nlohmann::basic_json<>;

namespace autopack {

using nlohmann::json;

namespace {

template <class Json>
std::string exact_text(const Json& value) {
  try {
    return value.dump();
  } catch (const json::exception& error) {
    throw Error(ErrorKind::project, "a text that is not UTF-8 cannot be sent").cause(error.what());
  }
}

/// Each level needs a multiple of its text in memory, and the writer is recursive.
constexpr std::size_t deepest{200};

bool is_too_deep(std::string_view text) {
  std::size_t depth = 0;
  bool is_text = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (is_text) {
      i += c == '\\' ? 1 : 0;
      is_text = c != '"';
    } else if (c == '"') {
      is_text = true;
    } else if ((c == '[' || c == '{') && ++depth > deepest) {
      return true;
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return false;
}

}  // namespace

json parse_json(std::string_view text) {
  return is_too_deep(text) ? json(json::value_t::discarded) : json::parse(text, nullptr, false);
}

json parse_json(std::string_view text, const JsonFilter& filter) {
  return is_too_deep(text) ? json(json::value_t::discarded) : json::parse(text, filter, false);
}

std::string write_json(const json& value) {
  return exact_text(value);
}

std::string write_json(const nlohmann::ordered_json& value) {
  return exact_text(value);
}

std::string print_json(const json& value, int indent) {
  return escape_misleading(value.dump(indent, ' ', false, json::error_handler_t::replace), "\\u");
}

std::string text_at(const nlohmann::json& object, const char* key) {
  if (!object.is_object()) {
    return {};
  }
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace autopack
