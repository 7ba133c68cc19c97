#include "state/syntax_verdicts.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace autopack::state {

namespace {

constexpr std::string_view first_line{"autopack-syntax-01"};
constexpr std::string_view nobody{"-"};

/// Removes the first word of `rest` and the blank after it.
std::string take_word(std::string_view& rest) {
  const auto end = std::min(rest.find(' '), rest.size());
  std::string word{rest.substr(0, end)};
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return word;
}

template <class Number>
std::optional<Number> number_in(const std::string& text) {
  Number number{};
  const auto* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  return read.ec == std::errc{} && read.ptr == end ? std::optional{number} : std::nullopt;
}

}  // namespace

SyntaxVerdicts::SyntaxVerdicts(const std::string& saved) {
  const auto lines = split(saved, '\n');
  if (lines.empty() || lines.front() != first_line) {
    return;
  }
  for (std::string_view rest : lines) {
    const auto key = take_word(rest);
    if (key == "python") {
      const auto changed = number_in<std::int64_t>(take_word(rest));
      const auto size = number_in<std::uint64_t>(take_word(rest));
      auto version = take_word(rest);
      if (changed && size && !rest.empty()) {
        python_ = {std::string{rest}, *changed, *size, std::move(version)};
      }
      continue;
    }
    auto version = take_word(rest);
    auto python = take_word(rest);
    const auto line = number_in<int>(take_word(rest));
    if (key.size() == 64 && line && !python.empty()) {
      known_[{key, std::move(version)}] = {python == nobody ? "" : std::move(python), *line,
                                           std::string{rest}};
    }
  }
}

std::optional<SyntaxVerdict> SyntaxVerdicts::of(const ContentHash& content,
                                                const std::string& version) {
  const Key key{content.hex(), version};
  if (const auto used = used_.find(key); used != used_.end()) {
    return used->second;
  }
  const auto found = known_.find(key);
  if (found == known_.end()) {
    return std::nullopt;
  }
  used_.insert(*found);
  return found->second;
}

void SyntaxVerdicts::add(const ContentHash& content,
                         const std::string& version,
                         SyntaxVerdict verdict) {
  has_news_ = true;
  used_[{content.hex(), version}] = std::move(verdict);
}

void SyntaxVerdicts::set_python(KnownPython python) {
  has_news_ = has_news_ || python_ != python;
  python_ = std::move(python);
}

std::optional<std::string> SyntaxVerdicts::text_to_save() const {
  if (!has_news_) {
    return std::nullopt;
  }
  std::string text{first_line};
  text += '\n';
  if (python_) {
    text += fmt::format("python {} {} {} {}\n", python_->changed_ns, python_->size,
                        python_->version, python_->path);
  }
  for (const auto& [key, verdict] : used_) {
    text += fmt::format("{} {} {} {} {}\n", key.first, key.second,
                        verdict.python.empty() ? nobody : verdict.python, verdict.line,
                        verdict.message);
  }
  return text;
}

}  // namespace autopack::state
