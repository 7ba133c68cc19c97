#include "executor/layers.hpp"

#include "executor/gpu_code.hpp"
#include "executor/python_excerpts.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace autopack::executor {

image::LayerTree read_layers(Services& services, image::Source source) {
  std::uint64_t total = 0;
  for (const auto& layer : source.manifest.layers) {
    total += layer.size;
  }
  source.open = [&services, open = std::move(source.open), total, name = source.name,
                 read = std::make_shared<std::uint64_t>(0)](const image::Descriptor& layer) {
    return [&services, total, name, read, reader = open(layer)](char* buffer, std::size_t size) {
      services.cancellation->throw_if_requested();
      const std::size_t count = reader(buffer, size);
      *read += count;
      services.reporter->step({.id = name,
                               .name = "look into " + name,
                               .state = StepEvent::State::progress,
                               .current = std::min(*read, total),
                               .total = total});
      return count;
    };
  };
  auto tree = image::read_layers(source, excerpt_for_python, excerpts_of_gpu_code());
  services.reporter->step({.id = source.name,
                           .name = "look into " + source.name,
                           .state = StepEvent::State::completed});
  return tree;
}

}  // namespace autopack::executor
