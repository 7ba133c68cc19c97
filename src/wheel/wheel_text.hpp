#pragma once

#include <map>
#include <string>
#include <string_view>

namespace autopack::wheel {

/// A wheel of pure Python for `name` and `version`: its `files` by their paths, and what of its
/// `.dist-info` is made of them, WHEEL and RECORD. The same files give the same bytes. For few and
/// small files, which are not compressed.
std::string wheel_text(const std::string& name,
                       const std::string& version,
                       std::map<std::string, std::string> files);

/// `NAME-VERSION`, which the names of a wheel and of its directories begin with.
std::string wheel_stem(std::string_view name, std::string_view version);

}  // namespace autopack::wheel
