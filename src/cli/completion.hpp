#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::cli {

/// Returns completions of the last of `words`, a command line without the program's name: one whole
/// word per element, some with a tab and a description. The first may be `:files` or
/// `:directories`: file names are possible too, after the word's last `=` or `,`. `jobs` returns
/// the names of jobs of this machine, in the same form.
std::vector<std::string> complete(const std::vector<std::string>& words,
                                  const std::function<std::vector<std::string>()>& jobs = {});

/// Returns the script that makes a shell (`bash`, `zsh`, `fish`) ask autopack for completions.
std::string_view completion_script(std::string_view shell);

}  // namespace autopack::cli
