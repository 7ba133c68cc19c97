#include "packaging/image_name.hpp"

namespace autopack::packaging {

namespace {

constexpr std::size_t digits_of_tags{16};

}  // namespace

std::string key_tag(const std::string& image_key) {
  return "ap-" + image_key.substr(0, digits_of_tags);
}

std::string dependency_tag(const std::string& dependency_key) {
  return "apd-" + dependency_key.substr(0, digits_of_tags);
}

}  // namespace autopack::packaging
