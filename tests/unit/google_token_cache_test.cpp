#include "google/token_cache.hpp"
#include "support/credentials_fixture.hpp"

#include <sys/stat.h>

#include <filesystem>
#include <thread>

namespace autopack::google_token_cache_test {

using namespace autopack::testing;
using Fixture = CredentialsFixture;

namespace fs = std::filesystem;

namespace {

http::Response token(const std::string& text, int lifetime = 3600) {
  return answer(200, nlohmann::json{{"access_token", text}, {"expires_in", lifetime}}.dump());
}

mode_t mode_of(const fs::path& path) {
  struct stat facts = {};

  REQUIRE(::lstat(path.c_str(), &facts) == 0);
  return facts.st_mode & 07777U;
}

struct Kept {
  TemporaryDirectory home{};
  fs::path directory{home.path() / "cache" / "tokens"};
  google::TokenCache cache{directory};

  fs::path file() const { return fs::directory_iterator(directory)->path(); }
};

const google::AccessToken a_token{.token = Secret{"ya29.a"}, .expires_at = 1'003'600};

}  // namespace

TEST_CASE("a token outlives the run in a file that only the user can read") {
  Fixture first{{token("t1"), token("t2")}};
  first.token_directory = first.directory.path() / "cache" / "tokens";
  static_cast<void>(first.find_file(authorized_user())->token());
  CHECK(mode_of(*first.token_directory) == 0700);
  const auto file = fs::directory_iterator(*first.token_directory)->path();
  CHECK(mode_of(file) == 0600);
  // the next run does not use the network
  const auto second = first.find();
  CHECK(second->token().token.reveal() == "t1");
  CHECK(first.client.requests.size() == 1);
  // a refused token is also removed from the file
  second->expire();
  CHECK_FALSE(fs::exists(file));
  CHECK(second->token().token.reveal() == "t2");
  CHECK(first.find()->token().token.reveal() == "t2");
  first.now += 3600 - 224;
  CHECK_THROWS_AS(first.find()->token(), std::runtime_error);  // a third response is requested
}

TEST_CASE("other credentials have another token") {
  Fixture fixture{{token("t1"), token("t2"), token("t3")}};
  fixture.token_directory = fixture.directory.path() / "tokens";
  static_cast<void>(fixture.find_file(authorized_user())->token());
  const auto other = with(authorized_user(), "refresh_token", "another");
  CHECK(fixture.find_file(other)->token().token.reveal() == "t2");
  fixture.variables["CLOUDSDK_AUTH_TOKEN_HOST"] = "http://127.0.0.1:1/token";
  CHECK(fixture.find_file(other)->token().token.reveal() == "t3");
}

TEST_CASE("files that others could have written are not believed, and are replaced") {
  Kept kept;
  kept.cache.write("who", a_token);
  const auto file = kept.file();
  REQUIRE(kept.cache.read("who"));
  CHECK(kept.cache.read("who")->token.reveal() == "ya29.a");
  CHECK_FALSE(kept.cache.read("somebody else"));

  fs::permissions(file, fs::perms::group_read, fs::perm_options::add);
  CHECK_FALSE(kept.cache.read("who"));
  kept.cache.write("who", a_token);
  CHECK(mode_of(file) == 0600);
  CHECK(kept.cache.read("who"));

  const auto elsewhere = kept.home.path() / "elsewhere";
  write_file(elsewhere, read_file(file), FileMode::secret);
  fs::remove(file);
  fs::create_symlink(elsewhere, file);
  CHECK_FALSE(kept.cache.read("who"));
  const auto before = read_file(elsewhere);
  kept.cache.write("who", {.token = Secret{"ya29.b"}, .expires_at = 5});
  CHECK(read_file(elsewhere) == before);
  CHECK_FALSE(fs::is_symlink(file));

  write_file(file, "{\"access_token\": 5}", FileMode::secret);
  CHECK_FALSE(kept.cache.read("who"));
  kept.cache.erase("who");
  CHECK_FALSE(fs::exists(file));
}

TEST_CASE("no token is written where it could not be kept from others") {
  Kept open;
  fs::create_directories(open.directory);
  fs::permissions(open.directory, fs::perms{0755});
  open.cache.write("who", a_token);
  CHECK(fs::is_empty(open.directory));

  Kept linked;
  const auto target = linked.home.path() / "target";
  fs::create_directories(target);
  fs::permissions(target, fs::perms{0700});
  fs::create_directories(linked.directory.parent_path());
  fs::create_directory_symlink(target, linked.directory);
  linked.cache.write("who", a_token);
  CHECK(fs::is_empty(target));

  Kept blocked;
  write_file(blocked.home.path() / "cache", "a file");
  blocked.cache.write("who", a_token);
  CHECK_FALSE(blocked.cache.read("who"));

  Kept endless;
  endless.cache.write("who", {.token = Secret{"ya29.a"}});
  CHECK_FALSE(fs::exists(endless.directory));
}

TEST_CASE("several threads share one refresh") {
  Fixture fixture{{token("t1", 300), token("t2")}};
  const auto source = fixture.find_file(authorized_user());
  static_cast<void>(source->token());
  fixture.now += 100;
  std::vector<std::string> seen(8);
  std::vector<std::thread> threads;
  for (auto& text : seen) {
    threads.emplace_back([&] { text = source->token().token.reveal(); });
  }
  for (auto& thread : threads) {
    thread.join();
  }
  CHECK(seen == std::vector<std::string>(8, "t2"));
  CHECK(fixture.client.requests.size() == 2);
}

}  // namespace autopack::google_token_cache_test
