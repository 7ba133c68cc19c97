// Reads names of images, one a line, and prints the parts of each: registry, path, tag and digest,
// then the name as written for people; `none` if it is not a name.

#include "image/reference.hpp"

#include <fmt/format.h>

#include <iostream>
#include <string>

int main() {
  using autopack::image::Reference;
  for (std::string line; std::getline(std::cin, line);) {
    if (Reference::fault(line)) {
      std::cout << "none\n";
      continue;
    }
    const auto reference = Reference::parse(line);
    std::cout << fmt::format("{}\t{}\t{}\t{}\t{}\n", reference.host, reference.path,
                             reference.tag.value_or(""),
                             reference.digest ? reference.digest->str() : "", reference.tagged());
  }
}
