#pragma once

#include "base/error.hpp"

#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace autopack::job {

/// The value of one key of an object: a text or a list.
using KeyValue = std::variant<std::string, std::vector<std::string>>;
using KeyValues = std::vector<std::pair<std::string, KeyValue>>;

/// One value of a flag: text as typed, or a part of a file, which is already parsed.
class FlagValue {
public:
  FlagValue() = default;

  FlagValue(std::string typed) : value_{std::move(typed)} {}  // NOLINT: as it is typed

  FlagValue(const char* typed) : value_{std::string{typed}} {}  // NOLINT: as it is typed

  /// Returns an element of a list; its text is not split.
  static FlagValue element(std::string text) { return FlagValue{Element{std::move(text)}}; }

  static FlagValue object(KeyValues keys) { return FlagValue{std::move(keys)}; }

  /// Returns the text of a document nested in a file, on its lines in that file.
  static FlagValue document(std::string text) { return FlagValue{Document{std::move(text)}}; }

  /// Returns the text as typed, or the text of an element.
  std::string text() const;

  bool is_document() const { return std::holds_alternative<Document>(value_); }

  /// Returns the elements of a list; splits typed text like split_list.
  std::vector<std::string> elements(const std::string& flag, Problems& problems) const;
  /// Returns the keys of an object; splits typed text like split_pairs.
  KeyValues keys(const std::string& flag, Problems& problems) const;

  /// Returns the keys of an object; null for text.
  const KeyValues* object() const { return std::get_if<KeyValues>(&value_); }

  /// Returns true if both mean the same, even if written differently.
  bool says_same(const FlagValue& other) const;

private:
  struct Element {
    std::string text;
  };

  struct Document {
    std::string text;
  };

  using Value = std::variant<std::string, Element, KeyValues, Document>;

  explicit FlagValue(Value value) : value_{std::move(value)} {}

  Value value_{};
};

using FlagValues = std::vector<FlagValue>;

/// Returns all elements of a list flag that may be repeated.
std::vector<std::string> all_elements(const FlagValues& values,
                                      const std::string& flag,
                                      Problems& problems);
/// Returns all pairs of a `KEY=VALUE,...` flag that may be repeated.
std::vector<std::pair<std::string, std::string>> all_pairs(const FlagValues& values,
                                                           const std::string& flag,
                                                           Problems& problems);

/// Returns one text; joins a list with `;`.
std::string to_text(const KeyValue& value);
/// Returns a list; splits a text at `;`.
std::vector<std::string> to_list(const KeyValue& value);

}  // namespace autopack::job
