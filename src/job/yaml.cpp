#include "job/yaml.hpp"

#include <cstddef>
#include <map>

namespace autopack::job {

namespace {

constexpr std::size_t largest_yaml{std::size_t{1} << 20U};
constexpr std::size_t deepest{100};
constexpr std::size_t most_nodes{100'000};

/// Walks a document as its readers do: an alias counts as everything it expands to.
class Bounds {
public:
  void check(const YAML::Node& node, std::size_t depth = 0) {
    if (depth > deepest) {
      refuse(node, "it nests too deep, or an alias contains itself");
    }
    if (++nodes_ > most_nodes) {
      refuse(node, "it is too large once its aliases are written out");
    }
    if (node.IsSequence()) {
      for (const auto& element : node) {
        check(element, depth + 1);
      }
    } else if (node.IsMap()) {
      for (const auto& pair : node) {
        check(pair.first, depth + 1);
        check(pair.second, depth + 1);
      }
    }
  }

private:
  [[noreturn]] static void refuse(const YAML::Node& node, const char* why) {
    throw YAML::ParserException(node.Mark(), why);
  }

  std::size_t nodes_{0};
};

}  // namespace

YAML::Node load_yaml(const std::string& text) {
  if (text.size() > largest_yaml) {
    throw YAML::ParserException(YAML::Mark{}, "it is larger than 1 MiB");
  }
  if (text.find('\0') != std::string::npos) {
    // Otherwise the text after it would be silently ignored.
    throw YAML::ParserException(YAML::Mark{}, "it contains a zero byte, so it is not text");
  }
  YAML::Node node = YAML::Load(text);
  Bounds{}.check(node);
  return node;
}

std::optional<RepeatedKey> repeated_key(const YAML::Node& node) {
  if (node.IsSequence()) {
    for (const auto& element : node) {
      if (auto found = repeated_key(element)) {
        return found;
      }
    }
  }
  if (!node.IsMap()) {
    return std::nullopt;
  }
  std::map<std::string, int> lines;
  for (const auto& pair : node) {
    if (pair.first.IsScalar()) {
      const int line = pair.first.Mark().line + 1;
      const auto [known, is_new] = lines.emplace(pair.first.Scalar(), line);
      if (!is_new) {
        return RepeatedKey{pair.first.Scalar(), known->second, line};
      }
    }
    if (auto found = repeated_key(pair.second)) {
      return found;
    }
  }
  return std::nullopt;
}

}  // namespace autopack::job
