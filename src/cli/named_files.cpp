#include "cli/named_files.hpp"

#include "base/file.hpp"
#include "base/text.hpp"
#include "source/git.hpp"

#include <fmt/format.h>

namespace autopack::cli {

namespace {

Problem only_on_disk(const std::string& file, const std::string& source) {
  return Problem::warning(
      {.message = fmt::format("`{}` is read from the disk: it is not in `--source={}`",
                              printable(file), printable(source)),
       .hints = {fmt::format("git add {}", shell_quote(file))}});
}

}  // namespace

void require_directory_of(const std::string& flag, const std::string& file) {
  const auto directory = std::filesystem::path{file}.parent_path();
  std::error_code failure;
  if (!directory.empty() && !std::filesystem::is_directory(directory, failure)) {
    throw Error(ErrorKind::usage, fmt::format("`{}` names `{}`, and there is no directory `{}`",
                                              flag, printable(file), printable(directory.string())))
        .hint("mkdir -p " + shell_quote(directory.string()));
  }
}

std::string read_named_file(const std::string& flag, const std::string& file) {
  if (auto text = read_file_if_exists(file, FileSort::any)) {
    return *text;
  }
  throw Error(ErrorKind::usage,
              fmt::format("`{}` names `{}`, which does not exist", flag, printable(file)));
}

NamedFile read_named_file(const std::string& flag,
                          const std::string& file,
                          const std::string& source,
                          const Environment& environment,
                          Problems& warnings) {
  const auto of_git = source == source::worktree_source
                          ? source::GitFile{}
                          : source::find_git_file(file, source, environment);
  if (of_git.text) {
    const std::string revision = source == source::index_source ? "" : source;
    return {.name = fmt::format("{}:{}", source, file),
            .text = *of_git.text,
            .printed_by = "git show " + shell_quote(fmt::format("{}:{}", revision, of_git.path))};
  }
  auto text = read_named_file(flag, file);
  if (of_git.inside) {
    warnings.push_back(only_on_disk(file, source));
  }
  return {.name = file, .text = std::move(text)};
}

void warn_if_other(const NamedFile& file,
                   const std::string& source,
                   const Environment& environment,
                   Problems& warnings) {
  if (source == source::worktree_source) {
    return;
  }
  const auto of_git = source::find_git_file(file.name, source, environment);
  if (of_git.inside && !of_git.text) {
    warnings.push_back(only_on_disk(file.name, source));
  } else if (of_git.text && *of_git.text != file.text) {
    const std::string revision =
        source == source::index_source ? std::string{} : shell_quote(source) + " ";
    warnings.push_back(Problem::warning(
        {.message =
             fmt::format("`{}` is read from the disk: it differs from the one in `--source={}`",
                         printable(file.name), printable(source)),
         .hints = {fmt::format("git diff {}-- {}", revision, shell_quote(file.name))}}));
  }
}

}  // namespace autopack::cli
