#pragma once

#include <algorithm>
#include <iterator>

namespace autopack {

/// Returns true if an element of `range` equals `value`.
template <class Range, class Value>
bool contains(const Range& range, const Value& value) {
  // std::ranges::find cannot compare a string with an optional string.
  return std::find(std::begin(range), std::end(range), value) != std::end(range);
}

}  // namespace autopack
