// Prints the files of a directory that go into an image, one per line, each ended by a zero byte.
//
//     selected_paths DIRECTORY

#include "source/selection.hpp"
#include "source/walk.hpp"

#include <iostream>

using namespace autopack;

int main(int count, char** arguments) {
  if (count != 2) {
    std::cerr << "usage: selected_paths DIRECTORY\n";
    return 2;
  }
  const auto tree = source::make_disk_tree(arguments[1]);
  const source::Selection selection{
      *tree, {}, source::find_git_work_tree(arguments[1], Environment::of_process())};
  source::SelectionWalk selected{selection};
  source::walk(
      *tree, "",
      [&](const source::Entry& directory) {
        return !selected.excludes(directory) || selection.may_hold_exceptions(directory.path);
      },
      [&](std::string_view directory, const std::vector<source::Entry>& entries) {
        return !selected.enter(directory, entries);
      },
      [&](const source::Entry& entry) {
        const bool goes_in = !selected.excludes(entry);
        // A single query must give the same result.
        if (goes_in == selection.excludes(entry.path).has_value()) {
          std::cerr << "two answers for " << entry.path << "\n";
          std::exit(1);
        }
        if (entry.type != source::EntryType::directory && goes_in) {
          std::cout << entry.path << '\0';
        }
      });
}
