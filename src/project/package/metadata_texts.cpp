#include "project/package/metadata_texts.hpp"

#include "base/text.hpp"
#include "project/findings.hpp"
#include "project/package/project_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace autopack::project {

namespace {

constexpr std::size_t largest_text{std::size_t{1} << 20U};
constexpr std::size_t most_licenses{50};

class Licenses {
public:
  explicit Licenses(LookingTree& tree) : tree_{tree} {}

  void keep(const std::string& path) {
    if (texts_.size() == most_licenses || printable(path) != path) {
      leave_to_build("it has too many files of licenses");
    }
    auto text = tree_.read(path, largest_text);
    if (!text) {
      leave_to_build(
          fmt::format("the license `{}` is not a small file of the image", printable(path)));
    }
    texts_[path] = std::move(*text);
  }

  void keep_those_of(const std::vector<std::string>& patterns) {
    const auto files = tree_.files_at_root();
    for (const auto& pattern : patterns) {
      if (pattern.find('/') != std::string::npos) {
        if (pattern.find_first_of("*?[") != std::string::npos) {
          leave_to_build(fmt::format("`project.license-files` names `{}`", pattern));
        }
        keep(source::normalise(pattern).value_or(""));
        continue;
      }
      for (const auto& file : files) {
        if (matches_glob(pattern, file)) {
          keep(file);
        }
      }
    }
  }

  std::map<std::string, std::string> take() { return std::move(texts_); }

private:
  LookingTree& tree_;
  std::map<std::string, std::string> texts_{};
};

std::string type_of(const std::string& file) {
  static const std::map<std::string, std::string> types{
      {".md", "text/markdown"}, {".rst", "text/x-rst"}, {".txt", "text/plain"}};
  const auto found = types.find(to_lower(file.substr(std::min(file.rfind('.'), file.size()))));
  if (found == types.end()) {
    leave_to_build(fmt::format("nothing says what kind of text `{}` is", file));
  }
  return found->second;
}

}  // namespace

std::string read_named_text(LookingTree& tree, const std::string& file, std::string_view key) {
  const auto path = source::normalise(file);
  auto text = path ? tree.read(*path, largest_text) : std::nullopt;
  if (!text || !is_utf8(*text) || text->find('\0') != std::string::npos) {
    leave_to_build(
        fmt::format("`project.{}`: `{}` is not a text file of the image", key, printable(file)));
  }
  return std::move(*text);
}

std::map<std::string, std::string> read_licenses(const toml::table& project, LookingTree& tree) {
  Licenses licenses{tree};
  if (const auto file = project["license"]["file"].value<std::string>()) {
    licenses.keep(source::normalise(*file).value_or(""));
  }
  const auto* const named = project.get("license-files");
  licenses.keep_those_of(
      named != nullptr
          ? lines_of(*named, "license-files")
          : std::vector<std::string>{"LICENSE*", "LICENCE*", "COPYING*", "NOTICE*", "AUTHORS*"});
  return licenses.take();
}

std::optional<Readme> read_readme(const toml::table& project, LookingTree& tree) {
  const auto* const node = project.get("readme");
  if (node == nullptr) {
    return std::nullopt;
  }
  if (node->is_string()) {
    const auto file = line_of(*node, "readme");
    return Readme{.type = type_of(file), .text = read_named_text(tree, file, "readme")};
  }
  const auto& table = table_of(*node, "readme");
  const auto* const file = table.get("file");
  const auto* const text = table.get("text");
  const auto* const type = table.get("content-type");
  if (table.size() != 2 || type == nullptr || (file == nullptr) == (text == nullptr)) {
    leave_to_build("`project.readme` says more than a text and its type");
  }
  return Readme{.type = line_of(*type, "readme"),
                .text = file != nullptr ? read_named_text(tree, line_of(*file, "readme"), "readme")
                                        : text->value_or(std::string{})};
}

}  // namespace autopack::project
