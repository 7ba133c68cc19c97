#include "source/ignore.hpp"

#include "base/error.hpp"
#include "base/text.hpp"
#include "source/docker_rules.hpp"
#include "source/pattern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace autopack::source {

namespace {

constexpr std::size_t longest_line{65'536};  // what docker's reader takes

constexpr std::string_view usual_file = ".dockerignore";

/// `path` as a pattern in git's syntax that nothing else fits, for a flag that anchors it.
std::string flag_pattern(std::string_view path) {
  std::string pattern;
  for (const char c : path) {
    const bool is_first_sign = pattern.empty() && (c == '#' || c == '!');
    if (is_first_sign || c == '*' || c == '?' || c == '[' || c == '\\') {
      pattern += '\\';
    }
    pattern += c == '\n' ? '?' : c;  // a line cannot hold it
  }
  return pattern;
}

Problem malformed(const Rule& rule, const Error& error) {
  Problem problem{.message = fmt::format("the pattern `{}` is malformed: {}",
                                         printable(rule.pattern), error.message()),
                  .origin = fmt::format("{}:{}", printable(rule.file), rule.line),
                  .hints = error.hints()};
  if (problem.hints.empty() && rule.pattern.find('\\') != std::string::npos) {
    problem.hints.emplace_back("write paths with `/`; `\\` escapes the next character");
  }
  return problem;
}

}  // namespace

struct IgnoreRules::Compiled {
  Pattern pattern;
};

void IgnoreRules::add(std::string_view text, const std::string& file) {
  Problems problems;
  if (text.starts_with(byte_order_mark)) {
    text.remove_prefix(byte_order_mark.size());
  }
  for (int line = 1; !text.empty(); ++line) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto written = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const Rule rule{.pattern = std::string{trim_unicode(written)}, .file = file, .line = line};
    if (written.size() >= longest_line) {
      problems.push_back({.message = "a line is longer than 64 KiB",
                          .origin = fmt::format("{}:{}", printable(file), line)});
      continue;
    }
    try {
      append(rule, written);
    } catch (const Error& error) {
      problems.push_back(malformed(rule, error));
    }
  }
  throw_if_errors(problems, ErrorKind::project);
}

void IgnoreRules::append(const Rule& rule, std::string_view line) {
  if (auto pattern = Pattern::parse(line)) {
    has_exceptions_ = has_exceptions_ || pattern->is_exception();
    last_bytes_.push_back(pattern->last_byte());
    compiled_.push_back(std::make_shared<const Compiled>(Compiled{std::move(*pattern)}));
    rules_.push_back(rule);
  }
}

std::optional<Rule> IgnoreRules::excludes(std::string_view path) const {
  return IgnoreWalk{*this}.excludes(path);
}

// Docker walks down from the root. A pattern that matched a directory holds for all below it, and
// one that could change nothing at a directory is not asked there.
const Rule* IgnoreWalk::decide(std::string_view path, bool is_directory) {
  const Rule* decision = nullptr;
  const char last = path.empty() ? '\0' : path.back();
  for (const std::size_t i : may_decide(last)) {
    if (rules_.last_bytes_[i].value_or(last) != last && matched_[i] == 0) {
      continue;
    }
    const Pattern& pattern = rules_.compiled_[i]->pattern;
    const bool asked = pattern.is_exception() == (decision != nullptr);
    const bool matches = matched_[i] != 0 || (asked && pattern.matches(path));
    if (matches && is_directory) {
      matched_[i] = 1;
      any_matched_ = true;
    }
    if (matches) {
      decision = pattern.is_exception() ? nullptr : &rules_.rules_[i];
    }
  }
  return decision;
}

/// Most paths end otherwise than most patterns, and there are many of both. In order.
const std::vector<std::size_t>& IgnoreWalk::may_decide(char last_byte) {
  const std::size_t count = rules_.rules_.size();
  if (any_matched_) {
    if (all_.size() != count) {
      all_.resize(count);
      std::iota(all_.begin(), all_.end(), std::size_t{0});
    }
    return all_;
  }
  const auto [known, is_new] = by_last_byte_.try_emplace(last_byte);
  for (std::size_t i = 0; is_new && i < count; ++i) {
    if (rules_.last_bytes_[i].value_or(last_byte) == last_byte) {
      known->second.push_back(i);
    }
  }
  return known->second;
}

void IgnoreWalk::enter(std::string_view directory) {
  directory_ = directory;
  decision_ = nullptr;
  any_matched_ = false;
  matched_.assign(rules_.rules_.size(), 0);
  const auto is_open = [&] { return decision_ == nullptr || rules_.has_exceptions_; };
  for (std::size_t end = 0; end < directory.size() && is_open(); ++end) {
    end = std::min(directory.find('/', end), directory.size());
    decision_ = decide(directory.substr(0, end), true);
  }
}

std::optional<Rule> IgnoreWalk::excludes(std::string_view path) {
  const auto slash = path.rfind('/');
  const auto directory = path.substr(0, slash == std::string_view::npos ? 0 : slash);
  if (directory_ != directory) {
    enter(directory);
  }
  const bool is_decided = path.empty() || (decision_ != nullptr && !rules_.has_exceptions_);
  const Rule* decision = is_decided ? decision_ : decide(path, false);
  return decision == nullptr ? std::nullopt : std::optional{*decision};
}

bool IgnoreRules::may_hold_exceptions(std::string_view path) const {
  return std::ranges::any_of(compiled_, [&](const auto& compiled) {
    return compiled->pattern.is_exception() && compiled->pattern.may_match_below(path);
  });
}

const std::vector<Rule>& IgnoreRules::rules() const {
  return rules_;
}

std::string IgnoreRules::text() const {
  std::string text;
  std::string_view file;
  for (const auto& rule : rules_) {
    if (text.empty() || rule.file != file) {
      text += fmt::format("{}# {}\n", text.empty() ? "" : "\n", printable(rule.file));
      file = rule.file;
    }
    // In column one it would begin a comment.
    text += rule.pattern.starts_with('#') ? " " : "";
    text += rule.pattern + "\n";
  }
  return text;
}

std::string append_command(std::string_view line, std::string_view file) {
  // Not every shell's echo leaves a backslash as it is, and a dash may begin an option.
  const bool is_plain = line.find('\\') == std::string_view::npos && !line.starts_with('-');
  return fmt::format("{} {} >> {}", is_plain ? "echo" : "printf '%s\\n'", shell_quote(line),
                     shell_quote(file));
}

std::string exclude_flag(std::string_view path) {
  return "--exclude=" + shell_quote(flag_pattern(path));
}

std::string include_flag(std::string_view path) {
  return "--include=" + shell_quote(flag_pattern(path));
}

std::string leave_out_command(std::string_view path) {
  return fmt::format("`{}` leaves it out", exclude_flag(path));
}

std::string bring_back_command(std::string_view path, bool is_directory, const Rule& rule) {
  if (rule.line > 0 && rule.file.ends_with(usual_file)) {
    return append_command("!" + docker_path(path) + (is_directory ? "/**" : ""), rule.file);
  }
  return rule.file.starts_with("--") ? fmt::format("drop `{}`", printable(rule.pattern))
                                     : fmt::format("`{}` includes it", include_flag(path));
}

IgnoreRules load_ignore_rules(const Tree& tree, const std::optional<std::string>& dockerfile) {
  auto rules = dockerfile ? IgnoreRules::defaults() : IgnoreRules::defaults_and_project_files();
  const std::string own = dockerfile.value_or("") + ".dockerignore";
  for (const std::string& file : {own, std::string{usual_file}}) {
    if (tree.find(file)) {
      rules.add(tree.read(file), file);
      break;
    }
  }
  return rules;
}

}  // namespace autopack::source
