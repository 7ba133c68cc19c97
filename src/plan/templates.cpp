#include "plan/templates.hpp"

#include "base/contains.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace autopack::plan {

std::map<std::string, std::string> load_templates(
    const std::optional<std::filesystem::path>& directory) {
  std::map<std::string, std::string> texts;
  for (const Template& one : embedded_templates()) {
    texts.emplace(one.name, one.text);
  }
  if (!directory) {
    return texts;
  }
  if (!std::filesystem::is_directory(*directory)) {
    throw Error(ErrorKind::usage,
                fmt::format("the template directory `{}` does not exist", directory->string()));
  }
  bool found = false;
  for (auto& [name, text] : texts) {
    if (auto own = read_file_if_exists(*directory / name)) {
      text = std::move(*own);
      found = true;
    }
  }
  if (!found) {
    std::vector<std::string> names;
    names.reserve(texts.size());
    for (const auto& [name, text] : texts) {
      names.push_back("`" + name + "`");
    }
    throw Error(ErrorKind::usage, fmt::format("the template directory `{}` holds none of {}",
                                              directory->string(), join(names, ", ")));
  }
  return texts;
}

void check_template(const std::string& file,
                    std::string_view text,
                    const std::vector<std::string>& known) {
  for (std::size_t at = text.find("{{"); at != std::string_view::npos; at = text.find("{{", at)) {
    const auto line = [&, begin = at] {
      const auto before = text.substr(0, begin);
      return 1 + std::ranges::count(before, '\n');
    };
    const std::size_t end = text.find("}}", at);
    if (end == std::string_view::npos) {
      throw Error(ErrorKind::usage, fmt::format("{}:{}: `{{{{` has no `}}}}`", file, line()));
    }
    std::string_view tag = text.substr(at + 2, end - at - 2);
    at = end;
    if (tag.starts_with('!') || tag.starts_with('>')) {
      continue;
    }
    tag.remove_prefix(std::min(tag.find_first_not_of("{&#^/ "), tag.size()));
    const std::string name{trim(tag)};
    if (contains(known, name)) {
      continue;
    }
    Error error(ErrorKind::usage,
                fmt::format("{}:{}: the template uses the unknown value `{}`", file, line(), name));
    if (const auto near = nearest(name, known)) {
      error.hint(fmt::format("did you mean `{}`?", *near));
    }
    throw error;
  }
}

std::string join_tag_lines(std::string_view text) {
  std::string joined;
  while (!text.empty()) {
    const std::size_t size = std::min(text.find('\n'), text.size() - 1) + 1;
    const std::string_view tag = trim(text.substr(0, size));
    const bool is_tag = tag.size() > 4 && tag.starts_with("{{") &&
                        std::string_view{"#^/>!"}.find(tag[2]) != std::string_view::npos &&
                        tag.find("}}") == tag.size() - 2;
    joined += tag.empty() ? kept_line : "";
    joined += is_tag ? tag : text.substr(0, size);
    text.remove_prefix(size);
  }
  return joined;
}

}  // namespace autopack::plan
