#pragma once

#include <algorithm>
#include <iterator>

namespace autopack {

/// Returns true if an element of `range` equals `value`.
template <class Range, class Value>
bool contains(const Range& range, const Value& value) {
  // Not std::ranges::find: that one compares no string with an optional one.
  return std::find(std::begin(range), std::end(range), value) != std::end(range);
}

}  // namespace autopack
