#include "project/code/path_texts.hpp"

#include <algorithm>
#include <array>

namespace autopack::project {

namespace {

constexpr std::size_t longest_path{200};

/// A set of characters with fast lookup: every string of a program is tested.
class CharacterSet {
public:
  constexpr explicit CharacterSet(std::string_view characters) {
    for (const char c : characters) {
      holds_[static_cast<unsigned char>(c)] = true;
    }
  }

  constexpr bool operator()(char c) const { return holds_[static_cast<unsigned char>(c)]; }

private:
  std::array<bool, 256> holds_{};
};

constexpr CharacterSet is_in_no_path{" \n\t<>{}*?%"};
constexpr CharacterSet ends_word{" \t\n\"'=;:,()[]{}"};

}  // namespace

bool may_be_path(std::string_view text) {
  return !text.empty() && text.size() <= longest_path && text[0] != '/' &&
         std::ranges::none_of(text, is_in_no_path) && text.find("://") == std::string_view::npos;
}

std::vector<std::string_view> plain_parts(std::string_view text) {
  std::vector<std::string_view> parts;
  const auto directory_end = text.substr(0, text.find('{')).rfind('/');
  if (directory_end != std::string_view::npos) {
    parts.push_back(text.substr(0, directory_end));
  }
  const auto last = text.rfind('}');
  const auto name_start = text.rfind('/');
  if (name_start != std::string_view::npos &&
      (last == std::string_view::npos || last < name_start)) {
    parts.push_back(text.substr(name_start + 1));
  }
  return parts;
}

std::vector<TextWord> words_of_text(std::string_view text) {
  std::vector<TextWord> words;
  int line = 1;
  for (std::size_t begin = 0; begin < text.size();) {
    const auto* const end = std::find_if(text.begin() + begin, text.end(), ends_word);
    const auto size = static_cast<std::size_t>(end - text.begin()) - begin;
    if (size > 0) {
      words.push_back({.text = text.substr(begin, size), .line = line});
    }
    begin += size;
    if (begin < text.size()) {
      line += text[begin] == '\n' ? 1 : 0;
      ++begin;
    }
  }
  return words;
}

}  // namespace autopack::project
