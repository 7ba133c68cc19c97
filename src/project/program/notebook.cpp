#include "project/program/notebook.hpp"

#include "base/contains.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "project/code/python_file.hpp"
#include "project/code/python_tokens.hpp"
#include "project/findings.hpp"
#include "project/requirements/requirement_lines.hpp"
#include "source/tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

// IPython rewrites a cell before Python sees it: lines that begin with `%` or `!` become calls.
// A program has no such calls, so each of them is translated, dropped or refused. Each line of a
// cell stays one line.

namespace autopack::project {

namespace {

using nlohmann::json;

/// In bytes. Outputs with pictures take most of it.
constexpr std::uint64_t largest_notebook{64'000'000};
constexpr std::size_t most_cells{10'000};
constexpr std::string_view notebook_suffix{".ipynb"};
/// In the head of a Dockerfile that autopack generated: the notebook of its program.
constexpr std::string_view dockerfile_line{"# autopack-notebook: "};

/// Magics without an effect on a program.
constexpr std::array<std::string_view, 9> dropped{
    "%config",         "%autoreload",        "%load_ext autoreload",
    "%aimport",        "%matplotlib inline", "%reload_ext autoreload",
    "%matplotlib agg", "%matplotlib widget", "%matplotlib notebook"};

/// Options of pip that requirements files have, too.
constexpr std::array<std::string_view, 12> line_options{
    "-i", "--index-url",  "--extra-index-url", "-f",          "--find-links",  "-r",
    "-c", "--constraint", "--requirement",     "--no-binary", "--only-binary", "--trusted-host"};
constexpr std::array<std::string_view, 3> line_switches{"--no-index", "--pre", "--prefer-binary"};
/// Options of pip that do not change what an empty environment gets.
constexpr std::array<std::string_view, 13> idle_options{"--quiet",
                                                        "--upgrade",
                                                        "--user",
                                                        "--no-cache-dir",
                                                        "--verbose",
                                                        "--no-input",
                                                        "--no-cache",
                                                        "--yes",
                                                        "--disable-pip-version-check",
                                                        "--break-system-packages",
                                                        "--ignore-installed",
                                                        "--force-reinstall",
                                                        "--no-warn-script-location"};
constexpr std::array<std::string_view, 5> idle_options_with_value{
    "--root-user-action", "--progress-bar", "--upgrade-strategy", "--timeout", "--retries"};

constexpr bool is_blank_or_tab(char c) {
  return c == ' ' || c == '\t';
}

/// Removes `word` from the beginning of `text` if it is the first word.
bool drop_word(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word) ||
      (text.size() > word.size() && !is_blank_or_tab(text[word.size()]))) {
    return false;
  }
  text = trim(text.substr(word.size()));
  return true;
}

/// Returns the arguments of `pip install` in a command; nothing for another command.
std::optional<std::string_view> pip_arguments(std::string_view command) {
  for (const std::string_view program : {"python", "python3", "{sys.executable}"}) {
    if (drop_word(command, program)) {
      return drop_word(command, "-m") && drop_word(command, "pip") && drop_word(command, "install")
                 ? std::optional{command}
                 : std::nullopt;
    }
  }
  const bool is_pip = drop_word(command, "pip") || drop_word(command, "pip3");
  return is_pip && drop_word(command, "install") ? std::optional{command} : std::nullopt;
}

/// Removes a comment, and redirections of the output to `/dev/null`.
std::string_view without_redirection(std::string_view command) {
  command = trim(command.substr(0, std::min(command.find(" #"), command.size())));
  for (bool is_found = true; is_found;) {
    is_found = false;
    for (const std::string_view end : {"2>&1", "&>/dev/null", "&> /dev/null", "2>/dev/null",
                                       "2> /dev/null", ">/dev/null", "> /dev/null"}) {
      if (command.ends_with(end)) {
        command = trim(command.substr(0, command.size() - end.size()));
        is_found = true;
      }
    }
  }
  return command;
}

/// Returns true if a shell does more with `command` than to split it into words.
bool needs_shell(std::string_view command) {
  char quote = '\0';
  for (const char c : command) {
    if (c == '$' || c == '{' || c == '`' || c == '\\' ||
        (quote == '\0' && std::string_view{";|&<>()*?"}.find(c) != std::string_view::npos)) {
      return true;
    }
    if (c == '"' || c == '\'') {
      quote = quote == '\0' ? c : quote == c ? '\0' : quote;
    }
  }
  return false;
}

std::string remedy_for(std::string_view magic) {
  if (magic.starts_with("!apt") || magic.starts_with("!sudo apt")) {
    return "`--system-packages=NAME,...` installs Debian packages into the image";
  }
  if (magic.starts_with("%cd")) {
    return "`os.chdir(...)`";
  }
  if (magic.starts_with("%run")) {
    return "import what the other file defines";
  }
  if (magic.starts_with("%%writefile") || magic.starts_with("%%file")) {
    return "keep the file beside the notebook";
  }
  if (magic.starts_with("!") || magic.starts_with("%%bash") || magic.starts_with("%%sh")) {
    return "`subprocess.run(...)`, or leave it out";
  }
  return "leave it out, or write it in Python";
}

/// Follows the lines of Python from statement to statement.
class StatementLines {
public:
  bool begin_statement() const { return depth_ == 0 && quote_.empty() && !is_continued_; }

  /// Reads a line, and returns a character with which Python does nothing, but IPython does.
  std::optional<char> read(std::string_view line) {
    std::optional<char> odd;
    is_continued_ = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
      const char c = line[i];
      if (!quote_.empty()) {
        if (c == '\\') {
          ++i;
        } else if (line.substr(i).starts_with(quote_)) {
          i += quote_.size() - 1;
          quote_.clear();
        }
      } else if (c == '#') {
        break;
      } else if (c == '"' || c == '\'') {
        const std::string three(3, c);
        quote_ = line.substr(i).starts_with(three) ? three : std::string(1, c);
        i += quote_.size() - 1;
      } else if (c == '(' || c == '[' || c == '{') {
        ++depth_;
      } else if ((c == ')' || c == ']' || c == '}') && depth_ > 0) {
        --depth_;
      } else if (c == '?') {
        odd = c;
      } else if (c == '=') {
        const auto value = trim(line.substr(i + 1));
        odd = value.starts_with('!') || value.starts_with('%') ? value.front() : odd;
      } else if (c == '\\' && i + 1 == line.size()) {
        is_continued_ = true;
      }
    }
    if (quote_.size() == 1 && !line.ends_with('\\')) {
      quote_.clear();  // an error of its own, which ends with its line
    }
    return odd;
  }

private:
  int depth_{0};
  std::string quote_{};
  bool is_continued_{false};
};

class Translator {
public:
  TranslatedNotebook run(std::string_view text) {
    // Pictures take most of a notebook.
    const auto document = parse_json(text, [](int, json::parse_event_t event, const json& value) {
      return event != json::parse_event_t::key || (value != "outputs" && value != "attachments");
    });
    if (!check(document)) {
      return std::move(result_);
    }
    const auto& cells = document["cells"];
    for (std::size_t i = 0; i < cells.size() && result_.program.size() <= largest_program; ++i) {
      cell_ = static_cast<int>(i) + 1;
      if (text_at(cells[i], "cell_type") == "code") {
        translate_cell(source_of(cells[i]));
      }
    }
    cell_ = 0;
    if (result_.program.size() > largest_program) {
      result_.faults.clear();
      refuse(0, fmt::format("its code is larger than {}", human_size(largest_program)));
    } else if (starts_.empty()) {
      refuse(0, "it has no code cells");
    } else {
      check_names();
    }
    std::ranges::stable_sort(result_.faults, {}, [](const NotebookFault& fault) {
      return std::pair{fault.cell, fault.line};
    });
    return std::move(result_);
  }

private:
  void refuse(int line, std::string message, std::vector<std::string> hints = {}) {
    result_.faults.push_back({std::move(message), cell_, line, std::move(hints)});
  }

  bool check(const json& document) {
    const auto format = document.is_object() ? document.find("nbformat") : document.end();
    if (format == document.end() || !format->is_number_integer()) {
      refuse(0, "it is not a notebook: not JSON with an `nbformat`");
      return false;
    }
    if (*format != 4) {
      refuse(0, fmt::format("its nbformat is {}, not 4", format->dump()),
             {"`jupyter nbconvert --to notebook --nbformat 4 --inplace FILE` converts it"});
      return false;
    }
    const auto metadata = document.value("metadata", json::object());
    for (const auto& [table, key] :
         {std::pair{"kernelspec", "language"}, std::pair{"language_info", "name"}}) {
      const auto language = metadata.is_object() && metadata.contains(table)
                                ? to_lower(text_at(metadata[table], key))
                                : std::string{};
      if (!language.empty() && language != "python") {
        refuse(0, fmt::format("its language is `{}`, not Python", printable(language)));
        return false;
      }
    }
    const auto cells = document.find("cells");
    if (cells == document.end() || !cells->is_array() || cells->size() > most_cells) {
      refuse(0, cells != document.end() && cells->is_array()
                    ? fmt::format("it has more than {} cells", most_cells)
                    : "it has no list of cells");
      return false;
    }
    return true;
  }

  std::string source_of(const json& cell) {
    const auto source = cell.find("source");
    std::string text;
    if (source != cell.end() && source->is_string()) {
      text = source->get<std::string>();
    } else if (source != cell.end() && source->is_array()) {
      for (const auto& line : *source) {
        text += line.is_string() ? line.get<std::string>() : std::string{};
      }
    }
    if (text.find('\0') != std::string::npos) {
      refuse(1, "the cell contains a zero byte");
    }
    return replace_all(text, "\r", "");
  }

  void translate_cell(const std::string& source) {
    auto& program = result_.program;
    const auto before = program.size();
    program += fmt::format("{}# %% [cell {}]\n", before == 0 ? "" : "\n", cell_);
    if (source.size() > largest_program) {
      program += source;  // refused as a whole
      return;
    }
    line_ += before == 0 ? 1 : 2;
    starts_.emplace_back(line_, cell_);
    const auto lines = split(source, '\n');
    line_ += static_cast<int>(lines.size());
    StatementLines statements;
    bool may_be_cell_magic = true;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const std::string_view line{lines[i]};
      const auto text = trim(line);
      const auto number = static_cast<int>(i) + 1;
      if (!statements.begin_statement() || text.empty() || text.front() == '#') {
        read_python(statements, line, number);
        continue;
      }
      if (text.starts_with("%%")) {
        if (!read_cell_magic(text, number, may_be_cell_magic)) {
          program += std::string(lines.size() - i, '\n');
          return;  // the rest is not Python
        }
        continue;
      }
      may_be_cell_magic = false;
      const auto indent = line.substr(0, line.find(text.front()));
      if (text.front() == '%' || text.front() == '!' || text.starts_with("pip install ")) {
        std::string whole{text};
        std::size_t more = 0;
        while (whole.ends_with('\\') && i + 1 < lines.size()) {
          whole.back() = ' ';
          whole += trim(lines[++i]);
          ++more;
        }
        program +=
            translate_magic(whole, std::string{indent}, number) + "\n" + std::string(more, '\n');
      } else if (std::string_view{"?,;/"}.find(text.front()) != std::string_view::npos) {
        refuse_magic(text, number);
        program += "\n";
      } else {
        read_python(statements, line, number);
      }
    }
    if (!statements.begin_statement()) {
      refuse(static_cast<int>(lines.size()), "the cell ends within a statement");
    }
  }

  /// A program may have `from __future__ import` only at its beginning, but each cell of a notebook
  /// has a beginning. Of its features only `annotations` still has an effect.
  bool is_idle_future_import(std::string_view text, int line) {
    constexpr std::string_view start{"from __future__ import "};
    if (!text.starts_with(start)) {
      return false;
    }
    const bool has_effect = text.find("annotations") != std::string_view::npos;
    if (has_effect && starts_.size() > 1) {
      refuse(line, "`from __future__ import annotations` is not in the first cell",
             {"move it to the beginning of the first cell"});
    }
    return !has_effect && text.find_first_of("(\\;") == std::string_view::npos;
  }

  void read_python(StatementLines& statements, std::string_view line, int number) {
    if (statements.begin_statement() && is_idle_future_import(line, number)) {
      result_.program += fmt::format("# {}\n", line);
      return;
    }
    if (statements.read(line)) {
      refuse_magic(trim(line), number);
    }
    result_.program += std::string{line} + "\n";
  }

  void refuse_magic(std::string_view text, int line) {
    refuse(line, fmt::format("`{}` is a command of a notebook", printable(text.substr(0, 80))),
           {remedy_for(text)});
  }

  bool read_cell_magic(std::string_view text, int line, bool is_first) {
    auto rest = text;
    if (!is_first || (!drop_word(rest, "%%time") && !drop_word(rest, "%%capture"))) {
      refuse_magic(text, line);
      return false;
    }
    result_.program += fmt::format("# {}\n", text);
    return true;
  }

  /// Returns the line of the program.
  std::string translate_magic(std::string_view text, const std::string& indent, int line) {
    const bool is_command = text.starts_with('!');
    auto rest = is_command ? trim(text.substr(1)) : text;
    if (drop_word(rest, "%time") && !rest.empty()) {
      return rest.front() == '%' || rest.front() == '!' ? translate_magic(rest, indent, line)
                                                        : indent + std::string{rest};
    }
    if (drop_word(rest, "%env") || drop_word(rest, "%set_env")) {
      return indent + environment_line(text, rest, line);
    }
    const auto command = is_command || !rest.starts_with('%') ? rest : rest.substr(1);
    if (const auto arguments = pip_arguments(command)) {
      read_installation(text, without_redirection(*arguments), line);
    } else if (!std::ranges::any_of(dropped, [&](std::string_view one) {
                 auto magic = text;
                 return drop_word(magic, one);
               })) {
      refuse_magic(text, line);
    }
    // A block needs a statement.
    return fmt::format("{}{}# {}", indent, indent.empty() ? "" : "pass  ", text);
  }

  std::string environment_line(std::string_view text, std::string_view rest, int line) {
    const auto at = rest.find_first_of(rest.find('=') == std::string_view::npos ? " \t" : "=");
    const auto name = trim(rest.substr(0, at));
    if (at == std::string_view::npos || !is_alphanumeric(name, "_") ||
        rest.find_first_of("${") != std::string_view::npos) {
      refuse_magic(text, line);
      return "pass";
    }
    return fmt::format("import os; os.environ[{}] = {}", double_quoted(name),
                       double_quoted(trim(rest.substr(at + 1))));
  }

  void read_installation(std::string_view text, std::string_view arguments, int line) {
    const auto words = needs_shell(arguments) ? std::nullopt : split_words(arguments);
    if (!words) {
      refuse(line,
             fmt::format("`{}` needs a shell, so its requirements are unknown", printable(text)),
             {"quote a requirement with `<`, `>` or `;`: `%pip install 'numpy<2'`",
              "write the requirements into requirements.txt"});
      return;
    }
    const auto keep = [&](std::string one) {
      result_.lines.push_back({.text = std::move(one), .cell = cell_, .line = line});
    };
    for (std::size_t i = 0; i < words->size(); ++i) {
      const std::string& word = words->at(i);
      if (!word.starts_with('-')) {
        keep(word);
        continue;
      }
      const auto equals = word.starts_with("--") ? word.find('=') : std::string::npos;
      const auto option = word.substr(0, equals);
      const bool is_for_line = contains(line_options, option);
      const bool is_editable = option == "-e" || option == "--editable";
      std::optional<std::string> value;
      if (equals != std::string::npos) {
        value = word.substr(equals + 1);
      } else if ((is_for_line || is_editable || contains(idle_options_with_value, option)) &&
                 i + 1 < words->size()) {
        value = words->at(++i);
      }
      const bool is_short = word.find_first_not_of("-qUvIy") == std::string::npos;
      const bool is_idle = contains(idle_options, option) ||
                           contains(idle_options_with_value, option) ||
                           (is_short && !word.starts_with("--"));
      if (is_editable && value) {
        keep(*value);
      } else if (is_for_line && value && value->find_first_of(" \t#") == std::string::npos) {
        keep(fmt::format("{} {}", option, *value));
      } else if (contains(line_switches, option)) {
        keep(option);
      } else if (!is_idle) {
        refuse(line,
               fmt::format("`{}` of pip has no place in a requirements file", printable(word)),
               {"leave it out"});
      }
    }
  }

  /// Refuses names that only a notebook has, and `await` outside of functions.
  void check_names() {
    const auto tokens = tokenize_python(result_.program);
    std::optional<int> function;  // the column of the function around
    std::vector<int> displays;
    bool has_display = false;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const Token& token = tokens[i];
      const bool begins = i == 0 || tokens[i - 1].kind == Token::Kind::line_end;
      const auto is_next = [&](std::string_view name) {
        return i + 1 < tokens.size() && (tokens[i + 1].is_name(name) || tokens[i + 1].is(name));
      };
      if (begins && token.kind != Token::Kind::line_end) {
        if (function && token.column <= *function) {
          function.reset();
        }
        const bool is_function = token.is_name("def") || (token.is_name("async") && is_next("def"));
        if (is_function && !function) {
          function = token.column;
        }
      }
      if (!function && (token.is_name("await") || token.is_name("async"))) {
        refuse_name(token.line, fmt::format("`{}` is outside of a function", token.text),
                    "`asyncio.run(main())` runs a function `async def main():`");
      } else if (token.is_name("get_ipython")) {
        refuse_name(token.line, "`get_ipython()` exists only in a notebook",
                    "leave it out, or write it in Python");
      } else if (token.is_name("display")) {
        const bool is_attribute = i > 0 && tokens[i - 1].is(".");
        const bool is_call = is_next("(") && (i == 0 || !tokens[i - 1].is_name("def"));
        has_display = has_display || (!is_attribute && !is_call);
        if (is_call && !is_attribute) {
          displays.push_back(token.line);
        }
      }
    }
    for (const int line : has_display ? std::vector<int>{} : displays) {
      refuse_name(line, "only a notebook has `display()` without an import",
                  "`print(...)`, or `from IPython.display import display`");
    }
  }

  /// `line` is that of the program.
  void refuse_name(int line, std::string message, std::string hint) {
    const auto cell = std::ranges::find_if(starts_.rbegin(), starts_.rend(),
                                           [&](const auto& start) { return start.first < line; });
    cell_ = cell == starts_.rend() ? 0 : cell->second;
    refuse(cell == starts_.rend() ? 0 : line - cell->first, std::move(message), {std::move(hint)});
  }

  TranslatedNotebook result_{};
  int cell_{0};
  int line_{0};                                ///< of the program, so far
  std::vector<std::pair<int, int>> starts_{};  ///< the line above each cell's first, and the cell
};

/// Returns the notebook that the Dockerfile of `request` names; nothing if it names none.
std::optional<std::string> notebook_of_dockerfile(const source::Tree& tree,
                                                  const Request& request) {
  const auto& file = request.dockerfile.value();
  const auto inside = path_in_tree(request, file.string());
  std::error_code ignored;
  std::string text;
  if (inside && tree.find(*inside)) {
    text = tree.read(*inside);
  } else if (std::filesystem::is_regular_file(file, ignored)) {
    text = read_file(file);
  }
  for (const auto& line : split(text, '\n')) {
    if (line.starts_with(dockerfile_line)) {
      return line.substr(dockerfile_line.size());
    }
  }
  return std::nullopt;
}

Error not_translated(const std::string& file, std::string message, std::vector<std::string> hints) {
  return Error(ErrorKind::project,
               Problems{{.message = fmt::format("cannot run `{}`: {}", printable(file), message),
                         .hints = std::move(hints)}});
}

}  // namespace

TranslatedNotebook translate_notebook(std::string_view text) {
  return Translator{}.run(text);
}

std::shared_ptr<const source::Tree> with_notebook(std::shared_ptr<const source::Tree> tree,
                                                  Request& request) {
  const auto named =
      request.dockerfile ? notebook_of_dockerfile(*tree, request) : std::optional<std::string>{};
  const auto asked = request.dockerfile ? named : request.script;
  const auto path =
      asked && asked->ends_with(notebook_suffix) ? path_in_tree(request, *asked) : std::nullopt;
  const auto place = path ? Findings{*tree, source::Selection{}}.follow(*path) : Place{};
  if (!place.is_file() || !place.entry.path.ends_with(notebook_suffix)) {
    if (named) {
      throw Error(ErrorKind::project, fmt::format("`{}`, whose cells the Dockerfile runs, is not a "
                                                  "notebook in this project",
                                                  printable(*named)))
          .hint("`autopack dockerfile --script=NOTEBOOK -o FILE` writes the Dockerfile again");
    }
    return tree;
  }
  const auto& file = place.entry.path;
  const auto script = file.substr(0, file.size() - notebook_suffix.size()) + ".py";
  if (tree->find(script)) {
    throw not_translated(file, fmt::format("its program would replace `{}`", printable(script)),
                         {"--script=" + shell_quote(script), "rename one of them"});
  }
  if (place.entry.size > largest_notebook) {
    throw not_translated(file, fmt::format("it is larger than {}", human_size(largest_notebook)),
                         {"clear its outputs"});
  }
  auto translated = translate_notebook(tree->read(file));
  Problems problems;
  for (auto& [message, cell, line, hints] : translated.faults) {
    if (cell == 0) {
      throw not_translated(file, message, std::move(hints));
    }
    problems.push_back({.message = std::move(message),
                        .origin = fmt::format("{} cell {}:{}", file, cell, line),
                        .hints = std::move(hints)});
  }
  throw_if_errors(problems, ErrorKind::project);
  if (request.dockerfile) {
    return source::with_file(std::move(tree), script, std::move(translated.program));
  }
  request.script = script;
  request.notebook = Notebook{.file = file, .lines = std::move(translated.lines)};
  return source::with_file(std::move(tree), script, std::move(translated.program));
}

}  // namespace autopack::project
