#pragma once

#include "job/message.hpp"

#include <string>
#include <tuple>
#include <vector>

/// A worker pool with the API's names. Each message lists its fields once, with their names in
/// JSON.
namespace autopack::job {

struct ReservationAffinity {
  Text type{};
  Text key{};
  std::vector<std::string> values{};
  Bag others{};

  static constexpr auto fields() {
    return std::tuple{field("reservationAffinityType", &ReservationAffinity::type),
                      field("key", &ReservationAffinity::key),
                      field("values", &ReservationAffinity::values)};
  }

  friend bool operator==(const ReservationAffinity&, const ReservationAffinity&) = default;
};

struct Machine {
  Text type{};
  Text accelerator{};
  Number accelerators{};
  Text gpu_partition_size{};
  Text tpu_topology{};
  std::optional<ReservationAffinity> reservation{};
  Bag others{};

  static constexpr auto fields() {
    return std::tuple{field("machineType", &Machine::type),
                      field("acceleratorType", &Machine::accelerator),
                      field("acceleratorCount", &Machine::accelerators),
                      field("gpuPartitionSize", &Machine::gpu_partition_size),
                      field("tpuTopology", &Machine::tpu_topology),
                      field("reservationAffinity", &Machine::reservation)};
  }

  friend bool operator==(const Machine&, const Machine&) = default;
};

struct Disk {
  Text type{};
  Number size{};  ///< GB
  Bag others{};

  static constexpr auto fields() {
    return std::tuple{field("bootDiskType", &Disk::type), field("bootDiskSizeGb", &Disk::size)};
  }

  friend bool operator==(const Disk&, const Disk&) = default;
};

/// An environment variable.
struct Variable {
  Text name{};
  Text value{};
  Bag others{};

  static constexpr auto fields() {
    return std::tuple{field("name", &Variable::name), field("value", &Variable::value)};
  }

  friend bool operator==(const Variable&, const Variable&) = default;
};

struct Container {
  Text image{};
  std::vector<std::string> command{};
  std::vector<std::string> args{};
  std::vector<Variable> env{};
  Bag others{};

  static constexpr auto fields() {
    return std::tuple{field("imageUri", &Container::image), field("command", &Container::command),
                      field("args", &Container::args), field("env", &Container::env)};
  }

  friend bool operator==(const Container&, const Container&) = default;
};

/// Python packages in Cloud Storage, run in an executor image.
struct PythonPackage {
  Text executor_image{};
  std::vector<std::string> uris{};
  Text module{};
  std::vector<std::string> args{};
  std::vector<Variable> env{};
  Bag others{};

  static constexpr auto fields() {
    return std::tuple{field("executorImageUri", &PythonPackage::executor_image),
                      field("packageUris", &PythonPackage::uris),
                      field("pythonModule", &PythonPackage::module),
                      field("args", &PythonPackage::args), field("env", &PythonPackage::env)};
  }

  friend bool operator==(const PythonPackage&, const PythonPackage&) = default;
};

struct NfsMount {
  Text server{};
  Text path{};
  Text mount_point{};
  Bag others{};

  static constexpr auto fields() {
    return std::tuple{field("server", &NfsMount::server), field("path", &NfsMount::path),
                      field("mountPoint", &NfsMount::mount_point)};
  }

  friend bool operator==(const NfsMount&, const NfsMount&) = default;
};

struct LustreMount {
  Text instance_ip{};
  Text volume{};
  Text filesystem{};
  Text mount_point{};
  Bag others{};

  static constexpr auto fields() {
    return std::tuple{field("instanceIp", &LustreMount::instance_ip),
                      field("volumeHandle", &LustreMount::volume),
                      field("filesystem", &LustreMount::filesystem),
                      field("mountPoint", &LustreMount::mount_point)};
  }

  friend bool operator==(const LustreMount&, const LustreMount&) = default;
};

/// Replicas of one kind. The first pool contains the primary, the next ones workers, parameter
/// servers and evaluators; an empty pool is a placeholder.
struct Pool {
  std::optional<Machine> machine{};
  Number replicas{};
  std::optional<Disk> disk{};
  std::optional<Container> container{};
  std::optional<PythonPackage> package{};
  std::vector<NfsMount> nfs_mounts{};
  std::vector<LustreMount> lustre_mounts{};
  Bag others{};
  bool is_packaged{false};  ///< its image is not made yet, so `container` does not name one

  static constexpr auto fields() {
    return std::tuple{field("machineSpec", &Pool::machine),
                      field("replicaCount", &Pool::replicas, NumberForm::text),
                      field("diskSpec", &Pool::disk),
                      field("containerSpec", &Pool::container),
                      field("pythonPackageSpec", &Pool::package),
                      field("nfsMounts", &Pool::nfs_mounts),
                      field("lustreMounts", &Pool::lustre_mounts)};
  }

  bool is_empty() const { return *this == Pool{}; }

  friend bool operator==(const Pool&, const Pool&) = default;
};

}  // namespace autopack::job
