#include "project/code/python_uses.hpp"

#include "base/contains.hpp"
#include "base/text.hpp"
#include "project/code/python_tokens.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <set>

namespace autopack::project {

namespace {

using TokenList = std::vector<Token>;

template <std::size_t count>
bool is_among(std::string_view name, const std::array<std::string_view, count>& names) {
  return contains(names, name);
}

constexpr std::array<std::string_view, 7> starters{
    "run", "call", "check_call", "check_output", "Popen", "getoutput", "getstatusoutput"};
constexpr std::array<std::string_view, 4> os_starters{"system", "popen", "execvp", "execlp"};
constexpr std::array<std::string_view, 2> asyncio_starters{"create_subprocess_exec",
                                                           "create_subprocess_shell"};

/// Functions that open the file in their first argument.
constexpr std::array<std::string_view, 14> openers{
    "open",       "read_csv",    "read_json", "read_parquet",  "read_excel",
    "read_table", "read_pickle", "load",      "loadtxt",       "genfromtxt",
    "imread",     "ImageFolder", "listdir",   "load_from_disk"};

/// Names that show that a program may be missing, and that the file checks first.
constexpr std::array<std::string_view, 4> searchers{"which", "find_executable", "FileNotFoundError",
                                                    "is_tool"};

bool begins_branch(std::string_view word) {
  static constexpr std::array<std::string_view, 9> words{"try",  "except", "else",  "finally", "if",
                                                         "elif", "case",   "match", "assert"};
  return is_among(word, words);
}

/// Tracks the blocks around each statement of a Python file.
class Blocks {
public:
  /// Processes the tokens of the statement [begin, end).
  void enter(const TokenList& tokens, std::size_t begin, std::size_t end) {
    const Token& first = tokens[begin];
    while (!blocks_.empty() && blocks_.back().column >= first.column) {
      blocks_.pop_back();
    }
    const auto has = [&](std::string_view name) {
      return std::any_of(tokens.begin() + static_cast<std::ptrdiff_t>(begin),
                         tokens.begin() + static_cast<std::ptrdiff_t>(end),
                         [&](const Token& token) { return token.is_name(name); });
    };
    statement_ = {.column = first.column};
    statement_.is_main = first.is_name("if") && has("__name__");
    statement_.optional = !statement_.is_main && (begins_branch(first.text) || has("if") ||
                                                  has("suppress") || has("and") || has("or"));
    const bool is_async = first.is_name("async") && begin + 1 < end;
    const Token& keyword = tokens[is_async ? begin + 1 : begin];
    if (keyword.is_name("def") && begin + 1 < end) {
      statement_.optional = false;
      statement_.function = tokens[is_async ? begin + 2 : begin + 1].text;
    }
    if (tokens[end - 1].is(":")) {
      blocks_.push_back(statement_);
      is_header_ = true;
    } else {
      is_header_ = false;
    }
  }

  /// Returns whether the statement may not run although its function's surroundings do.
  bool is_optional() const {
    return statement_.optional ||
           std::ranges::any_of(blocks_, [](const Block& one) { return one.optional; });
  }

  bool is_in_main() const {
    return std::ranges::any_of(blocks_, [](const Block& one) { return one.is_main; });
  }

  /// Returns the innermost function.
  std::string function() const {
    for (std::size_t at = blocks_.size() - (is_header_ ? 1 : 0); at > 0; --at) {
      if (!blocks_[at - 1].function.empty()) {
        return blocks_[at - 1].function;
      }
    }
    return {};
  }

private:
  struct Block {
    int column{0};
    bool optional{false};
    bool is_main{false};
    std::string function{};
  };

  std::vector<Block> blocks_;
  Block statement_;
  bool is_header_{false};  ///< the statement begins the last block
};

class UsesReader {
public:
  explicit UsesReader(std::string_view text) : tokens_{tokenize_python(text)} {}

  PythonUses run() {
    for (std::size_t begin = 0, at = 0; at < tokens_.size(); ++at) {
      if (tokens_[at].kind == Token::Kind::line_end) {
        if (at > begin) {
          read_statement(begin, at);
        }
        begin = at + 1;
      }
    }
    if (searches_) {
      uses_.programs.clear();
    }
    return std::move(uses_);
  }

private:
  const Token& token(std::size_t at) const {
    static const Token none;
    return at < tokens_.size() ? tokens_[at] : none;
  }

  void read_statement(std::size_t begin, std::size_t end) {
    blocks_.enter(tokens_, begin, end);
    if (token(begin).is_name("import") || token(begin).is_name("from")) {
      read_import(begin, end);
      return;
    }
    for (auto at = begin; at < end; ++at) {
      if (tokens_[at].kind != Token::Kind::name) {
        continue;
      }
      searches_ = searches_ || is_among(tokens_[at].text, searchers);
      if (token(at + 1).is("=") && at == begin && !token(at - 1).is(".")) {
        assigned_[tokens_[at].text] = at + 2;
      }
      if (tokens_[at].is_name("sys") && token(at + 1).is(".") && token(at + 2).is_name("path")) {
        read_path_change(at + 3);
      }
      if (token(at + 1).is("(")) {
        read_call(at);
      }
    }
  }

  /// Handles `import subprocess as sp`, `from subprocess import run as go`.
  void read_import(std::size_t begin, std::size_t end) {
    const bool is_from = token(begin).is_name("from");
    const std::string module = token(begin + 1).text;
    for (auto at = begin + 1; at < end; ++at) {
      const bool is_renamed = token(at + 1).is_name("as");
      const std::string name = is_renamed ? token(at + 2).text : token(at).text;
      if (is_from) {
        imported_[name] = module + "." + token(at).text;
      } else if (token(at).kind == Token::Kind::name) {
        imported_[name] = token(at).text;
      }
      at += is_renamed ? 2U : 0U;
    }
  }

  /// Returns `subprocess.run` for the call whose last name is at `at`, after following imports;
  /// only the last name for a method of anything else.
  std::string called(std::size_t at) const {
    const std::string& name = tokens_[at].text;
    if (at >= 2 && token(at - 1).is(".")) {
      const auto module = imported_.find(token(at - 2).text);
      return module == imported_.end() ? "." + name : module->second + "." + name;
    }
    const auto found = imported_.find(name);
    return found == imported_.end() ? name : found->second;
  }

  void read_call(std::size_t at) {
    const std::string whole = called(at);
    const auto dot = whole.rfind('.');
    const std::string name = whole.substr(dot == std::string::npos ? 0 : dot + 1);
    const std::string module =
        dot == std::string::npos ? "" : whole.substr(0, std::max<std::size_t>(dot, 1));
    const bool starts = (module == "subprocess" && is_among(name, starters)) ||
                        (module == "os" && is_among(name, os_starters)) ||
                        (module == "asyncio" && is_among(name, asyncio_starters));
    if (module == "os" && name == "chdir") {
      uses_.changes_directory = true;
    } else if (starts) {
      add(uses_.programs, program_at(at + 2), tokens_[at].line);
    } else if (name == "Path" && reads_path(at + 2)) {
      add(uses_.files, file_at(at + 2), tokens_[at].line);
    } else if (is_among(name, openers) && (name != "open" || module.empty() || module == "io")) {
      add(uses_.files, file_at(at + 2), tokens_[at].line);
    }
  }

  void add(std::vector<PythonUse>& all, std::optional<std::string> name, int line) {
    if (name && !blocks_.is_optional()) {
      all.push_back({.name = std::move(*name),
                     .line = line,
                     .function = blocks_.function(),
                     .when_main = blocks_.is_in_main()});
    }
  }

  /// Returns the program in an argument: `["ffmpeg", ...`, `"ffmpeg -i ..."`, or a variable set to
  /// one of these.
  std::optional<std::string> program_at(std::size_t at, bool follows = true) const {
    if (token(at).is_name("args") && token(at + 1).is("=")) {
      at += 2;
    }
    if (token(at).is_name("shlex") && token(at + 2).is_name("split")) {
      at += 4;
    }
    const bool is_list = token(at).is("[") || token(at).is("(");
    const Token& first = token(is_list ? at + 1 : at);
    if (first.kind == Token::Kind::name && !is_list && follows &&
        (token(at + 1).is(",") || token(at + 1).is(")"))) {
      const auto assigned = assigned_.find(first.text);
      return assigned == assigned_.end() ? std::nullopt : program_at(assigned->second, false);
    }
    if (first.kind != Token::Kind::string) {
      return std::nullopt;
    }
    const std::string_view text = trim(first.text);
    const auto end = std::min(text.find_first_of(" \t\n"), text.size());
    const Token& next = token(is_list ? at + 2 : at + 1);
    const bool goes_on = end == text.size() && (next.is("+") || next.is("%"));
    const auto name = text.substr(0, end);
    const bool is_name = !name.empty() && name.front() != '-' && is_alphanumeric(name, "_-+.");
    return is_name && !goes_on && (!is_list || end == text.size())
               ? std::optional{std::string{name}}
               : std::nullopt;
  }

  /// Returns the file that an argument names as literal text, for reading.
  std::optional<std::string> file_at(std::size_t at) const {
    const Token& text = token(at);
    const bool is_plain = text.kind == Token::Kind::string && !text.computed &&
                          (token(at + 1).is(",") || token(at + 1).is(")"));
    const Token& mode = token(at + 2);
    const bool writes = token(at + 1).is(",") && mode.kind == Token::Kind::string &&
                        mode.text.find_first_of("wax") != std::string::npos;
    const bool is_path = text.text.find_first_of("{%*") == std::string::npos &&
                         text.text.find("://") == std::string::npos && !text.text.starts_with('/');
    return is_plain && is_path && !writes ? std::optional{text.text} : std::nullopt;
  }

  /// Matches `"a").read_text(` of `Path("a").read_text()`.
  bool reads_path(std::size_t at) const {
    static constexpr std::array<std::string_view, 3> path_readers{"read_text", "read_bytes",
                                                                  "open"};
    const bool is_call = token(at + 1).is(")") && token(at + 2).is(".") && token(at + 4).is("(");
    const Token& mode = token(at + 5);
    return is_call && is_among(token(at + 3).text, path_readers) &&
           (mode.kind != Token::Kind::string || mode.text.starts_with("r"));
  }

  /// Handles the text after `sys.path`: `.append("..")`, `.insert(0, "..")`.
  void read_path_change(std::size_t at) {
    const bool appends = token(at).is(".") && token(at + 1).is_name("append");
    const bool inserts = token(at).is(".") && token(at + 1).is_name("insert");
    const Token& text = token(inserts ? at + 5 : at + 3);
    const bool is_whole = token(inserts ? at + 6 : at + 4).is(")");
    if ((appends || inserts) && text.kind == Token::Kind::string && !text.computed && is_whole) {
      uses_.path_texts.push_back(text.text);
    } else {
      uses_.computes_path = true;
    }
  }

  TokenList tokens_;
  Blocks blocks_;
  std::map<std::string, std::string> imported_;
  std::map<std::string, std::size_t> assigned_;  ///< where the value of a variable begins
  bool searches_{false};
  PythonUses uses_;
};

}  // namespace

PythonUses read_python_uses(std::string_view text) {
  return UsesReader{text}.run();
}

bool surely_mentions(std::string_view text, std::string_view name) {
  const auto tokens = tokenize_python(text);
  Blocks blocks;
  for (std::size_t begin = 0, at = 0; at < tokens.size(); ++at) {
    if (tokens[at].kind != Token::Kind::line_end) {
      continue;
    }
    if (at > begin && !tokens[begin].is_name("import") && !tokens[begin].is_name("from")) {
      blocks.enter(tokens, begin, at);
      for (auto one = begin; one < at && !blocks.is_optional(); ++one) {
        const bool is_definition = one > begin && tokens[one - 1].is_name("def");
        if (tokens[one].is_name(name) && !is_definition) {
          return true;
        }
      }
    }
    begin = at + 1;
  }
  return false;
}

}  // namespace autopack::project
