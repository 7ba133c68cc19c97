#pragma once

#include "base/error.hpp"
#include "lock/locked_set.hpp"
#include "project/toml.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::lock {

/// What is wrong at `place`, `uv.lock:12`, as Error(project).
[[noreturn]] void refuse(std::string message,
                         std::string place,
                         std::vector<std::string> hints = {});

/// Bytes of a lock's text.
inline constexpr std::size_t largest_lock{std::size_t{32} << 20U};

/// A lock in TOML. Its tables are read by what they say; what they lack is refused with its line.
class Document {
public:
  /// Throws Error(project) when `text` is no TOML or larger than 32 MiB.
  Document(std::string_view text, std::string file);

  const toml::table& root() const { return root_; }

  const std::string& file() const { return file_; }

  /// `FILE:LINE`.
  std::string place(const toml::node& node) const;

  /// The tables of `[[key]]`; none when there is no such array. Throws for what is no table.
  std::vector<const toml::table*> tables(const toml::table& parent, std::string_view key) const;
  /// The texts of an array; none when there is none. Throws for what is no text.
  std::vector<std::string> texts(const toml::table& parent, std::string_view key) const;
  /// A text; none when it is not there, or empty. Throws for what is no text.
  std::optional<std::string> text(const toml::table& parent, std::string_view key) const;
  /// A text that must be there.
  std::string required(const toml::table& parent, std::string_view key) const;
  /// A table; null when it is not there. Throws for what is no table.
  const toml::table* table(const toml::table& parent, std::string_view key) const;

  /// A package with the name, version and place of `entry`; throws when one of them cannot be read.
  LockedPackage package(const toml::table& entry) const;

private:
  std::string file_;
  toml::table root_;
};

}  // namespace autopack::lock
