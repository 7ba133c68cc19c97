#include "source/git_ignore_file.hpp"

#include "source/pattern.hpp"

#include <algorithm>
#include <utility>

namespace autopack::source {

GitIgnoreFile::GitIgnoreFile(std::string_view text,
                             const std::string& name,
                             std::string prefix,
                             std::size_t skipped,
                             Letters letters)
    : prefix_{std::move(prefix)}, skipped_{skipped}, letters_{letters} {
  add(text, name);
}

void GitIgnoreFile::add(std::string_view text, const std::string& name) {
  if (text.starts_with(byte_order_mark)) {
    text.remove_prefix(byte_order_mark.size());
  }
  for (int line = 1; !text.empty(); ++line) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto written = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const auto shown = written.substr(0, written.find_last_not_of(" \r\t") + 1);
    add_pattern(written, {.pattern = std::string{shown}, .file = name, .line = line});
  }
}

void GitIgnoreFile::add_pattern(std::string_view pattern, Rule rule) {
  if (auto parsed = GitPattern::parse(pattern, letters_)) {
    patterns_.push_back(std::move(*parsed));
    rules_.push_back(std::move(rule));
  }
}

GitIgnoreFile::Match GitIgnoreFile::decide(std::string_view path, bool is_directory) const {
  std::string longer;
  if (!prefix_.empty()) {
    longer = prefix_ + std::string{path};
    path = longer;
  }
  path.remove_prefix(skipped_);
  const auto name = path.substr(path.rfind('/') + 1);
  for (std::size_t i = patterns_.size(); i-- > 0;) {
    if (patterns_[i].matches(path, name, is_directory)) {
      return {patterns_[i].is_exception() ? Decision::in : Decision::out, &rules_[i]};
    }
  }
  return {};
}

bool GitIgnoreFile::may_bring_back_below(std::string_view directory) const {
  return std::ranges::any_of(patterns_, [&](const GitPattern& pattern) {
    return pattern.is_exception() && pattern.is_anchored() && pattern.may_match_below(directory);
  });
}

}  // namespace autopack::source
