#include "project/shell_commands.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <array>

namespace autopack::project {

namespace {

constexpr std::size_t most_commands{5000};
constexpr std::size_t longest_value{4096};

bool is_name_character(char c) {
  return is_alphanumeric({&c, 1}, "_");
}

bool is_variable_name(std::string_view name) {
  return !name.empty() && name.find_first_of("0123456789") != 0 && is_alphanumeric(name, "_");
}

ShellWord known(const std::string& word) {
  return word.find(unknown_part) == std::string::npos ? ShellWord{word} : std::nullopt;
}

bool is_keyword(const std::string& word) {
  static constexpr std::array<std::string_view, 12> words{
      "if", "then", "else", "elif", "fi", "do", "done", "while", "until", "!", "{", "}"};
  return std::find(words.begin(), words.end(), word) != words.end();
}

class ShellReader {
public:
  ShellReader(std::string_view text, const std::string& directory)
      : text_{text}, directory_{directory.empty() ? "." : directory} {}

  std::vector<ShellCommand> read() {
    while (at_ < text_.size() && commands_.size() < most_commands) {
      step();
    }
    end_word();
    end_command();
    return std::move(commands_);
  }

private:
  char here() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  char next() const { return at_ + 1 < text_.size() ? text_[at_ + 1] : '\0'; }

  void step() {
    const char c = here();
    if (c == '\\') {
      escape();
    } else if (c == '\n') {
      end_word();
      end_command();
      ++at_;
      ++line_;
      skip_documents();
    } else if (c == ' ' || c == '\t' || c == '\r') {
      end_word();
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
    if (next() == '\n') {
      ++line_;
    } else if (next() != '\0') {
      add(next());
    }
    at_ += 2;
  }

  void separator(char c) {
    if (c == '&' && next() == '>') {
      end_word();
      ++at_;
      redirection();
      return;
    }
    end_word();
    end_command();
    depth_ += c == '(' ? 1 : c == ')' && depth_ > 0 ? -1 : 0;
    ++at_;
  }

  /// Leaves out the redirection and its target.
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
        single_quoted();
        break;
      case '"':
        is_quoted_ = true;
        double_quoted();
        break;
      case '$': expansion(false); break;
      case '`': backquoted(); break;
      default: add(text_[at_++]);
    }
  }

  void single_quoted() {
    const auto end = std::min(text_.find('\'', at_ + 1), text_.size());
    add(text_.substr(at_ + 1, end - at_ - 1));
    skip_to(std::min(end + 1, text_.size()));
  }

  void double_quoted() {
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
        backquoted();
      } else {
        line_ += here() == '\n' ? 1 : 0;
        add(text_[at_++]);
      }
    }
    ++at_;
  }

  void backquoted() {
    const auto end = std::min(text_.find('`', at_ + 1), text_.size());
    substitute(trim(text_.substr(at_ + 1, end - at_ - 1)));
    skip_to(std::min(end + 1, text_.size()));
  }

  /// `$NAME`, `${NAME...}`, `$(command)`, `$((...))`, `$@`.
  void expansion(bool quoted) {
    if (next() == '(') {
      const auto end = closing('(', ')', at_ + 1);
      substitute(trim(text_.substr(at_ + 2, end - at_ - 2)));
      skip_to(std::min(end + 1, text_.size()));
      return;
    }
    if (next() == '{') {
      const auto end = closing('{', '}', at_ + 1);
      braced(text_.substr(at_ + 2, end - at_ - 2));
      skip_to(std::min(end + 1, text_.size()));
      return;
    }
    if (next() == '@' || next() == '*') {
      at_ += 2;
      disappears_ = true;
      return;
    }
    auto end = at_ + 1;
    while (end < text_.size() && is_name_character(text_[end])) {
      ++end;
    }
    if (end == at_ + 1) {
      // `$?`, `$#`, or a dollar that stands for itself.
      quoted ? add('$') : lose();
      at_ += quoted ? 1 : 2;
      return;
    }
    add_variable(std::string{text_.substr(at_ + 1, end - at_ - 1)}, std::nullopt);
    at_ = end;
  }

  void braced(std::string_view inside) {
    const auto end = std::find_if_not(inside.begin(), inside.end(), is_name_character);
    const std::string name{inside.begin(), end};
    const std::string_view rest = inside.substr(name.size());
    if (name == "BASH_SOURCE") {
      add_variable("0", std::nullopt);
    } else if (rest.empty()) {
      add_variable(name, std::nullopt);
    } else if (rest.starts_with(":-") || rest.starts_with(":=")) {
      const auto value = rest.substr(2);
      const bool is_plain = value.find_first_of("$`\"'\\") == std::string_view::npos;
      add_variable(name, is_plain ? ShellWord{std::string{value}} : std::nullopt);
    } else if (inside == "@" || inside == "*" || rest.starts_with("[@]") ||
               rest.starts_with("[*]")) {
      disappears_ = true;
    } else {
      lose();
    }
  }

  /// `instead` stands for a variable that the script does not set.
  void add_variable(const std::string& name, const ShellWord& instead) {
    if (name == "PWD") {
      add(std::string_view{"."});
      return;
    }
    if (name == "0") {
      add(directory_ + "/script");
      return;
    }
    const auto set = variables_.find(name);
    if (set != variables_.end()) {
      add(set->second);
    } else if (instead) {
      add(*instead);
    } else if (name == "PYTHONPATH") {
      add(std::string_view{});  // most often not set
    } else {
      lose();
    }
  }

  void substitute(std::string_view command) {
    const bool own_directory = command.find("dirname") != std::string_view::npos &&
                               (command.find("$0") != std::string_view::npos ||
                                command.find("BASH_SOURCE") != std::string_view::npos);
    if (own_directory) {
      add(directory_ + parent_steps(command));
    } else if (command == "pwd" || command == "git rev-parse --show-toplevel") {
      add(std::string_view{"."});
    } else {
      lose();
    }
  }

  /// `/..` of `cd "$(dirname "$0")/.." && pwd`.
  static std::string parent_steps(std::string_view command) {
    std::string steps;
    for (auto at = command.find("/.."); at != std::string_view::npos;
         at = command.find("/..", at + 3)) {
      steps += "/..";
    }
    return steps;
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
      }
      skips_word_ = reads_delimiter_ = false;
    } else if (in_word_ && !vanishes) {
      take_word();
    }
    in_word_ = disappears_ = is_quoted_ = false;
    word_.clear();
  }

  void take_word() {
    if (command_.words.empty()) {
      const auto equals = word_.find('=');
      if (equals != std::string::npos && is_variable_name(word_.substr(0, equals))) {
        command_.assignments[word_.substr(0, equals)] = word_.substr(equals + 1);
        note_line();
        return;
      }
      if (is_keyword(word_)) {
        return;
      }
    }
    note_line();
    if (is_quoted_ || word_.find_first_of(" \t\n") == std::string::npos) {
      command_.words.push_back(known(word_));
      return;
    }
    // A variable without quotes around it is split: `CMD="torchrun --standalone"; $CMD train.py`.
    for (const auto& part : split(replace_all(replace_all(word_, "\n", " "), "\t", " "), ' ')) {
      if (!part.empty()) {
        command_.words.push_back(known(part));
      }
    }
  }

  void note_line() { command_.line = command_.line == 0 ? line_ : command_.line; }

  void end_command() {
    skips_word_ = false;
    if (command_.line > 0) {
      settle_variables();
      command_.in_subshell = depth_ > 0;
      commands_.push_back(std::move(command_));
    }
    command_ = {};
  }

  /// What the command sets for those after it.
  void settle_variables() {
    auto& words = command_.words;
    static constexpr std::array<std::string_view, 5> declarations{"export", "declare", "local",
                                                                  "readonly", "typeset"};
    const bool declares =
        !words.empty() && words.front() &&
        std::find(declarations.begin(), declarations.end(), *words.front()) != declarations.end();
    if (declares) {
      for (const auto& word : words) {
        const auto equals = word ? word->find('=') : std::string::npos;
        if (equals != std::string::npos) {
          command_.assignments[word->substr(0, equals)] = word->substr(equals + 1);
        }
      }
      words.clear();
    } else if (!words.empty() && words.front() == "for" && words.size() > 1 && words[1]) {
      variables_[*words[1]] = unknown_part;
    } else if (!words.empty() && words.front() == "read") {
      for (const auto& word : words) {
        variables_[word.value_or("")] = unknown_part;
      }
    }
    if (words.empty()) {
      for (const auto& [name, value] : command_.assignments) {
        const auto before = variables_.find(name);
        // Set twice, as in two branches: which of them holds is not known.
        const bool differs = before != variables_.end() && before->second != value;
        variables_[name] = differs ? std::string{unknown_part} : value;
      }
    }
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
  std::string directory_;
  std::size_t at_{0};
  int line_{1};
  int depth_{0};
  std::string word_;
  bool in_word_{false};
  bool is_quoted_{false};
  bool disappears_{false};       ///< the word holds `"$@"`
  bool skips_word_{false};       ///< the next word is a redirection's
  bool reads_delimiter_{false};  ///< of a here-document
  std::vector<std::string> documents_;
  ShellCommand command_;
  std::map<std::string, std::string> variables_;  ///< what is not known in them is unknown_part
  std::vector<ShellCommand> commands_;
};

}  // namespace

std::vector<ShellCommand> read_shell(std::string_view text, const std::string& directory) {
  return ShellReader{text, directory}.read();
}

}  // namespace autopack::project
