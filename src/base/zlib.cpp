#include "base/zlib.hpp"

#include "base/library.hpp"

namespace autopack {

const Zlib& zlib() {
  static const Zlib functions = [] {
    const Library library{"libz.so.1", "install zlib: `apt-get install zlib1g`"};
    Zlib found;
    library.find("inflateInit2_", found.init);
    library.find("inflate", found.inflate);
    library.find("inflateEnd", found.end);
    return found;
  }();
  return functions;
}

}  // namespace autopack
