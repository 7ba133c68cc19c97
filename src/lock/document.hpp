#pragma once

#include "base/error.hpp"
#include "lock/locked_set.hpp"
#include "project/toml.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::lock {

/// Throws Error(project) about `place`, such as `uv.lock:12`.
[[noreturn]] void refuse(std::string message,
                         std::string place,
                         std::vector<std::string> hints = {});

/// Size limit of a lock, in bytes.
inline constexpr std::size_t largest_lock{std::size_t{32} << 20U};

/// A lock in TOML. Throws an error with the line for missing or invalid parts of its tables.
class Document {
public:
  /// Throws Error(project) if `text` is not TOML or larger than 32 MiB.
  Document(std::string_view text, std::string file);

  const toml::table& root() const { return root_; }

  const std::string& file() const { return file_; }

  /// Returns `FILE:LINE`.
  std::string place(const toml::node& node) const;

  /// Returns the tables of `[[key]]`; empty if there is no such array. Throws for an element that
  /// is not a table.
  std::vector<const toml::table*> tables(const toml::table& parent, std::string_view key) const;
  /// Returns the strings of an array; empty if there is no such array. Throws for an element that
  /// is not a string.
  std::vector<std::string> texts(const toml::table& parent, std::string_view key) const;
  /// Returns a string, or nothing if it is absent or empty. Throws if it is not a string.
  std::optional<std::string> text(const toml::table& parent, std::string_view key) const;
  /// Returns a string; throws if it is absent.
  std::string required(const toml::table& parent, std::string_view key) const;
  /// Returns a table, or null if it is absent. Throws if it is not a table.
  const toml::table* table(const toml::table& parent, std::string_view key) const;

  /// Returns a package with the name, version and place of `entry`; throws if one of them is
  /// invalid.
  LockedPackage package(const toml::table& entry) const;

private:
  std::string file_;
  toml::table root_;
};

}  // namespace autopack::lock
