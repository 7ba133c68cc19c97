#include "project/code/python_file.hpp"

#include "base/contains.hpp"
#include "base/text.hpp"
#include "project/code/path_texts.hpp"
#include "project/code/python_tokens.hpp"

#include <algorithm>
#include <array>

namespace autopack::project {

namespace {

using Statement = std::vector<Token>;

/// Reads `a.b` from `at` on, and moves `at` behind it.
std::string dotted_name(const Statement& statement, std::size_t& at) {
  std::string name;
  while (at < statement.size() && statement[at].kind == Token::Kind::name &&
         !statement[at].is_name("import") && !statement[at].is_name("as")) {
    name += statement[at++].text;
    if (at < statement.size() && statement[at].is(".")) {
      name += '.';
      ++at;
    } else {
      break;
    }
  }
  return name;
}

void read_import(const Statement& statement, const Import& pattern, std::vector<Import>& all) {
  for (std::size_t at = 1; at < statement.size();) {
    Import one = pattern;
    one.module = dotted_name(statement, at);
    if (one.module.empty()) {
      return;
    }
    all.push_back(std::move(one));
    while (at < statement.size() && !statement[at].is(",")) {
      ++at;
    }
    ++at;
  }
}

void read_from(const Statement& statement, const Import& pattern, std::vector<Import>& all) {
  Import one = pattern;
  std::size_t at = 1;
  for (; at < statement.size() && statement[at].is("."); ++at) {
    ++one.level;
  }
  one.module = dotted_name(statement, at);
  if (at >= statement.size() || !statement[at].is_name("import")) {
    return;
  }
  for (++at; at < statement.size(); ++at) {
    if (statement[at].is_name("as")) {
      ++at;
    } else if (statement[at].kind == Token::Kind::name) {
      one.names.push_back(statement[at].text);
    }
  }
  all.push_back(std::move(one));
}

/// Matches `if __name__ == "__main__":`.
bool asks_for_main(const Statement& statement) {
  return std::ranges::any_of(statement,
                             [](const Token& token) { return token.is_name("__name__"); });
}

constexpr std::size_t longest_string{200};

bool may_hold_path(const Token& string) {
  const bool is_short = string.text.size() <= longest_string;
  return is_short &&
         (string.computed ? string.text.find('/') != std::string::npos : may_be_path(string.text));
}

bool may_fail(std::string_view block) {
  return block == "try" || block == "except" || block == "else" || block == "finally" ||
         block == "if" || block == "elif";
}

/// Returns true if it begins a statement that may contain another on its line: `if x: import y;
/// import z`.
bool begins_block(const Token& first) {
  static constexpr std::array<std::string_view, 15> words{
      "if",   "elif", "else",  "try",   "except", "finally", "for",   "while",
      "with", "def",  "class", "async", "match",  "case",    "lambda"};
  return first.is("@") || (first.kind == Token::Kind::name && contains(words, first.text));
}

/// Words that make a part of a statement conditional.
bool is_conditional(const Token& token) {
  return token.is_name("if") || token.is_name("and") || token.is_name("or") ||
         token.is_name("lambda") || token.is_name("for");
}

/// Returns true for words in commands that install packages, for a shell or pip itself.
bool suggests_installation(const Token& token) {
  if (token.kind == Token::Kind::name) {
    return token.text == "addsitedir" || token.text == "ensurepip" || token.text == "pip" ||
           token.text == "pyximport";
  }
  if (token.kind != Token::Kind::string) {
    return false;
  }
  const auto& text = token.text;
  return text == "pip" || text == "pip3" || text == "ensurepip" ||
         (text.find("install") != std::string::npos &&
          (text.find("pip") != std::string::npos || text.find("conda") != std::string::npos ||
           text.find("uv ") != std::string::npos || text.find("setup.py") != std::string::npos));
}

/// Finds the first call of get_ipython() that surely runs.
class IpythonCalls {
public:
  void note(const Token& token) {
    if (waits_) {
      waits_ = false;
      if (!token.is("(") || follows_def_) {
        is_bound_ = true;
      } else if (!call_) {
        call_ = token.line;
      }
    }
    if (token.is_name("get_ipython") && !follows_dot_) {
      waits_ = true;
      follows_def_ = was_def_;
    }
    is_perhaps_ = is_perhaps_ || is_conditional(token);
    follows_dot_ = token.is(".");
    was_def_ = token.is_name("def");
  }

  /// Ends the statement; `surely`: it runs whenever its file does.
  void end_statement(bool surely) {
    if (call_ && surely && !is_perhaps_ && !found_) {
      found_ = call_;
    }
    is_bound_ = is_bound_ || waits_;  // from IPython import get_ipython
    call_.reset();
    is_perhaps_ = false;
    waits_ = false;
  }

  /// Something may import any name: `from x import *`.
  void bind_all() { is_bound_ = true; }

  std::optional<int> line() const { return is_bound_ ? std::nullopt : found_; }

private:
  std::optional<int> call_{};  ///< in this statement
  std::optional<int> found_{};
  bool waits_{false};  ///< for the token after the name
  bool follows_def_{false};
  bool follows_dot_{false};
  bool was_def_{false};
  bool is_perhaps_{false};
  bool is_bound_{false};
};

/// Returns true for statements whose tokens matter besides the first.
bool is_of_interest(const Token& first) {
  return first.is_name("import") || first.is_name("from") || first.is_name("if") ||
         first.is_name("print");
}

class PythonReader {
public:
  PythonFile run(std::string_view text) {
    PythonTokens tokens{text};
    for (Token token; tokens.next(token);) {
      note_path(token);
      file_.changes_modules = file_.changes_modules || suggests_installation(token);
      if (token.kind != Token::Kind::line_end) {
        ipython_.note(token);
      }
      if (token.kind == Token::Kind::string && may_hold_path(token)) {
        file_.strings.push_back(
            {.text = token.text, .computed = token.computed, .line = token.line});
      }
      if (token.kind == Token::Kind::line_end) {
        read_statement();
        statement_.clear();
      } else if (statement_.empty()) {
        is_read_ = is_of_interest(token);
        statement_.push_back(token);
      } else if (is_read_) {
        statement_.push_back(token);
      }
    }
    file_.ipython_line = ipython_.line();
    return std::move(file_);
  }

private:
  /// Detects `sys.path`, and other names of sys that determine module directories.
  void note_path(const Token& token) {
    if (of_sys_path_ == 0 && token.kind != Token::Kind::name) {
      return;
    }
    const bool is_next = of_sys_path_ == 0   ? token.is_name("sys")
                         : of_sys_path_ == 1 ? token.is(".")
                                             : token.is_name("path");
    file_.changes_modules =
        file_.changes_modules ||
        (of_sys_path_ == 2 &&
         (token.is_name("modules") || token.is_name("meta_path") || token.is_name("path_hooks")));
    of_sys_path_ = is_next ? of_sys_path_ + 1 : token.is_name("sys") ? 1 : 0;
    if (of_sys_path_ == 3) {
      file_.changes_path = true;
      of_sys_path_ = 0;
    }
  }

  void read_statement() {
    const Token& first = statement_.front();
    if (!first.indented) {
      block_ = first.is_name("if") && asks_for_main(statement_) ? "__name__" : first.text;
    }
    const bool continues = first.line == line_;
    in_block_ = continues ? in_block_ : begins_block(first);
    line_ = first.line;
    const bool when_main = first.indented && block_ == "__name__";
    const bool nested = (first.indented && !when_main) || (continues && in_block_);
    ipython_.end_statement(!first.indented && !in_block_);
    if (!file_.notebook_line && (first.is("!") || first.is("%"))) {
      file_.notebook_line = first.line;
    }
    const Import pattern{.line = first.line,
                         .nested = nested,
                         .optional = first.indented && may_fail(block_),
                         .when_main = when_main};
    if (!file_.python2_line && first.is_name("print") && statement_.size() > 1 &&
        statement_[1].kind == Token::Kind::string) {
      file_.python2_line = first.line;
    }
    if (first.is_name("import")) {
      read_import(statement_, pattern, file_.imports);
    } else if (first.is_name("from")) {
      read_from(statement_, pattern, file_.imports);
      if (statement_.back().is("*")) {
        ipython_.bind_all();
      }
    }
  }

  PythonFile file_;
  Statement statement_;  ///< only its first token if the others do not matter
  bool is_read_{false};  ///< they matter
  std::string block_;
  int line_{0};           ///< the first line of the last statement
  bool in_block_{false};  ///< the first statement on it contains the others
  IpythonCalls ipython_;
  int of_sys_path_{0};  ///< how much of `sys.path` the last tokens match
};

/// Reads the block of metadata in the comments of `text`.
void read_script_block(std::string_view text, PythonFile& file) {
  constexpr std::string_view mark{"# /// script"};
  if (text.find(mark) == std::string_view::npos) {
    return;
  }
  auto lines = split(text, '\n');
  for (auto& line : lines) {
    if (line.ends_with('\r')) {
      line.pop_back();
    }
  }
  const auto begin = std::ranges::find(lines, mark);
  if (begin == lines.end()) {
    return;
  }
  const auto past = std::find_if_not(begin + 1, lines.end(), [](const auto& line) {
    return line == "#" || line.starts_with("# ");
  });
  // The last mark of the comment ends the block.
  auto end = past;
  while (end != begin + 1 && *(end - 1) != "# ///") {
    --end;
  }
  if (end == begin + 1) {
    return;
  }
  file.script_block_line = static_cast<int>(begin - lines.begin()) + 1;
  for (auto line = begin + 1; line != end - 1; ++line) {
    file.script_block += (line->size() > 2 ? line->substr(2) : "") + "\n";
  }
}

}  // namespace

PythonFile read_python_file(std::string_view text) {
  auto file = PythonReader{}.run(text);
  read_script_block(text, file);
  return file;
}

}  // namespace autopack::project
