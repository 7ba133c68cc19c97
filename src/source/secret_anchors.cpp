#include "source/secret_rules.hpp"

#include <algorithm>
#include <utility>

namespace autopack::source {

namespace {

/// Wu and Manber's search with blocks of two bytes: no anchor is shorter than this. An anchor of
/// three bytes is searched for with each letter that may follow.
constexpr std::size_t shortest{4};
constexpr std::size_t block{2};
constexpr std::size_t largest_shift{shortest - block + 1};

std::size_t block_at(const char* bytes) {
  return static_cast<unsigned char>(bytes[0]) |
         static_cast<std::size_t>(static_cast<unsigned char>(bytes[1])) << 8U;
}

}  // namespace

SecretAnchors::SecretAnchors(const std::vector<SecretRule>& rules)
    : shifts_(std::size_t{1} << 16U, largest_shift), buckets_(std::size_t{1} << 8U) {
  for (const SecretRule& rule : rules) {
    const std::string anchor{rule.anchor};
    if (anchor.size() >= shortest) {
      add(anchor, rule);
      continue;
    }
    for (char letter = 'a'; letter <= 'z'; ++letter) {
      add(anchor + letter, rule);
      add(anchor + static_cast<char>(letter - 'a' + 'A'), rule);
    }
  }
}

void SecretAnchors::add(std::string text, const SecretRule& rule) {
  for (std::size_t at = 0; at + block <= shortest; ++at) {
    auto& shift = shifts_.at(block_at(text.data() + at));
    shift = std::min(shift, static_cast<unsigned char>(shortest - block - at));
  }
  auto& bucket = buckets_.at(static_cast<unsigned char>(text.front()));
  bucket.push_back({std::move(text), &rule});
}

std::size_t SecretAnchors::find(std::string_view text,
                                std::size_t from,
                                std::size_t end,
                                const SecretRule*& rule) const {
  const unsigned char* const shifts = shifts_.data();
  const char* const bytes = text.data();
  const std::size_t stop = std::min(text.size(), end + shortest - 1);
  std::size_t at = from + shortest - block;
  while (at + block <= stop) {
    if (const unsigned char shift = shifts[block_at(bytes + at)]; shift != 0) {
      at += shift;
      continue;
    }
    const std::size_t start = at + block - shortest;
    for (const Anchor& candidate : buckets_[static_cast<unsigned char>(bytes[start])]) {
      if (text.substr(start, candidate.text.size()) == candidate.text) {
        rule = candidate.rule;
        return start;
      }
    }
    ++at;
  }
  return std::string_view::npos;
}

const SecretAnchors& SecretAnchors::known() {
  static const SecretAnchors anchors{secret_rules()};
  return anchors;
}

}  // namespace autopack::source
