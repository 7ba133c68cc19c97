#include "index/html_tags.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>

namespace autopack::index {

namespace {

constexpr std::string_view white_space = " \t\r\n\f";
/// Limit for one tag; further ones are ignored.
constexpr std::size_t most_attributes{64};

std::string utf8(std::uint32_t point) {
  // Browsers and Python replace invalid characters with this one.
  if (point == 0 || point > 0x10FFFF || (point >= 0xD800 && point < 0xE000)) {
    point = 0xFFFD;
  }
  const auto byte = [](std::uint32_t value) { return static_cast<char>(value); };
  const auto tail = [&](unsigned shift) { return byte(0x80U | ((point >> shift) & 0x3FU)); };
  if (point < 0x80) {
    return {byte(point)};
  }
  if (point < 0x800) {
    return {byte(0xC0U | (point >> 6U)), tail(0)};
  }
  if (point < 0x10000) {
    return {byte(0xE0U | (point >> 12U)), tail(6), tail(0)};
  }
  return {byte(0xF0U | (point >> 18U)), tail(12), tail(6), tail(0)};
}

/// Removes the reference after `&` from `text` and returns its character; returns nothing if it is
/// not a reference.
std::optional<std::string> take_reference(std::string_view& text) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 16> names{
      {{"amp", "&"},
       {"lt", "<"},
       {"gt", ">"},
       {"quot", "\""},
       {"apos;", "'"},
       {"excl;", "!"},
       {"comma;", ","},
       {"equals;", "="},
       {"semi;", ";"},
       {"num;", "#"},
       {"percnt;", "%"},
       {"sol;", "/"},
       {"period;", "."},
       {"lowbar;", "_"},
       {"nbsp", "\u00A0"},
       {"plus;", "+"}}};
  if (!text.starts_with('#')) {
    for (const auto& [name, character] : names) {
      if (text.starts_with(name)) {
        text.remove_prefix(name.size());
        text.remove_prefix(!name.ends_with(';') && text.starts_with(';') ? 1 : 0);
        return std::string{character};
      }
    }
    return std::nullopt;
  }
  const bool hexadecimal = text.size() > 1 && (text[1] == 'x' || text[1] == 'X');
  const char* const begin = text.data() + (hexadecimal ? 2 : 1);
  const char* const end = text.data() + text.size();
  std::uint32_t point = 0;
  const auto [stop, code] = std::from_chars(begin, end, point, hexadecimal ? 16 : 10);
  if (stop == begin) {
    return std::nullopt;
  }
  text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
  text.remove_prefix(text.starts_with(';') ? 1 : 0);
  return utf8(code == std::errc{} ? point : 0);
}

/// Reads a page from start to end.
class Reader {
public:
  explicit Reader(std::string_view text) : rest_{text} {}

  /// Moves past the next `<`; returns false at the end.
  bool next_tag() { return skip_to("<"); }

  /// Moves past the next `end`; if there is none, moves to the end of the text and returns false.
  bool skip_to(std::string_view end) {
    const auto at = rest_.find(end);
    rest_.remove_prefix(at == std::string_view::npos ? rest_.size() : at + end.size());
    return at != std::string_view::npos;
  }

  bool at(std::string_view text) const { return rest_.starts_with(text); }

  bool at_letter() const {
    return !rest_.empty() && is_alphanumeric(rest_.substr(0, 1)) && rest_[0] > '9';
  }

  std::string_view take_until(std::string_view ends) {
    const auto end = std::min(rest_.find_first_of(ends), rest_.size());
    const auto taken = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return taken;
  }

  void skip_space() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(white_space), rest_.size()));
  }

  /// Reads the attributes and the final `>`; returns nothing if the text ends before.
  std::optional<Attributes> attributes() {
    Attributes found;
    for (;;) {
      rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n\f/"), rest_.size()));
      if (rest_.empty()) {
        return std::nullopt;
      }
      if (at(">")) {
        rest_.remove_prefix(1);
        return found;
      }
      // A leading `=` belongs to the name.
      const std::string_view all = rest_;
      rest_.remove_prefix(1);
      const auto more = take_until(" \t\r\n\f/>=");
      std::string name = to_lower(all.substr(0, more.size() + 1));
      auto value = take_value();
      if (!value) {
        return std::nullopt;
      }
      if (found.size() < most_attributes || found.contains(name)) {
        found[std::move(name)] = std::move(*value);
      }
    }
  }

  /// Moves past the end tag of `name`, whose contents are not markup.
  void skip_content(std::string_view name) {
    while (skip_to("</")) {
      if (to_lower(rest_.substr(0, name.size())) == name) {
        return;
      }
    }
  }

private:
  /// Returns an empty text if the attribute has no value, nothing if its quote is not closed.
  std::optional<std::string> take_value() {
    skip_space();
    if (!at("=")) {
      return std::string{};
    }
    rest_.remove_prefix(1);
    skip_space();
    if (!at("\"") && !at("'")) {
      return without_references(take_until(" \t\r\n\f>"));
    }
    const std::string_view quote = rest_.substr(0, 1);
    rest_.remove_prefix(1);
    const auto value = take_until(quote);
    if (rest_.empty()) {
      return std::nullopt;
    }
    rest_.remove_prefix(1);
    return without_references(value);
  }

  std::string_view rest_;
};

}  // namespace

std::string without_references(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const auto sign = std::min(text.find('&'), text.size());
    result += text.substr(0, sign);
    text.remove_prefix(sign);
    if (!text.empty()) {
      text.remove_prefix(1);
      result += take_reference(text).value_or("&");
    }
  }
  return result;
}

void read_tags(std::string_view html,
               const std::function<void(const std::string& name, const Attributes&)>& visit) {
  Reader reader{html};
  while (reader.next_tag()) {
    if (reader.at("!--")) {
      reader.skip_to("-->");
    } else if (reader.at("!") || reader.at("?") || reader.at("/")) {
      reader.skip_to(">");
    } else if (reader.at_letter()) {
      const std::string name = to_lower(reader.take_until(" \t\r\n\f/>"));
      const auto attributes = reader.attributes();
      if (!attributes) {
        return;
      }
      visit(name, *attributes);
      if (name == "script" || name == "style") {
        reader.skip_content(name);
      }
    }
  }
}

}  // namespace autopack::index
