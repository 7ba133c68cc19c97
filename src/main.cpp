#include "cli/application.hpp"
#include "cli/signals.hpp"

#include <string>
#include <vector>

int main(int count, char** values) {
  using namespace autopack;
  Cancellation cancellation;
  const cli::SignalGuard guard{cancellation};
  return cli::run_application({values + 1, values + count},
                              {.environment = Environment::of_process(),
                               .streams = cli::Streams::of_process(),
                               .cancellation = &cancellation,
                               .make_client = http::make_client,
                               .make_docker = engine::make_docker});
}
