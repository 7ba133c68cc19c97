#pragma once

#include "base/error.hpp"

#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace autopack::job {

/// What one key of an object is: one text, or a list.
using KeyValue = std::variant<std::string, std::vector<std::string>>;
using KeyValues = std::vector<std::pair<std::string, KeyValue>>;

/// What a flag is given once: text as it is typed, or a part of a file, which is taken apart
/// already.
class FlagValue {
public:
  FlagValue() = default;

  FlagValue(std::string typed) : value_{std::move(typed)} {}  // NOLINT: as it is typed

  FlagValue(const char* typed) : value_{std::string{typed}} {}  // NOLINT: as it is typed

  /// An element of a list, whatever it holds.
  static FlagValue element(std::string text) { return FlagValue{Element{std::move(text)}}; }

  /// An object.
  static FlagValue object(KeyValues keys) { return FlagValue{std::move(keys)}; }

  /// The text of a document that stands in a file, on the lines where it stands.
  static FlagValue document(std::string text) { return FlagValue{Document{std::move(text)}}; }

  /// As it is typed; an element's own text.
  std::string text() const;

  bool is_document() const { return std::holds_alternative<Document>(value_); }

  /// The elements of a list: a typed text is split as split_list does.
  std::vector<std::string> elements(const std::string& flag, Problems& problems) const;
  /// The keys of an object: a typed text is taken apart as split_pairs does.
  KeyValues keys(const std::string& flag, Problems& problems) const;

  /// The keys of an object; null for text.
  const KeyValues* object() const { return std::get_if<KeyValues>(&value_); }

  /// True when both say the same, each in its way.
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

/// All elements of a list flag that was given once or more.
std::vector<std::string> all_elements(const FlagValues& values,
                                      const std::string& flag,
                                      Problems& problems);
/// All pairs of a `KEY=VALUE,...` flag that was given once or more.
std::vector<std::pair<std::string, std::string>> all_pairs(const FlagValues& values,
                                                           const std::string& flag,
                                                           Problems& problems);

/// One text; a list is joined by `;`.
std::string to_text(const KeyValue& value);
/// A list; a text is split at `;`.
std::vector<std::string> to_list(const KeyValue& value);

}  // namespace autopack::job
