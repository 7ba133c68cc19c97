#include "lock/document.hpp"

#include "base/text.hpp"
#include "lock/package.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

namespace autopack::lock {

namespace {

toml::table parse(std::string_view text, const std::string& file) {
  try {
    return project::parse_toml(text, largest_lock);
  } catch (const toml::parse_error& error) {
    refuse(fmt::format("`{}` is not TOML: {}", file, printable(error.description())),
           fmt::format("{}:{}", file, error.source().begin.line));
  }
}

}  // namespace

void refuse(std::string message, std::string place, std::vector<std::string> hints) {
  throw Error(ErrorKind::project, Problems{{.message = std::move(message),
                                            .origin = std::move(place),
                                            .hints = std::move(hints)}});
}

Document::Document(std::string_view text, std::string file)
    : file_{std::move(file)}, root_{parse(text, file_)} {}

std::string Document::place(const toml::node& node) const {
  return fmt::format("{}:{}", file_, node.source().begin.line);
}

std::vector<const toml::table*> Document::tables(const toml::table& parent,
                                                 std::string_view key) const {
  std::vector<const toml::table*> tables;
  const auto* const node = parent.get(key);
  if (node == nullptr) {
    return tables;
  }
  if (!node->is_array()) {
    refuse(fmt::format("`{}` is not an array", key), place(*node));
  }
  for (const auto& item : *node->as_array()) {
    if (!item.is_table()) {
      refuse(fmt::format("an item of `{}` is not a table", key), place(item));
    }
    tables.push_back(item.as_table());
  }
  return tables;
}

std::vector<std::string> Document::texts(const toml::table& parent, std::string_view key) const {
  std::vector<std::string> texts;
  const auto* const node = parent.get(key);
  if (node == nullptr) {
    return texts;
  }
  if (!node->is_array()) {
    refuse(fmt::format("`{}` is not an array", key), place(*node));
  }
  for (const auto& item : *node->as_array()) {
    if (!item.is_string()) {
      refuse(fmt::format("an item of `{}` is not a string", key), place(item));
    }
    texts.push_back(item.as_string()->get());
  }
  return texts;
}

std::optional<std::string> Document::text(const toml::table& parent, std::string_view key) const {
  const auto* const node = parent.get(key);
  if (node == nullptr) {
    return std::nullopt;
  }
  if (!node->is_string()) {
    refuse(fmt::format("`{}` is not a string", key), place(*node));
  }
  return non_empty(node->as_string()->get());
}

std::string Document::required(const toml::table& parent, std::string_view key) const {
  auto found = text(parent, key);
  if (!found) {
    refuse(fmt::format("`{}` is missing", key), place(parent));
  }
  return std::move(*found);
}

const toml::table* Document::table(const toml::table& parent, std::string_view key) const {
  const auto* const node = parent.get(key);
  if (node != nullptr && !node->is_table()) {
    refuse(fmt::format("`{}` is not a table", key), place(*node));
  }
  return node == nullptr ? nullptr : node->as_table();
}

LockedPackage Document::package(const toml::table& entry) const {
  return start_package(required(entry, "name"), text(entry, "version"), place(entry));
}

}  // namespace autopack::lock
