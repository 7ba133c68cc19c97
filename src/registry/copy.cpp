#include "base/byte_pipe.hpp"
#include "registry/client.hpp"

namespace autopack::registry {

BlobSource blob_source(Repository& from, const image::Descriptor& blob) {
  return [&from, blob]() -> Reader {
    return pulled([&from, blob](const Take& take) { from.fetch_blob(blob, take); });
  };
}

}  // namespace autopack::registry
