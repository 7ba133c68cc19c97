#include "http/offline_client.hpp"

#include "base/url.hpp"

#include <utility>

namespace autopack::http {

namespace {

class OfflineClient : public Client {
public:
  explicit OfflineClient(std::shared_ptr<Client> local) : local_{std::move(local)} {}

  Response send(const Request& request) override {
    require_local(request);
    return local_->send(request);
  }

  std::unique_ptr<Stream> upgrade(const Request& request) override {
    require_local(request);
    return local_->upgrade(request);
  }

private:
  static void require_local(const Request& request) {
    if (request.unix_socket.empty()) {
      TransportError error(TransportError::Reason::protocol, "could not " + request.what);
      error.cause("`--offline` sends no request: " + redact_credentials(request.url));
      throw TransportError{error};
    }
  }

  std::shared_ptr<Client> local_;
};

}  // namespace

std::shared_ptr<Client> make_offline_client(std::shared_ptr<Client> local) {
  return std::make_shared<OfflineClient>(std::move(local));
}

}  // namespace autopack::http
