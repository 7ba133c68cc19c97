#pragma once

#include <map>
#include <string>
#include <string_view>

namespace autopack::wheel {

/// Returns a wheel of pure Python for `name` and `version`, with `files` by their paths. It
/// generates WHEEL and RECORD. The same files give the same bytes. Meant for a few small files: it
/// does not compress them.
std::string wheel_text(const std::string& name,
                       const std::string& version,
                       std::map<std::string, std::string> files);

/// Returns `NAME-VERSION`, the prefix of a wheel's file name and of its directories.
std::string wheel_stem(std::string_view name, std::string_view version);

}  // namespace autopack::wheel
