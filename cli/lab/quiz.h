// `rankwright lab --quiz`: flash cards and pick-the-scheme cases, asked on the terminal or answered
// from a file.
#pragma once

#include "cli/verb.h"

namespace rankwright::cli {

/// Runs the command. `args` are all arguments of `lab`, --quiz included.
int lab_quiz(Args args, const Io& io);

}  // namespace rankwright::cli
