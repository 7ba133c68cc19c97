#include "base/contains.hpp"
#include "base/text.hpp"
#include "project/requirements/requirement_lines.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>

namespace autopack::project {

namespace {

void append_utf8(std::string& text, std::uint32_t code) {
  const auto put = [&](std::uint32_t byte) {
    text += static_cast<char>(static_cast<unsigned char>(byte));
  };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0U | code >> 6U);
    put(0x80U | (code & 0x3FU));
  } else if (code < 0x10000) {
    put(0xE0U | code >> 12U);
    put(0x80U | (code >> 6U & 0x3FU));
    put(0x80U | (code & 0x3FU));
  } else {
    put(0xF0U | code >> 18U);
    put(0x80U | (code >> 12U & 0x3FU));
    put(0x80U | (code >> 6U & 0x3FU));
    put(0x80U | (code & 0x3FU));
  }
}

/// Decodes the text after its byte order mark. Unpaired surrogates become U+FFFD.
std::string decode_utf16(std::string_view bytes, bool big_endian) {
  const auto unit = [&](std::size_t at) -> std::uint32_t {
    const auto first = static_cast<unsigned char>(bytes[at]);
    const auto second = static_cast<unsigned char>(bytes[at + 1]);
    return big_endian ? static_cast<std::uint32_t>(first << 8U | second)
                      : static_cast<std::uint32_t>(second << 8U | first);
  };
  std::string text;
  for (std::size_t at = 0; at + 1 < bytes.size(); at += 2) {
    std::uint32_t code = unit(at);
    const bool high = code >= 0xD800 && code < 0xDC00;
    if (high && at + 3 < bytes.size() && unit(at + 2) >= 0xDC00 && unit(at + 2) < 0xE000) {
      code = 0x10000U + ((code - 0xD800U) << 10U) + (unit(at + 2) - 0xDC00U);
      at += 2;
    } else if (code >= 0xD800 && code < 0xE000) {
      code = 0xFFFD;
    }
    append_utf8(text, code);
  }
  return text;
}

/// Returns the encoding in the first `coding: NAME` or `coding=NAME` of `line`, in Python's
/// spelling.
std::optional<std::string> declared_encoding_of(std::string_view line) {
  constexpr std::string_view word{"coding"};
  for (auto at = line.find(word); at != std::string_view::npos; at = line.find(word, at + 1)) {
    auto name = line.substr(at + word.size());
    if (!name.starts_with(':') && !name.starts_with('=')) {
      continue;
    }
    name.remove_prefix(std::min(name.find_first_not_of(" \t\r\f\v", 1), name.size()));
    const auto end = std::ranges::find_if(name, [](unsigned char c) {
      return std::isalnum(c) == 0 && c != '-' && c != '_' && c != '.';
    });
    if (end != name.begin()) {
      return replace_all(to_lower(name.substr(0, static_cast<std::size_t>(end - name.begin()))),
                         "_", "-");
    }
  }
  return std::nullopt;
}

/// Returns the encoding of a PEP 263 coding line among the first two; nothing if there is none.
std::optional<std::string> declared_encoding(const std::vector<std::string>& lines) {
  for (std::size_t i = 0; i < std::min<std::size_t>(2, lines.size()); ++i) {
    auto encoding = lines[i].starts_with('#') ? declared_encoding_of(lines[i]) : std::nullopt;
    if (encoding) {
      return encoding;
    }
  }
  return std::nullopt;
}

/// Decodes an encoding with ASCII as its first half; each other byte is one character from `base`.
std::string decode_bytes(std::string_view bytes, std::uint32_t base) {
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    append_utf8(text, byte < 0x80 ? byte : base + byte);
  }
  return text;
}

/// RFC 3629; rejects overlong forms and surrogates.
bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = [&](std::size_t at) -> unsigned {
      return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U;
    };
    const unsigned first = byte(i);
    const std::size_t length = first < 0x80                    ? 1
                               : first >= 0xC2 && first < 0xE0 ? 2
                               : first >= 0xE0 && first < 0xF0 ? 3
                               : first >= 0xF0 && first < 0xF5 ? 4
                                                               : 0;
    const unsigned second = byte(i + 1);
    const bool bad_second = (first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) ||
                            (first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F);
    if (length == 0 || (length > 1 && bad_second)) {
      return false;
    }
    for (std::size_t j = 1; j < length; ++j) {
      if (byte(i + j) >> 6U != 0b10) {
        return false;
      }
    }
    i += length;
  }
  return true;
}

/// `text` without its `${NAME}` variables.
}  // namespace

DecodedText decode_requirements(std::string_view bytes) {
  if (bytes.starts_with("\xef\xbb\xbf")) {
    bytes.remove_prefix(3);
  } else if (bytes.starts_with("\xff\xfe") || bytes.starts_with("\xfe\xff")) {
    return {decode_utf16(bytes.substr(2), bytes.front() == '\xfe'), 0, {}};
  }
  const auto lines = split(bytes, '\n');
  const auto encoding = declared_encoding(lines);
  static constexpr std::array<std::string_view, 5> latin{"latin-1", "latin1", "iso-8859-1",
                                                         "iso8859-1", "l1"};
  if (contains(latin, encoding)) {
    return {decode_bytes(bytes, 0), 0, {}};
  }
  const bool is_other = encoding && encoding != "utf-8" && encoding != "utf8";
  if (is_other && !is_utf8(bytes)) {
    constexpr std::uint32_t private_use{0xE000};
    return {decode_bytes(bytes, private_use), 0, {}};
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!is_utf8(lines[i])) {
      return {{}, static_cast<int>(i) + 1, "it is not UTF-8"};
    }
    if (lines[i].find('\0') != std::string_view::npos) {
      return {{}, static_cast<int>(i) + 1, "it contains a zero byte, so it is not text"};
    }
  }
  return {std::string{bytes}, 0, {}};
}

}  // namespace autopack::project
