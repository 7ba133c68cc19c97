#include "plan/words.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "image/file_reference.hpp"

#include <fmt/core.h>

namespace autopack::plan {

namespace {

/// The builder's parser removes quotes, backslashes and variables from a word, even in JSON.
std::string escape_word(std::string_view word) {
  std::string escaped;
  for (const char c : word) {
    if (c == '\\' || c == '"' || c == '\'' || c == '$') {
      escaped += '\\';
    }
    escaped += c;
  }
  return escaped;
}

/// Sources with one of `*?[` are patterns, and only in them are backslashes special.
std::string escape_pattern(std::string_view path) {
  if (path.find_first_of("*?[") == std::string_view::npos) {
    return std::string{path};
  }
  std::string escaped;
  for (const char c : path) {
    if (c == '*' || c == '?' || c == '[') {
      escaped += {'[', c, ']'};
    } else if (c == '\\') {
      escaped += "\\\\";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

/// Returns all texts in the Dockerfile's lines.
std::vector<std::string> texts_of(const Plan& plan) {
  const Dependencies& dependencies = plan.dependencies;
  std::vector<std::string> texts{plan.base.reference, plan.user};
  const auto add = [&](const std::vector<std::string>& more) {
    texts.insert(texts.end(), more.begin(), more.end());
  };
  add(plan.entrypoint);
  add(dependencies.apt_packages);
  if (dependencies.lock) {
    texts.push_back(dependencies.lock->file);
  }
  add(dependencies.requirement_files);
  add(dependencies.pip_options);
  add(dependencies.requirements);
  add(dependencies.packages);
  add(dependencies.package_requirements);
  add(dependencies.build_requirements);
  add(dependencies.package_extras);
  add(dependencies.members);
  for (const auto* copies :
       {&dependencies.requirement_copies, &dependencies.package_files, &plan.copies}) {
    for (const Copy& copy : *copies) {
      texts.push_back(copy.source);
    }
  }
  for (const project::LineEdit& edit : dependencies.requirement_edits) {
    texts.push_back(edit.text);
  }
  if (dependencies.version) {
    texts.push_back(*dependencies.version);
  }
  for (const auto* variables :
       {&dependencies.build_environment, &dependencies.install_environment}) {
    for (const auto& [name, value] : *variables) {
      texts.push_back(value);
    }
  }
  return texts;
}

}  // namespace

bool fits_dockerfile(std::string_view text) {
  return printable(text) == text;
}

std::string json_words(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += (text.empty() ? "" : ", ") + write_json(nlohmann::json(word));
  }
  return "[" + text + "]";
}

std::string copy_words(const std::vector<std::string>& sources, const std::string& destination) {
  std::vector<std::string> words;
  for (const std::string& source : sources) {
    words.push_back(escape_word(escape_pattern(source)));
  }
  words.push_back(escape_word(destination));
  return json_words(words);
}

std::vector<std::string> quoted_lines(std::string_view text) {
  if (text.ends_with('\n')) {
    text.remove_suffix(1);
  }
  std::vector<std::string> lines = split(text, '\n');
  for (std::string& line : lines) {
    line = "'" + replace_all(std::move(line), "'", "'\"'\"'") + "'";
  }
  return lines;
}

std::string sed_expression(int first_line, int last_line, std::string_view text) {
  const std::string range = first_line == last_line ? std::to_string(first_line)
                                                    : fmt::format("{},{}", first_line, last_line);
  return text.empty() ? range + "d"
                      : fmt::format("{}c\\{}", range, replace_all(std::string{text}, "\\", "\\\\"));
}

void refuse_unfit_texts(const Plan& plan, Problems& problems) {
  std::vector<std::string> texts = texts_of(plan);
  std::ranges::sort(texts);
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
  for (const std::string& text : texts) {
    if (!fits_dockerfile(text)) {
      problems.push_back(
          {.message = fmt::format("`{}` cannot be written into a Dockerfile: it holds a "
                                  "control character or is not UTF-8",
                                  printable(text))});
    }
  }
  for (const auto* requirements :
       {&plan.dependencies.requirements, &plan.dependencies.package_requirements,
        &plan.dependencies.build_requirements}) {
    for (const std::string& requirement : *requirements) {
      if (requirement.starts_with('-')) {
        problems.push_back(
            {.message = fmt::format("`{}` is an option of pip, not a requirement", requirement)});
      }
    }
  }
  if (const auto fault = image::base_fault(plan.base.reference)) {
    problems.push_back({.message = fmt::format("`{}` is not an image name: {}",
                                               printable(plan.base.reference), *fault)});
  }
}

}  // namespace autopack::plan
