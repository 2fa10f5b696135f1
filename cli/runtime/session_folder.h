// The folder of one local run, readable only by its user. It contains all files of MPI: shared
// memory and session directories. The launcher removes it when the run ends; a helper process does
// if the launcher is killed, and the next run does if the helper was killed as well.
//
// The launcher and mpirun hold a lock on the folder while they live, so any process that gets the
// lock may remove it.
#pragma once

#include <string>

namespace rankwright::cli {

/// The folder and its lock.
class SessionFolder {
 public:
  /// Removes the folders of this user's ended runs, and creates a new one in /dev/shm or the folder
  /// of temporary files. On failure path() is empty and errno is set.
  SessionFolder();
  /// Removes the folder.
  ~SessionFolder();
  SessionFolder(const SessionFolder&) = delete;
  SessionFolder& operator=(const SessionFolder&) = delete;

  const std::string& path() const { return path_; }

  /// Starts the helper that removes the folder once the lock is free. It is a child of this
  /// process, in its own session.
  void start_helper() const;

  /// For a child process: keeps the lock across exec.
  void hold_across_exec() const;

 private:
  std::string path_{};
  int lock_ = -1;
};

}  // namespace rankwright::cli
