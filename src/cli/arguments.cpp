#include "cli/arguments.hpp"

#include "base/contains.hpp"
#include "base/error.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace autopack::cli {

namespace {

constexpr std::string_view flags_file_flag = "--flags-file";

void expand_into(std::vector<std::string>& result,
                 const std::vector<std::string>& tokens,
                 const std::function<std::vector<std::string>(const std::string&)>& expand,
                 const std::vector<std::string>& inside) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::string& token = tokens[i];
    std::string file;
    if (token == flags_file_flag && i + 1 < tokens.size()) {
      file = tokens[++i];
    } else if (token.starts_with(std::string{flags_file_flag} + "=")) {
      file = token.substr(flags_file_flag.size() + 1);
    } else {
      result.push_back(token);
      continue;
    }
    if (contains(inside, file)) {
      throw Error(ErrorKind::usage,
                  fmt::format("the flags file `{}` names itself", printable(file)));
    }
    auto deeper = inside;
    deeper.push_back(file);
    expand_into(result, split_arguments(expand(file)).tokens, expand, deeper);
  }
}

}  // namespace

Arguments split_arguments(const std::vector<std::string>& typed) {
  Arguments arguments;
  for (std::size_t i = 0; i < typed.size(); ++i) {
    const std::string& token = typed[i];
    if (token == "--") {
      arguments.has_separator = true;
      arguments.program.assign(typed.begin() + static_cast<std::ptrdiff_t>(i) + 1, typed.end());
      break;
    }
    const bool empty_value =
        token.size() > 3 && token.starts_with("--") && token.find('=') == token.size() - 1;
    if (empty_value) {
      arguments.tokens.push_back(token.substr(0, token.size() - 1));
      arguments.tokens.emplace_back();
    } else {
      arguments.tokens.push_back(token);
    }
  }
  return arguments;
}

std::vector<std::string> expand_flags_files(
    const std::vector<std::string>& tokens,
    const std::function<std::vector<std::string>(const std::string& file)>& expand) {
  std::vector<std::string> result;
  expand_into(result, tokens, expand, {});
  return result;
}

}  // namespace autopack::cli
