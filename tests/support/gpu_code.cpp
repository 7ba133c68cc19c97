// Prints the GPU code of each file that is named, as JSON, one line each; `none` for a file that is
// not an ELF file.

#include "base/file.hpp"
#include "gpu/code_reader.hpp"

#include <fmt/format.h>

#include <iostream>

using namespace autopack;

int main(int count, char** arguments) {
  for (int i = 1; i < count; ++i) {
    gpu::CodeReader reader;
    std::uint64_t size = 0;
    read_in_pieces(arguments[i], [&](std::string_view bytes) {
      reader.take(bytes);
      size += bytes.size();
    });
    auto code = reader.finish();
    std::cout << (code ? gpu::to_json({{.path = arguments[i], .size = size, .code = *code}})
                       : "none")
              << "\n";
  }
}
