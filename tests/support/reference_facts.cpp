// Reads names of images, one a line, and says of each what it stands for: registry, path, tag and
// digest, then how the name is written for people; `none` when it is no name.

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
