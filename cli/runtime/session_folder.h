// The folder of one local run, readable by its user alone: all files of MPI lie below it, shared
// memory and session directories alike. The launcher removes it when the run ends. A helper process
// removes it when the launcher is killed, and the next run when the helper was killed as well.
//
// The launcher and mpirun hold a lock on the folder while they live, so whoever gets the lock may
// remove it.
#pragma once

#include <string>

namespace rankwright::cli {

class SessionFolder {
 public:
  /// Removes the folders of this user's runs that have ended, and makes a new one: in /dev/shm, or
  /// where temporary files go. path() is empty where that fails, and errno says why.
  SessionFolder();
  /// Removes the folder.
  ~SessionFolder();
  SessionFolder(const SessionFolder&) = delete;
  SessionFolder& operator=(const SessionFolder&) = delete;

  const std::string& path() const { return path_; }

  /// Starts the helper that removes the folder when nobody holds the lock anymore. It is a child of
  /// this process, in a session of its own.
  void start_helper() const;

  /// For a child: the program that it becomes holds the lock, too.
  void hold_across_exec() const;

 private:
  std::string path_{};
  int lock_ = -1;
};

}  // namespace rankwright::cli
