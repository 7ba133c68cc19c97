// Prints the files of a directory that its .dockerignore includes, one per line.
//
//     kept_paths DIRECTORY

#include "source/ignore.hpp"
#include "source/tree.hpp"

#include <iostream>

using namespace autopack::source;

int main(int count, char** arguments) {
  if (count != 2) {
    std::cerr << "usage: kept_paths DIRECTORY\n";
    return 2;
  }
  const auto tree = make_disk_tree(arguments[1]);
  IgnoreRules rules;
  rules.add(tree->read(".dockerignore"), ".dockerignore");
  walk(
      *tree, "",
      [&](const Entry& directory) {
        return !rules.excludes(directory.path) || rules.may_hold_exceptions(directory.path);
      },
      [&](const Entry& entry) {
        const bool directory = entry.type == EntryType::directory;
        if (!directory && !rules.excludes(entry.path)) {
          std::cout << entry.path << "\n";
        }
      });
}
