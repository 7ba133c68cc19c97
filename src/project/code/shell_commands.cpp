#include "project/code/shell_commands.hpp"

#include "base/contains.hpp"
#include "base/text.hpp"
#include "project/code/optional_commands.hpp"
#include "project/code/shell_variables.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace autopack::project {

namespace {

constexpr std::size_t most_commands{5000};
constexpr std::size_t longest_value{4096};

bool is_variable_character(char c) {
  return is_alphanumeric({&c, 1}, "_");
}

ShellWord known_word(const std::string& word) {
  return word.find(unknown_part) == std::string::npos ? ShellWord{word} : std::nullopt;
}

bool is_keyword(std::string_view word) {
  static constexpr std::array<std::string_view, 13> words{
      "if", "then", "else", "elif", "fi", "do", "done", "while", "until", "!", "{", "}", "esac"};
  return contains(words, word);
}

class ShellReader {
public:
  ShellReader(std::string_view text, const std::string& directory)
      : text_{text}, variables_{directory} {}

  std::vector<ShellCommand> read() {
    while (at_ < text_.size() && commands_.size() < most_commands) {
      step();
    }
    end_word();
    end_command();
    mark_uncalled_functions(commands_);
    return std::move(commands_);
  }

private:
  /// A block that a keyword or a parenthesis begins and another one ends.
  struct Block {
    enum class Kind { branch, cases, loop, group };

    Kind kind{Kind::group};
    bool optional{false};
    std::string function{};  ///< the function whose body it is
    std::size_t list_start{0};
    bool list_optional{false};
  };

  char here() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  char next() const { return at_ + 1 < text_.size() ? text_[at_ + 1] : '\0'; }

  void step() {
    const char c = here();
    if (c == '\\') {
      escape();
    } else if (c == '(' && in_word_ && word_.ends_with('=')) {
      skip_array();
    } else if (in_test_ && std::string_view{"&|()<>;"}.find(c) != std::string_view::npos) {
      end_word();
      ++at_;
    } else if (c == '\n') {
      end_word();
      end_command();
      end_list();
      ++at_;
      ++line_;
      skip_documents();
    } else if (c == ' ' || c == '\t' || c == '\r') {
      end_word();
      command_.windows_line_end = command_.windows_line_end || (c == '\r' && next() == '\n');
      ++at_;
    } else if (c == '#' && !in_word_) {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (c == ';' || c == '&' || c == '|' || c == '(' || c == ')') {
      separator(c);
    } else if (c == '<' || c == '>') {
      redirection();
    } else {
      word_part();
    }
  }

  void escape() {
    if (text_.substr(at_, 3) == "\\\r\n") {
      command_.windows_line_end = true;
      ++line_;
      ++at_;
    } else if (next() == '\n') {
      ++line_;
    } else if (next() != '\0') {
      add(next());
    }
    at_ += 2;
  }

  /// `X=(a b)`: its words are not a command.
  void skip_array() {
    lose();
    skip_to(std::min(closing('(', ')', at_) + 1, text_.size()));
  }

  void separator(char c) {
    if (c == '&' && next() == '>') {
      end_word();
      ++at_;
      redirection();
      return;
    }
    end_word();
    if (reads_pattern_) {
      reads_pattern_ = c != ')';
      ++at_;
      return;
    }
    if (c == '(' || c == ')') {
      parenthesis(c);
      return;
    }
    end_command();
    const bool is_double = next() == c;
    at_ += is_double ? 2 : 1;
    if (c == '|' && !is_double && !commands_.empty()) {
      commands_.back().piped = true;
    }
    if (c == '&' && is_double) {
      needs_success_ = true;
      list_optional_ = list_optional_ || commands_.empty() || !surely_succeeds(commands_.back());
    } else if (c == '|' && is_double) {
      const bool is_meant = !gives_up();
      for (auto at = list_start_; at < commands_.size(); ++at) {
        commands_[at].handled = true;
        commands_[at].optional = commands_[at].optional || is_meant;
      }
      list_optional_ = true;
    } else if (c != '|') {
      end_list();
      const bool ends_case = c == ';' && (is_double || here() == '&');
      reads_pattern_ = ends_case && !blocks_.empty() && blocks_.back().kind == Block::Kind::cases;
    }
  }

  /// Returns whether the next commands only end the script: `|| exit 1`, `|| { echo failed; exit 1;
  /// }`.
  bool gives_up() const {
    auto rest = trim(text_.substr(at_, text_.find('\n', at_) - at_));
    if (rest.starts_with('{')) {
      return rest.find("exit") != std::string_view::npos;
    }
    return rest.starts_with("exit") || rest.starts_with("return");
  }

  void parenthesis(char c) {
    const auto after = std::min(text_.find_first_not_of(" \t", at_ + 1), text_.size());
    const bool is_empty = after < text_.size() && text_[after] == ')';
    if (c == '(' && is_empty && !function_.empty() && command_.words.empty()) {
      at_ = after + 1;  // `function name()`
    } else if (c == '(' && is_empty && command_.words.size() == 1 && command_.words.front()) {
      define(*command_.words.front());
      at_ = after + 1;
    } else if (c == '(' && (next() == '(' || !function_.empty())) {
      // Arithmetic, or the rare function whose body is a subshell.
      note_line();
      command_.words.emplace_back();
      skip_to(std::min(closing('(', ')', at_) + 1, text_.size()));
      function_.clear();
    } else {
      end_command();
      if (c == '(') {
        begin_block({.kind = Block::Kind::group});
        ++depth_;
      } else if (depth_ > 0) {
        end_block(Block::Kind::group);
        --depth_;
      }
      ++at_;
    }
  }

  void define(std::string name) {
    note_line();
    commands_.push_back({.words = {name}, .line = command_.line, .defines = true});
    command_ = {};
    function_ = std::move(name);
  }

  void begin_block(Block block) {
    block.list_start = list_start_;
    block.list_optional = list_optional_;
    blocks_.push_back(std::move(block));
    end_list();
  }

  void end_block(Block::Kind kind) {
    if (!blocks_.empty() && blocks_.back().kind == kind) {
      list_start_ = blocks_.back().list_start;
      list_optional_ = blocks_.back().list_optional;
      blocks_.pop_back();
    }
  }

  void end_list() {
    list_start_ = commands_.size();
    list_optional_ = false;
  }

  /// Skips the redirection and its target.
  void redirection() {
    if (!word_.empty() && word_.find_first_not_of("0123456789") == std::string::npos) {
      in_word_ = false;
      word_.clear();
    }
    end_word();
    const bool is_document = here() == '<' && next() == '<' && text_.substr(at_, 3) != "<<<";
    at_ = std::min(text_.find_first_not_of("<>&|", at_), text_.size());
    if (is_document && here() == '-') {
      ++at_;
    }
    skips_word_ = true;
    reads_delimiter_ = is_document;
  }

  void word_part() {
    in_word_ = true;
    switch (here()) {
      case '\'':
        is_quoted_ = true;
        read_single_quotes();
        break;
      case '"':
        is_quoted_ = true;
        read_double_quotes();
        break;
      case '$': expansion(false); break;
      case '`': read_backquotes(); break;
      default: add(text_[at_++]);
    }
  }

  void read_single_quotes() {
    const auto end = std::min(text_.find('\'', at_ + 1), text_.size());
    add(text_.substr(at_ + 1, end - at_ - 1));
    skip_to(std::min(end + 1, text_.size()));
  }

  /// Handles `$'it\'s'`.
  void read_escaped_quotes() {
    auto end = at_ + 2;
    while (end < text_.size() && text_[end] != '\'') {
      end += text_[end] == '\\' ? 2U : 1U;
    }
    end = std::min(end, text_.size());
    is_quoted_ = true;
    add(text_.substr(at_ + 2, end - at_ - 2));
    skip_to(std::min(end + 1, text_.size()));
  }

  void read_double_quotes() {
    for (++at_; at_ < text_.size() && here() != '"';) {
      if (here() == '\\' && at_ + 1 < text_.size()) {
        line_ += next() == '\n' ? 1 : 0;
        if (next() != '\n') {
          add(next());
        }
        at_ += 2;
      } else if (here() == '$') {
        expansion(true);
      } else if (here() == '`') {
        read_backquotes();
      } else {
        line_ += here() == '\n' ? 1 : 0;
        add(text_[at_++]);
      }
    }
    ++at_;
  }

  void read_backquotes() {
    const auto end = std::min(text_.find('`', at_ + 1), text_.size());
    add(variables_.substitute(trim(text_.substr(at_ + 1, end - at_ - 1))));
    skip_to(std::min(end + 1, text_.size()));
  }

  /// Handles `$NAME`, `${NAME...}`, `$(command)`, `$((...))`, `$@`.
  void expansion(bool quoted) {
    if (next() == '(') {
      const auto end = closing('(', ')', at_ + 1);
      add(variables_.substitute(trim(text_.substr(at_ + 2, end - at_ - 2))));
      skip_to(std::min(end + 1, text_.size()));
      return;
    }
    if (next() == '{') {
      const auto end = closing('{', '}', at_ + 1);
      const auto value = variables_.expand_braces(text_.substr(at_ + 2, end - at_ - 2));
      disappears_ = disappears_ || !value;
      add(value.value_or(""));
      skip_to(std::min(end + 1, text_.size()));
      return;
    }
    if (next() == '@' || next() == '*') {
      at_ += 2;
      disappears_ = true;
      return;
    }
    auto end = at_ + 1;
    while (end < text_.size() && is_variable_character(text_[end])) {
      ++end;
    }
    if (!quoted && next() == '\'') {
      read_escaped_quotes();
      return;
    }
    if (!quoted && next() == '"') {
      ++at_;
      return;
    }
    if (end == at_ + 1) {
      // `$?`, `$#`, or a literal dollar.
      quoted ? add('$') : lose();
      at_ += quoted ? 1 : 2;
      return;
    }
    add(variables_.value(std::string{text_.substr(at_ + 1, end - at_ - 1)}));
    at_ = end;
  }

  std::size_t closing(char open, char close, std::size_t from) const {
    int depth = 0;
    char quote = '\0';
    for (auto at = from; at < text_.size(); ++at) {
      const char c = text_[at];
      if (c == '\\') {
        ++at;
      } else if (quote == '\'') {
        quote = c == '\'' ? '\0' : quote;
      } else if (c == '\'') {
        quote = c;
      } else if (c == open) {
        ++depth;
      } else if (c == close && --depth == 0) {
        return at;
      }
    }
    return text_.size();
  }

  void skip_to(std::size_t end) {
    end = std::min(end, text_.size());
    line_ += static_cast<int>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                         text_.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
    at_ = end;
  }

  void add(char c) { add(std::string_view{&c, 1}); }

  void lose() { add(unknown_part); }

  void add(std::string_view text) {
    in_word_ = true;
    word_ +=
        word_.size() + text.size() <= longest_value ? text : std::string_view{&unknown_part, 1};
  }

  void end_word() {
    const bool vanishes = disappears_ && word_.empty();
    if (in_word_ && skips_word_) {
      if (reads_delimiter_) {
        documents_.push_back(word_);
      } else if (known_word(word_)) {
        command_.files.push_back(word_);
      }
      skips_word_ = reads_delimiter_ = false;
    } else if (in_word_ && !vanishes) {
      take_word();
    } else if (in_word_ && command_.words.empty() && !reads_pattern_) {
      // `"$@"` as the program
      note_line();
      command_.words.emplace_back();
    }
    in_word_ = disappears_ = is_quoted_ = false;
    word_.clear();
  }

  void take_word() {
    if (reads_pattern_) {
      if (word_ == "esac") {
        reads_pattern_ = false;
        end_block(Block::Kind::cases);
      }
      return;
    }
    if (defines_next_) {
      defines_next_ = false;
      define(word_);
      return;
    }
    if (command_.words.empty() && begins_command()) {
      return;
    }
    note_line();
    if (command_.words.size() > 1 && command_.words.front() == "case" && word_ == "in") {
      end_command();
      reads_pattern_ = true;
      return;
    }
    in_test_ = in_test_ && word_ != "]]";
    if (declares_variables(command_)) {
      const auto equals = std::min(word_.find('='), word_.size());
      const auto name = assigned_variable(std::string_view{word_}.substr(0, equals));
      if (name && equals < word_.size()) {
        command_.assignments[*name] = word_.substr(equals + 1);
        return;
      }
    }
    if (is_quoted_ || word_.find_first_of(" \t\n") == std::string::npos) {
      command_.words.push_back(known_word(word_));
      return;
    }
    // An unquoted variable is split: `CMD="torchrun --standalone"; $CMD train.py`.
    for (const auto& part : split(replace_all(replace_all(word_, "\n", " "), "\t", " "), ' ')) {
      if (!part.empty()) {
        command_.words.push_back(known_word(part));
      }
    }
  }

  /// Consumes an assignment or a keyword before a command. Returns false for a word of the command.
  bool begins_command() {
    const auto equals = word_.find('=');
    const auto name = equals == std::string::npos
                          ? std::nullopt
                          : assigned_variable(std::string_view{word_}.substr(0, equals));
    if (name) {
      const bool is_whole = word_.compare(0, equals, *name) == 0;
      command_.assignments[*name] = is_whole ? word_.substr(equals + 1) : std::string{unknown_part};
      note_line();
      return true;
    }
    if (is_quoted_) {
      return false;
    }
    if (word_ == "function") {
      defines_next_ = true;
      return true;
    }
    in_test_ = word_ == "[[";
    if (word_ == "for" || word_ == "select") {
      begin_block({.kind = Block::Kind::loop});
    } else if (word_ == "case") {
      begin_block({.kind = Block::Kind::cases, .optional = true});
    }
    if (!is_keyword(word_)) {
      function_.clear();
      return false;
    }
    take_keyword();
    return true;
  }

  void take_keyword() {
    if (word_ == "if") {
      begin_block({.kind = Block::Kind::branch, .optional = true});
    } else if (word_ == "fi") {
      end_block(Block::Kind::branch);
    } else if (word_ == "while" || word_ == "until") {
      begin_block({.kind = Block::Kind::loop, .optional = true});
    } else if (word_ == "done") {
      end_block(Block::Kind::loop);
    } else if (word_ == "{") {
      begin_block({.kind = Block::Kind::group, .function = std::exchange(function_, {})});
    } else if (word_ == "}") {
      end_block(Block::Kind::group);
    } else if (word_ == "esac") {
      end_block(Block::Kind::cases);
    } else if (word_ == "!") {
      is_negated_ = true;
    }
  }

  void note_line() { command_.line = command_.line == 0 ? line_ : command_.line; }

  void end_command() {
    skips_word_ = in_test_ = false;
    if (command_.line > 0) {
      variables_.settle(command_);
      command_.in_subshell = depth_ > 0;
      command_.after_success = std::exchange(needs_success_, false);
      place_command();
      commands_.push_back(std::move(command_));
    }
    command_ = {};
    is_negated_ = false;
  }

  /// Determines whether the command surely runs, and in which function.
  void place_command() {
    command_.optional = is_negated_ || list_optional_ || has_ended_;
    auto block = blocks_.rbegin();
    for (; block != blocks_.rend() && block->function.empty(); ++block) {
      command_.optional = command_.optional || block->optional || block->list_optional;
    }
    if (block != blocks_.rend()) {
      command_.function = block->function;
    }
    const auto& words = command_.words;
    const bool ends = !words.empty() &&
                      (words.front() == "exit" || (words.front() == "exec" && words.size() > 1));
    has_ended_ = has_ended_ ||
                 (ends && !command_.optional && !command_.in_subshell && command_.function.empty());
  }

  void skip_documents() {
    for (const auto& delimiter : documents_) {
      while (at_ < text_.size()) {
        const auto end = std::min(text_.find('\n', at_), text_.size());
        const bool is_end = trim(text_.substr(at_, end - at_)) == delimiter;
        skip_to(std::min(end + 1, text_.size()));
        if (is_end) {
          break;
        }
      }
    }
    documents_.clear();
  }

  std::string_view text_;
  std::size_t at_{0};
  int line_{1};
  int depth_{0};
  std::string word_;
  bool in_word_{false};
  bool is_quoted_{false};
  bool disappears_{false};       ///< the word contains `"$@"`
  bool skips_word_{false};       ///< the next word is a redirection's
  bool reads_delimiter_{false};  ///< of a here-document
  bool reads_pattern_{false};    ///< of `case`
  bool in_test_{false};          ///< between `[[` and `]]`
  bool defines_next_{false};     ///< the next word is a function's name
  bool needs_success_{false};    ///< the next command comes after `&&`
  bool is_negated_{false};       ///< by `!`
  bool has_ended_{false};        ///< by `exit` or `exec`
  std::string function_;         ///< of the next body
  std::vector<Block> blocks_;
  std::size_t list_start_{0};  ///< the first command of the list that `&&` and `||` join
  bool list_optional_{false};  ///< its next command may not run
  std::vector<std::string> documents_;
  ShellCommand command_;
  ShellVariables variables_;
  std::vector<ShellCommand> commands_;
};

}  // namespace

bool is_variable_name(std::string_view name) {
  return !name.empty() && !is_digit(name.front()) && is_alphanumeric(name, "_");
}

std::vector<ShellCommand> read_shell(std::string_view text, const std::string& directory) {
  return ShellReader{text, directory}.read();
}

}  // namespace autopack::project
